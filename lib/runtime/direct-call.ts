import type * as z from "zod";
import { InvalidInputError } from "../errors.ts";
import { describeProblems } from "../problem.ts";
import { problemsOf } from "../schema-problems.ts";

/**
 * Parses the payload of a function that other systems invoke directly.
 * @throws InvalidInputError naming every path that is not valid
 */
export const parsePayload = <S extends z.ZodType>(schema: S, payload: unknown): z.output<S> => {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error);
  throw new InvalidInputError(problems, describeProblems(problems, "payload"));
};
