import type * as z from "zod";
import { describeProblems } from "../errors.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { problemsOf } from "../schema.ts";

type Item = Readonly<Record<string, unknown>>;

/** A stored record lacks a required attribute, or one has the wrong type. The message holds the key and no values. */
export class MalformedRecordError extends Error {
  override name = "MalformedRecordError";

  constructor(kind: string, item: Item, problems: string) {
    super(`${kind} ${String(item["pk"])} ${String(item["sk"])}: ${problems}`);
  }
}

/**
 * Makes the function that checks stored records of one kind. Attributes that the schema does not know stay in the
 * table, since writes name the attributes that they change. An attribute may become required one release after all
 * writers set it: until then an older function may run beside a newer one.
 * @param kind kind of the record, for error messages
 * @returns a function that throws MalformedRecordError
 */
export function decoderOf<S extends z.ZodType>(kind: string, schema: S) {
  return (item: Item): z.output<S> => {
    const parsed = schema.safeParse(item);
    if (parsed.success) return parsed.data;
    throw new MalformedRecordError(kind, item, describeProblems(problemsOf(parsed.error), "record"));
  };
}

/**
 * What a list does with the error of reading one of its records: a damaged record is logged and left out, so that the
 * others can still be read. @throws any other error
 */
export function leaveOutDamaged({ log }: Pick<RuntimeWith<never>, "log">) {
  return (error: unknown): undefined => {
    if (!(error instanceof MalformedRecordError)) throw error;
    log.error("a damaged record is left out of a list", { record: error.message });
  };
}
