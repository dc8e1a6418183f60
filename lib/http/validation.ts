import type * as z from "zod";
import { InvalidInputError } from "../errors.ts";
import { type Problem, describeProblems, problemsOf } from "../schema-problems.ts";

/** The problems that a schema finds, and its value where it finds none. */
export interface Validated<T> {
  readonly value: T | undefined;
  readonly problems: readonly Problem[];
}

/** @param whole what to call the value itself in a message, for example `body` */
export const validate = <S extends z.ZodType>(schema: S, value: unknown, whole: string): Validated<z.output<S>> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data, problems: [] };
  const problems = problemsOf(parsed.error);
  return {
    value: undefined,
    problems: problems.map((problem) => (problem.path.length > 0 ? problem : { ...problem, path: [whole] })),
  };
};

/** @throws InvalidInputError naming the first hundred problems and how many more there are */
export const refuseProblems = (problems: readonly Problem[]): void => {
  if (problems.length > 0) throw new InvalidInputError(describeProblems(problems, ""));
};
