import * as z from "zod";
import { boundedArray } from "../schema.ts";
import type { Kind } from "./field-kinds.ts";

type AnyKind = Kind<unknown, unknown, unknown, unknown>;

/**
 * A field of a work item or an event that callers set. The types, the schemas of requests and responses, the stored
 * attributes, the merge, the columns of CSV files with their template, the list's filters, the names on the import page
 * and the API's document are derived from it and its kind.
 */
export interface Field {
  readonly kind: AnyKind;
  /** Its name on the import page. */
  readonly label: string;
  /** Of a field of items: a capital letter that stands for it in the marks of dry runs. Never changes. */
  readonly letter?: string;
  /** What the API's document says about the field. */
  readonly description: string;
  /** What the document says in addition about sending the field. @default the kind's */
  readonly note?: string;
  /** Value in a new record. @default the kind's: null, which also clears the field, for all kinds but attributes */
  readonly initial?: unknown;
  /** The person that has the field in responses: `agent_email` is the `email` of `agent`. @default none: it is shown itself */
  readonly person?: string;
  /** What the document says about the list's query parameter for the field. @default the list has no such filter */
  readonly filter?: string;
  /** Whether the filter may be given several times, and matches records with one of the values. @default false */
  readonly filterRepeats?: true;
  /** A cell of the template for CSV files. @default the kind's */
  readonly sample?: string;
}
type Rows = Readonly<Record<string, Field>>;

/** Checks that the initial values in a table of fields fit their kinds. */
export function fields<const R extends Rows>(
  rows: R & { readonly [N in keyof R]: { readonly initial?: KindStored<R[N]> } },
): R {
  return rows;
}

type KindGiven<R extends Field> = R["kind"] extends Kind<infer G, infer _S, infer _W, infer _I> ? G : never;
type KindStored<R extends Field> = R["kind"] extends Kind<infer _G, infer S, infer _W, infer _I> ? S : never;
type KindShown<R extends Field> = R["kind"] extends Kind<infer _G, infer _S, infer W, infer _I> ? W : never;
/** Null if null clears the field; otherwise never. */
type Nothing<R extends Field> = R extends { readonly initial: unknown } ? never : Extract<R["kind"]["initial"], null>;
type Given<R extends Field> = KindGiven<R> | Nothing<R>;
type Stored<R extends Field> = KindStored<R> | Nothing<R>;
type Shown<R extends Field> = KindShown<R> | Nothing<R>;

/** Names of the fields that responses have, except those of persons. */
type ShownNames<F extends Rows> = { [N in keyof F]: F[N] extends { readonly person: string } ? never : N }[keyof F];
type FilterNames<F extends Rows> = { [N in keyof F]: F[N] extends { readonly filter: string } ? N : never }[keyof F];

type FilterValue<R extends Field> = R extends { readonly filterRepeats: true } ? readonly KindGiven<R>[] : KindGiven<R>;

/** Values of the fields that a caller sends. */
export type GivenFields<F extends Rows> = { readonly [N in keyof F]?: Given<F[N]> | undefined };
/** Stored values of all fields. */
export type StoredFields<F extends Rows> = { readonly [N in keyof F]: Stored<F[N]> };
/** Values of the fields in responses. */
export type ShownFields<F extends Rows> = { readonly [N in ShownNames<F>]: Shown<F[N]> };

function initialOf({ kind, initial = kind.initial }: Field): unknown {
  return initial;
}
/** Whether null clears the field. */
export function isNullable(row: Field): boolean {
  return initialOf(row) === null;
}

/** Makes the schema of the values that a caller may send. */
export function inputOf(row: Field): z.ZodType {
  const { kind, description, note = kind.note } = row;
  const schema = kind.input();
  const sentences = [description, note, isNullable(row) ? "Null clears it." : undefined];
  return (isNullable(row) ? schema.nullable() : schema).meta({
    description: sentences.filter((sentence) => sentence !== undefined).join(" "),
  });
}

function mapRows(rows: Rows, map: (row: Field, name: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, map(row, name)]));
}

/** Shape of the schema for input. Every field is optional and keeps its value if it is left out. */
export function inputShape<F extends Rows>(rows: F) {
  return mapRows(rows, (row) => inputOf(row).optional()) as {
    readonly [N in keyof F]: z.ZodOptional<z.ZodType<Given<F[N]>>>;
  };
}

/** Shape of the schema for records. Records that are older than a field have its initial value. */
export function storedShape<F extends Rows>(rows: F) {
  return mapRows(rows, (row) => {
    const { stored } = row.kind;
    return (isNullable(row) ? stored.nullable() : stored).default(initialOf(row));
  }) as { readonly [N in keyof F]: z.ZodDefault<z.ZodType<Stored<F[N]>>> };
}

function shownOf(rows: Rows): Rows {
  return Object.fromEntries(Object.entries(rows).filter(([, { person }]) => person === undefined));
}

/** Shape of the schema for responses. */
export function responseShape<F extends Rows>(rows: F) {
  return mapRows(shownOf(rows), (row) => {
    const { kind, description } = row;
    return (isNullable(row) ? kind.response.nullable() : kind.response).meta({ description });
  }) as { readonly [N in ShownNames<F>]: z.ZodType<Shown<F[N]>> };
}

/** Shape of the schema for responses that leave out fields without a value. */
export function presentShape<F extends Rows>(rows: F) {
  return mapRows(shownOf(rows), ({ kind, description }) => kind.response.meta({ description }).optional()) as {
    readonly [N in ShownNames<F>]: z.ZodOptional<z.ZodType<KindShown<F[N]>>>;
  };
}

type KeyOf<N, P extends string> = N extends `${P}_${infer K}` ? K : never;
/** Names of a person's fields, by their names in responses. */
type PersonFields<F extends Rows, P extends string> = {
  readonly [N in keyof F as F[N] extends { readonly person: P } ? KeyOf<N, P> : never]: N;
};

/** Names of a person's fields, by their names in responses: `agent_email` by `email`. */
export function personFields<F extends Rows, P extends string>(rows: F, person: P): PersonFields<F, P> {
  const names = Object.keys(rows).filter((name) => rows[name]?.person === person);
  return Object.fromEntries(names.map((name) => [name.slice(person.length + 1), name])) as PersonFields<F, P>;
}

/** A filter of a list: a query parameter, and the records that match its value. */
export interface Filter<T, Q extends z.ZodType> {
  /** Makes the schema of the parameter. */
  readonly parameter: () => Q;
  // A method, so that filters with values of several types fit into one table.
  matches(this: void, stored: T, value: z.output<Q>): boolean;
  /** Whether it compares without case. Its values are in lower case. @default false */
  readonly ignoresCase?: boolean | undefined;
  /** Whether its value is a list of values. @default false */
  readonly repeats?: boolean | undefined;
}

/** The most values of a repeated parameter. DynamoDB compares at most 100 in one `IN`. */
const FILTER_VALUES_MAX = 100;

/** A query parameter that may be given several times. Its value is a sorted list without repetitions. */
function repeatedParameter(value: z.ZodType) {
  const values = boundedArray(value, FILTER_VALUES_MAX, "values");
  return z
    .preprocess((given) => (typeof given === "string" ? [given] : given), values)
    .transform((given) => [...new Set(given)].toSorted((a, b) => (String(a) < String(b) ? -1 : 1)));
}

function lowerCase(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}

/** The filters that compare a field with values, by the field's name. */
export function fieldFilters<F extends Rows>(rows: F) {
  const filters: Record<string, Filter<Readonly<Record<string, unknown>>, z.ZodType>> = {};
  for (const [name, { kind, filter: description, filterRepeats }] of Object.entries(rows)) {
    if (description === undefined) continue;
    const { ignoresCase = false } = kind;
    const repeats = filterRepeats === true;
    const one = () => (ignoresCase ? kind.input().overwrite(lowerCase) : kind.input());
    const compared = ignoresCase ? lowerCase : (value: unknown) => value;
    filters[name] = {
      parameter: () => (repeats ? repeatedParameter(one()) : one()).meta({ description }),
      matches: (stored, value) => [value].flat().includes(compared(stored[name])),
      ignoresCase,
      repeats,
    };
  }
  return filters as {
    readonly [N in FilterNames<F>]: Filter<StoredFields<F>, z.ZodType<FilterValue<F[N]>>>;
  };
}

/** The initial values of all fields. */
export function initialFields<F extends Rows>(rows: F) {
  return mapRows(rows, initialOf) as StoredFields<F>;
}

/** A sample cell of each field, for CSV files. */
export function sampleCells(rows: Rows) {
  return mapRows(rows, ({ kind, sample = kind.sample }) => sample) as Readonly<Record<string, string>>;
}

/** Makes the function that merges a caller's values into stored ones. Fields that are left out keep their values. */
export function createMerge<F extends Rows>(rows: F) {
  const merges = Object.entries(rows).map(([name, { kind }]) => [name, kind.merge] as const);
  return <T extends StoredFields<F>>(stored: T, given: GivenFields<F>): T => {
    const merged: Record<string, unknown> = { ...stored };
    const values: Record<string, unknown> = given;
    for (const [name, merge] of merges) {
      const value = values[name];
      if (value !== undefined) merged[name] = merge === undefined ? value : merge(merged[name], value);
    }
    return merged as T;
  };
}

/** Makes the function that converts stored values for responses. */
export function createShow<F extends Rows>(rows: F) {
  const shows = Object.entries(shownOf(rows)).map(([name, { kind }]) => [name, kind.show] as const);
  return (stored: StoredFields<F>): ShownFields<F> => {
    const shown: Record<string, unknown> = {};
    const values: Record<string, unknown> = stored;
    for (const [name, show] of shows) shown[name] = show === undefined ? values[name] : show(values[name]);
    return shown as ShownFields<F>;
  };
}
