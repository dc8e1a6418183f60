import type * as z from "zod";
import { describeProblems } from "../errors.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { problemsOf } from "../schema.ts";

type Item = Readonly<Record<string, unknown>>;

/** A stored record lacks a required attribute, or one has the wrong type. The message contains its key, but no values. */
export class MalformedRecordError extends Error {
  override name = "MalformedRecordError";
  readonly kind: string;

  constructor(kind: string, item: Item, problems: string) {
    super(`${kind} ${String(item["pk"])} ${String(item["sk"])}: ${problems}`);
    this.kind = kind;
  }
}

/**
 * Makes the function that checks stored records of one kind. Attributes that the schema doesn't know stay in the table,
 * since writes name the attributes that they change. An attribute may become required one release after all writers set
 * it: until then an older function may run beside a newer one.
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

/** Reads each attribute of a record by itself. */
export function readablePart<S extends z.ZodObject>(schema: S, item: Item) {
  const readable: Record<string, unknown> = {};
  const damaged: string[] = [];
  for (const [name, attribute] of Object.entries<z.ZodType>(schema.shape)) {
    const parsed = attribute.safeParse(item[name]);
    if (!parsed.success) damaged.push(name);
    else if (parsed.data !== undefined) readable[name] = parsed.data;
  }
  return {
    /** The attributes that can be read. */
    readable: readable as Partial<z.output<S>>,
    /** The names of those that can't, or that are missing. */
    damaged: damaged as (keyof z.output<S> & string)[],
  };
}

/** Gets each damaged record of a traversal or list, which continues unless this throws. */
export type OnDamaged = (damaged: MalformedRecordError) => void;

/** Ends a traversal at its first damaged record. The default of callers. */
export const stopAtDamaged: OnDamaged = (damaged) => {
  throw damaged;
};

/** Makes the function that handles the error of reading one record. @throws all errors but MalformedRecordError */
export function passDamaged(onDamaged: OnDamaged) {
  return (error: unknown): undefined => {
    if (!(error instanceof MalformedRecordError)) throw error;
    onDamaged(error);
  };
}

/** Reads one record. @returns undefined if it is damaged */
export function unlessDamaged<T>(read: () => T, onDamaged: OnDamaged): T | undefined {
  try {
    return read();
  } catch (error) {
    return passDamaged(onDamaged)(error);
  }
}

/** Logs damaged records, which lists leave out so that the others can still be read. */
export function logDamaged({ log }: Pick<RuntimeWith<never>, "log">): OnDamaged {
  return ({ message }) => log.error("a damaged record is left out of a list", { record: message });
}
