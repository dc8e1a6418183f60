import type * as z from "zod";
import { toDotPath } from "zod/v4/core";
import { InvalidInputError } from "./errors.ts";

/**
 * Parses the payload of a function that other systems invoke directly.
 * @throws InvalidInputError naming every offending path
 */
export const parsePayload = <T extends z.ZodType>(schema: T, payload: unknown): z.output<T> => {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data;
  throw new InvalidInputError(
    parsed.error.issues.map(({ path, message }) => [toDotPath(path), message].filter(Boolean).join(": ")).join("; "),
  );
};
