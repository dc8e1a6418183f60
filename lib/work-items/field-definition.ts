import type * as z from "zod";

/**
 * A field that callers set on a work item or an event. From a table of these follow the types, the schemas of requests
 * and responses, the attributes that are stored, merging, and the columns of CSV files.
 */
interface FieldDefinition<
  I extends z.ZodType,
  S extends z.ZodType,
  R extends z.ZodType | null,
  Q extends z.ZodType | undefined,
> {
  /** What a caller may send. A field that is left out keeps its value. */
  readonly input: I;
  /** What the record holds. Null is not stored, so a new field must admit it: older records do not have it. */
  readonly stored: S;
  /** Its value in a new record that is given none. */
  readonly initial: z.output<S>;
  /** How it stands in responses under its own name; null where it is shown as a part of something else. */
  readonly response: R;
  /** Schema of the list's query parameter of the same name. @default the list has no such filter */
  readonly filter?: Q;
}
/** How what is sent becomes what is stored; not needed where it is stored as it is. */
type Merge<I extends z.ZodType, S extends z.ZodType> =
  z.output<I> extends z.output<S>
    ? { readonly merge?: (stored: z.output<S>, given: z.output<I>) => z.output<S> }
    : { readonly merge: (stored: z.output<S>, given: z.output<I>) => z.output<S> };
/** How the text of a CSV cell becomes what a caller may send; not needed for texts. Throws an Error that says what it must be. */
type FromCell<I extends z.ZodType> =
  Extract<z.input<I>, string> extends never
    ? { readonly fromCell: (cell: string) => z.input<I> }
    : { readonly fromCell?: (cell: string) => z.input<I> };
/** How what is stored is shown; not needed where it is shown as it is. */
type Show<S extends z.ZodType, R extends z.ZodType | null> = R extends z.ZodType
  ? z.output<S> extends z.input<R>
    ? { readonly show?: (stored: z.output<S>) => z.input<R> }
    : { readonly show: (stored: z.output<S>) => z.input<R> }
  : object;

export const field = <
  I extends z.ZodType,
  S extends z.ZodType,
  R extends z.ZodType | null,
  Q extends z.ZodType<z.output<S>> | undefined = undefined,
>(
  definition: FieldDefinition<I, S, R, Q> & Merge<I, S> & FromCell<I> & Show<S, R>,
) => definition;

type Definition = FieldDefinition<z.ZodType, z.ZodType, z.ZodType | null, z.ZodType | undefined>;
type Fields = Readonly<Record<string, Definition>>;

/** Names of the fields that responses show under their own names. */
type Shown<F extends Fields> = { [N in keyof F]: F[N]["response"] extends null ? never : N }[keyof F];
type InputShape<F extends Fields> = { readonly [N in keyof F]: z.ZodOptional<F[N]["input"]> };
type StoredShape<F extends Fields> = { readonly [N in keyof F]: F[N]["stored"] };
type ResponseShape<F extends Fields> = { readonly [N in Shown<F>]: NonNullable<F[N]["response"]> };
/** Values that a caller sends, of the fields that are given. */
export type GivenFields<F extends Fields> = { readonly [N in keyof F]?: z.output<F[N]["input"]> | undefined };
/** Values as they are stored. */
export type StoredFields<F extends Fields> = { readonly [N in keyof F]: z.output<F[N]["stored"]> };
/** Values as responses show them. */
export type ShownFields<F extends Fields> = {
  readonly [N in Shown<F>]: z.input<NonNullable<F[N]["response"]>>;
};

const mapFields = (fields: Fields, map: (definition: Definition, name: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, definition]) => [name, map(definition, name)]));

/** The schemas of what callers send; every field may be left out. */
export const inputShape = <F extends Fields>(fields: F) =>
  mapFields(fields, ({ input }) => input.optional()) as InputShape<F>;

/** The schemas of what is stored. */
export const storedShape = <F extends Fields>(fields: F) => mapFields(fields, ({ stored }) => stored) as StoredShape<F>;

const shownOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, { response }]) => response !== null));

/** The schemas of what responses show under the fields' own names. */
export const responseShape = <F extends Fields>(fields: F) =>
  mapFields(shownOf(fields), ({ response }) => response) as ResponseShape<F>;

type Filtered<F extends Fields> = {
  [N in keyof F]: [NonNullable<F[N]["filter"]>] extends [never] ? never : N;
}[keyof F];

/** The schemas of the list's query parameters that filter by a field. */
export const filterShape = <F extends Fields>(fields: F) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { filter }]) => (filter ? [[name, filter.optional()]] : [])),
  ) as { readonly [N in Filtered<F>]: z.ZodOptional<NonNullable<F[N]["filter"]>> };

/** A new record's fields, of which the caller has given none. */
export const initialFields = <F extends Fields>(fields: F) =>
  mapFields(fields, ({ initial }) => initial) as StoredFields<F>;

type Rule = {
  readonly merge?: (stored: unknown, given: unknown) => unknown;
  readonly show?: (stored: unknown) => unknown;
};
const ruleOf = (definition: Definition): Rule => definition as Rule;

/** Merges what a caller gives into what is stored; fields that are left out keep their values. */
export const createMerge = <F extends Fields>(fields: F) => {
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
};

/** Shows what is stored. */
export const createShow = <F extends Fields>(fields: F) => {
  const rules = Object.entries(shownOf(fields)).map(([name, definition]) => [name, ruleOf(definition).show] as const);
  return (stored: StoredFields<F>): ShownFields<F> => {
    const shown: Record<string, unknown> = {};
    const values: Record<string, unknown> = stored;
    for (const [name, show] of rules) shown[name] = show === undefined ? values[name] : show(values[name]);
    return shown as ShownFields<F>;
  };
};

/** How the text of a CSV cell becomes what a caller may send of a field. @throws Error that says what the cell must be */
export const readCell = (definition: Definition, cell: string): unknown => {
  const { fromCell } = definition as { readonly fromCell?: (cell: string) => unknown };
  return fromCell === undefined ? cell : fromCell(cell);
};
