import type * as z from "zod";

/**
 * A field of a work item or an event that callers set. The types, the schemas of requests and responses, the stored
 * attributes, the merging and the columns of CSV files are derived from a table of such definitions.
 */
interface FieldDefinition<
  I extends z.ZodType,
  S extends z.ZodType,
  R extends z.ZodType | null,
  Q extends (() => z.ZodType) | undefined,
> {
  /** What the API's document says of the field, in the input and, where nothing else is said there, in responses. */
  readonly description: string;
  /** Makes the schema of the values that a caller may send. A field that is left out keeps its value. */
  readonly input: () => I;
  /** Schema of the stored value. It must allow null for a field that is added later: older records do not have it. */
  readonly stored: S;
  /** Value in a new record if the caller gives none. */
  readonly initial: z.output<S>;
  /** Schema of the field in responses; null if responses do not have a field with this name. */
  readonly response: R;
  /** Makes the schema of the list's query parameter with the same name. @default the list has no such filter */
  readonly filter?: Q;
  /** Whether the filter compares without case. Its schema then makes lower case. @default false */
  readonly filterIgnoresCase?: boolean;
}
/** Merges the sent value into the stored one; not required if it just replaces the stored one. */
type Merge<I extends z.ZodType, S extends z.ZodType> =
  z.output<I> extends z.output<S>
    ? { readonly merge?: (stored: z.output<S>, given: z.output<I>) => z.output<S> }
    : { readonly merge: (stored: z.output<S>, given: z.output<I>) => z.output<S> };
/** Converts a CSV cell to an input; not required for strings. Throws an Error that says what the cell must be. */
type FromCell<I extends z.ZodType> =
  Extract<z.input<I>, string> extends never
    ? { readonly fromCell: (cell: string) => z.input<I> }
    : { readonly fromCell?: (cell: string) => z.input<I> };
/** Converts the stored value for responses; not required if it is shown unchanged. */
type Show<S extends z.ZodType, R extends z.ZodType | null> = R extends z.ZodType
  ? z.output<S> extends z.input<R>
    ? { readonly show?: (stored: z.output<S>) => z.input<R> }
    : { readonly show: (stored: z.output<S>) => z.input<R> }
  : object;

/** Defines a field, with the types of its schemas checked against each other. */
export function field<
  I extends z.ZodType,
  S extends z.ZodType,
  R extends z.ZodType | null,
  Q extends (() => z.ZodType<z.output<S>>) | undefined = undefined,
>(definition: FieldDefinition<I, S, R, Q> & Merge<I, S> & FromCell<I> & Show<S, R>) {
  return definition;
}

type Definition = FieldDefinition<z.ZodType, z.ZodType, z.ZodType | null, (() => z.ZodType) | undefined>;
type Fields = Readonly<Record<string, Definition>>;

/** Names of the fields that responses have. */
type Shown<F extends Fields> = { [N in keyof F]: F[N]["response"] extends null ? never : N }[keyof F];
type InputShape<F extends Fields> = { readonly [N in keyof F]: z.ZodOptional<ReturnType<F[N]["input"]>> };
type StoredShape<F extends Fields> = { readonly [N in keyof F]: F[N]["stored"] };
type ResponseShape<F extends Fields> = { readonly [N in Shown<F>]: NonNullable<F[N]["response"]> };
/** Values of the fields that a caller sends. */
export type GivenFields<F extends Fields> = {
  readonly [N in keyof F]?: z.output<ReturnType<F[N]["input"]>> | undefined;
};
/** Stored values of all fields. */
export type StoredFields<F extends Fields> = { readonly [N in keyof F]: z.output<F[N]["stored"]> };
/** Values of the fields in responses. */
export type ShownFields<F extends Fields> = {
  readonly [N in Shown<F>]: z.input<NonNullable<F[N]["response"]>>;
};

function mapFields(fields: Fields, map: (definition: Definition, name: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, definition]) => [name, map(definition, name)]));
}

/** Shape of the schema for input; every field is optional. */
export function inputShape<F extends Fields>(fields: F) {
  return mapFields(fields, ({ input }) => input().optional()) as InputShape<F>;
}

/** Shape of the schema for records. */
export function storedShape<F extends Fields>(fields: F) {
  return mapFields(fields, ({ stored }) => stored) as StoredShape<F>;
}

function shownOf(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, { response }]) => response !== null));
}

/** Shape of the schema for responses. */
export function responseShape<F extends Fields>(fields: F) {
  return mapFields(shownOf(fields), ({ response }) => response) as ResponseShape<F>;
}

type Filtered<F extends Fields> = {
  [N in keyof F]: [NonNullable<F[N]["filter"]>] extends [never] ? never : N;
}[keyof F];

/** A filter of a list: a query parameter, and the records that match its value. */
export interface Filter<T, Q extends z.ZodType> {
  /** Makes the schema of the parameter. */
  readonly parameter: () => Q;
  // A method, so that filters with values of several types fit into one table.
  matches(this: void, stored: T, value: z.output<Q>): boolean;
  /** Whether it compares without case. @default false */
  readonly ignoresCase?: boolean | undefined;
}

/** The filters that compare a field with a value, by the field's name. */
export function fieldFilters<F extends Fields>(fields: F) {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { filter, filterIgnoresCase: ignoresCase }]) => {
      if (filter === undefined) return [];
      const compared = (value: unknown) => (ignoresCase && typeof value === "string" ? value.toLowerCase() : value);
      const row: Filter<Readonly<Record<string, unknown>>, z.ZodType> = {
        parameter: filter,
        matches: (stored, value) => compared(stored[name]) === value,
        ignoresCase,
      };
      return [[name, row]];
    }),
  ) as { readonly [N in Filtered<F>]: Filter<StoredFields<F>, ReturnType<NonNullable<F[N]["filter"]>>> };
}

/** Fields of a new record for which the caller gives no values. */
export function initialFields<F extends Fields>(fields: F) {
  return mapFields(fields, ({ initial }) => initial) as StoredFields<F>;
}

type Rule = {
  readonly merge?: (stored: unknown, given: unknown) => unknown;
  readonly show?: (stored: unknown) => unknown;
};
function ruleOf(definition: Definition): Rule {
  return definition as Rule;
}

/** Makes the function that merges a caller's values into stored ones; fields that are left out keep their values. */
export function createMerge<F extends Fields>(fields: F) {
  const rules = Object.entries(fields).map(([name, definition]) => [name, ruleOf(definition).merge] as const);
  return <T extends StoredFields<F>>(stored: T, given: GivenFields<F>): T => {
    const merged: Record<string, unknown> = { ...stored };
    const values: Record<string, unknown> = given;
    for (const [name, merge] of rules) {
      const value = values[name];
      if (value !== undefined) merged[name] = merge === undefined ? value : merge(merged[name], value);
    }
    return merged as T;
  };
}

/** Makes the function that converts stored values for responses. */
export function createShow<F extends Fields>(fields: F) {
  const rules = Object.entries(shownOf(fields)).map(([name, definition]) => [name, ruleOf(definition).show] as const);
  return (stored: StoredFields<F>): ShownFields<F> => {
    const shown: Record<string, unknown> = {};
    const values: Record<string, unknown> = stored;
    for (const [name, show] of rules) shown[name] = show === undefined ? values[name] : show(values[name]);
    return shown as ShownFields<F>;
  };
}

/** Converts a CSV cell to an input of a field. @throws Error that says what the cell must be */
export function readCell(definition: Definition, cell: string): unknown {
  const { fromCell } = definition as { readonly fromCell?: (cell: string) => unknown };
  return fromCell === undefined ? cell : fromCell(cell);
}
