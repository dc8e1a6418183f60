import type * as z from "zod";
import { InvalidInputError } from "../errors.ts";
import type { Problem } from "../problem.ts";
import { problemsOf } from "../schema-problems.ts";

/** The problems that a schema found, or the value if it found none. */
export interface Validated<T> {
  readonly value: T | undefined;
  readonly problems: readonly Problem[];
}

/** Validates a value by a schema. */
export const validate = <S extends z.ZodType>(schema: S, value: unknown): Validated<z.output<S>> => {
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { value: parsed.data, problems: [] }
    : { value: undefined, problems: problemsOf(parsed.error) };
};

/** Throws if there are problems. @throws InvalidInputError */
export const refuseProblems = (problems: readonly Problem[]): void => {
  if (problems.length > 0) throw new InvalidInputError(problems);
};
