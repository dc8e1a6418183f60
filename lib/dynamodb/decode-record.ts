import type * as z from "zod";
import { describeProblems, problemsOf } from "../schema-problems.ts";

type Item = Readonly<Record<string, unknown>>;

/** A stored record lacks what its kind always has, or has it with another type. The message holds its key, no value. */
export class MalformedRecordError extends Error {
  override name = "MalformedRecordError";

  constructor(kind: string, item: Item, problems: string) {
    super(`${kind} ${String(item["pk"])} ${String(item["sk"])}: ${problems}`);
  }
}

/**
 * The one way in which a kind of record is read: checked by a schema where it comes from the table. Attributes that the
 * schema does not know stay in the table as they are, since writes name what they change. An attribute becomes required
 * one release after all writers set it: until then an older function may run beside a newer one.
 * @param kind what the record is, for the log
 * @returns a function that throws MalformedRecordError
 */
export const decoderOf =
  <S extends z.ZodType>(kind: string, schema: S) =>
  (item: Item): z.output<S> => {
    const parsed = schema.safeParse(item);
    if (parsed.success) return parsed.data;
    throw new MalformedRecordError(kind, item, describeProblems(problemsOf(parsed.error), "record"));
  };
