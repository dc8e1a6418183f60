import type * as z from "zod";
import { InvalidInputError } from "../errors.ts";
import { type Problem, describeProblems, problemsOf } from "../schema-problems.ts";

/** The problems that a schema found, or the value if it found none. */
export interface Validated<T> {
  readonly value: T | undefined;
  readonly problems: readonly Problem[];
}

/** Validates a value by a schema. @param whole name of the value itself in messages, for example `body` */
export const validate = <S extends z.ZodType>(schema: S, value: unknown, whole: string): Validated<z.output<S>> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data, problems: [] };
  const problems = problemsOf(parsed.error);
  return {
    value: undefined,
    problems: problems.map((problem) => (problem.path.length > 0 ? problem : { ...problem, path: [whole] })),
  };
};

/** Throws if there are problems. @throws InvalidInputError naming the first hundred, and how many more there are */
export const refuseProblems = (problems: readonly Problem[]): void => {
  if (problems.length > 0) throw new InvalidInputError(describeProblems(problems, ""));
};
