import type * as z from "zod";
import { InvalidInputError, type Problem } from "../errors.ts";
import { problemsOf } from "../schema.ts";

/** Validates a value by a schema. @returns the problems that it found, or the value if it found none */
export function validate<S extends z.ZodType>(schema: S, value: unknown) {
  const { data, error } = schema.safeParse(value);
  return { value: data, problems: error === undefined ? [] : problemsOf(error) };
}

/** Throws if there are problems. @throws InvalidInputError */
export function refuseProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new InvalidInputError(problems);
}
