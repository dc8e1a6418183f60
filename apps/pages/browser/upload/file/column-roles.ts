import { columnIndex, comparable, isReportColumn, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import { isKeptBeside } from "@work-items/importer/proposals/kept-columns.ts";
import { columnsIn, columnsOf, columnsOfAll } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { isSameSource } from "./sources.ts";
import { isBlank, type TableFile } from "./table-file.ts";

/** The roles of columns that don't become fields. No target has these names. */
export const KEPT = "kept";
export const LEFT_OUT = "left out";
/** One of several columns of a source, which only the mapping as JSON shows. */
export const COMBINED = "combined";

/** Completes items for which no earlier column has a date. */
export const ELSE_COMPLETED = "completed_at else";

/** A column of the file, and what becomes of it. */
export interface ColumnRole {
  readonly index: number;
  /** Its name in the mapping; empty if it has no header. */
  readonly name: string;
  /** `KEPT`, `LEFT_OUT`, `COMBINED`, or the target in `fields` that is made of this column alone. */
  readonly role: string;
  /** The source that is made of it; undefined if `others` decides, or if it is combined. */
  readonly source: Source | undefined;
}

/** The sources of which a target takes the first with a value; undefined if it combines columns in another way. */
function alternatives(target: string, source: Source): readonly Source[] | undefined {
  if (source.column !== undefined) return [source];
  return target === "completed_at" ? source.first_of : undefined;
}

/** The target in `fields` of a role. */
export function targetOf({ role, name }: Pick<ColumnRole, "role" | "name">): string {
  return role === KEPT ? ATTRIBUTE_PREFIX + name : role;
}

function isOf(source: Source, name: string): boolean {
  return source.column !== undefined && comparable(source.column) === comparable(name);
}

/** The columns that a mapping needs for more than IDs of several columns. */
export function columnsBesideIds({ fields = {}, event = {} }: Mapping): ReadonlySet<string> {
  const sources = [...Object.entries(fields), ...Object.entries(event)];
  const others = sources.filter(([field, { columns }]) => field !== "external_id" || columns === undefined);
  return columnsOfAll(others.map(([, source]) => source));
}

/** What becomes of each column. Leaves out the columns of a report of failed rows, which are never imported. */
export function rolesOf(header: readonly string[], mapping: Mapping): ColumnRole[] {
  const { fields = {} } = mapping;
  const [used, needed] = [columnsIn(mapping), columnsBesideIds(mapping)];
  return numberedNames(header).flatMap((name, index): ColumnRole[] => {
    if (isReportColumn(name)) return [];
    for (const [target, each] of name === "" ? [] : Object.entries(fields)) {
      const source = alternatives(target, each)?.find((single) => isOf(single, name));
      if (source === undefined) continue;
      return [{ index, name, role: target === ATTRIBUTE_PREFIX + name ? KEPT : target, source }];
    }
    const key = comparable(name);
    // A column that is only part of an ID isn't in the item. `others` doesn't keep it.
    const left = mapping.others === "custom_attributes" && !used.has(key) ? KEPT : LEFT_OUT;
    return [{ index, name, role: needed.has(key) ? COMBINED : left, source: undefined }];
  });
}

/** Whether a column can be kept as a custom attribute of its name. */
export function canBeKept({ name }: Pick<ColumnRole, "name">): boolean {
  return name !== "" && itemTarget(ATTRIBUTE_PREFIX + name) !== undefined;
}

/** The mapping that names all kept columns, so that others can be left out. */
function withKeptNamed(header: readonly string[], mapping: Mapping): Mapping {
  if (mapping.others !== "custom_attributes") return { ...mapping, others: "ignore" };
  const kept = rolesOf(header, mapping).filter((each) => each.role === KEPT && !each.source && canBeKept(each));
  const sources = kept.map(({ name }) => [ATTRIBUTE_PREFIX + name, { column: name }] as const);
  return { ...mapping, others: "ignore", fields: { ...mapping.fields, ...Object.fromEntries(sources) } };
}

/** If no column is left out, the mapping whose `others` keeps the plain attributes. */
function withoutKeptNamed(header: readonly string[], mapping: Mapping): Mapping {
  if (rolesOf(header, mapping).some(({ role }) => role === LEFT_OUT)) return mapping;
  const isPlain = ([target, { column, ...options }]: readonly [string, Source]): boolean =>
    target === ATTRIBUTE_PREFIX + (column ?? "") && Object.keys(options).length === 0;
  const all = Object.entries(mapping.fields ?? {});
  const rest = Object.fromEntries(all.filter((entry) => !isPlain(entry)));
  // `others` doesn't keep a column that a source names.
  const used = columnsIn({ ...mapping, fields: rest });
  const named = all.filter((entry) => isPlain(entry) && used.has(comparable(entry[1].column ?? "")));
  return { ...mapping, others: "custom_attributes", fields: { ...rest, ...Object.fromEntries(named) } };
}

/** The sources of a target as one; undefined if there are none. */
function joined(sources: readonly Source[]): Source | undefined {
  return sources.length > 1 ? { first_of: [...sources] } : sources[0];
}

/** The fields without a column. */
function withoutColumn(fields: Readonly<Record<string, Source>>, name: string): [string, Source][] {
  return Object.entries(fields).flatMap(([target, source]): [string, Source][] => {
    const sources = alternatives(target, source);
    const left = sources ? joined(sources.filter((each) => name === "" || !isOf(each, name))) : source;
    return left === undefined ? [] : [[target, left]];
  });
}

/**
 * The mapping in which a column becomes something else. Columns that had the target before are kept as attributes.
 * @param source how the column is read
 */
export function withRole(
  header: readonly string[],
  mapping: Mapping,
  { name, index }: Pick<ColumnRole, "name" | "index">,
  role: string,
  source: Source = { column: name },
): Mapping {
  const named = withKeptNamed(header, mapping);
  const isElse = role === ELSE_COMPLETED;
  const left = columnsOf(source).reduce(
    (fields, each) => withoutColumn(Object.fromEntries(fields), each),
    Object.entries(named.fields ?? {}),
  );
  const completed = left.find(([target]) => target === "completed_at")?.[1];
  const previous = rolesOf(header, mapping).filter((each) => each.role === role && each.source && each.index !== index);
  const target = isElse ? "completed_at" : targetOf({ role, name });
  const sources = [...(isElse && completed ? (alternatives(target, completed) ?? [completed]) : []), source];
  const added: (readonly [string, Source])[] = [
    ...(role === KEPT ? [] : previous.map((each) => [ATTRIBUTE_PREFIX + each.name, { column: each.name }] as const)),
    ...(role !== LEFT_OUT && name !== "" ? [[target, joined(sources)!] as const] : []),
    ...columnsOf(source)
      .filter((each) => isKeptBeside(target, each, isElse && completed !== undefined) && canBeKept({ name: each }))
      .map((each) => [ATTRIBUTE_PREFIX + each, { column: each }] as const),
  ];
  const others = left.filter(([each]) => each !== target);
  const next = { ...named, fields: Object.fromEntries([...others, ...added]) };
  // For a column without a header only `others` decides.
  return role === KEPT && name === "" ? { ...next, others: "custom_attributes" } : withoutKeptNamed(header, next);
}

/** The mapping that reads the column of a field in another way. */
export function withSource(mapping: Mapping, key: "fields" | "event", field: string, source: Source): Mapping {
  const before = mapping[key]?.[field]?.first_of;
  const next = before?.map((each) => (isSameSource(each, source) ? source : each));
  return { ...mapping, [key]: { ...mapping[key], [field]: (next && joined(next)) ?? source } };
}

const JOIN = "-";
/** People would hardly recognize an ID made of more columns, or of longer texts. */
const JOINED_MAX = 4;
const JOINED_MAX_CHARACTERS = 60;

/**
 * How an ID is made of columns. A few short columns with values in all rows are joined, so that people can read it. Others get a
 * digest, since they would be long, or the same for different rows: "A-1" and "2" join like "A" and "1-2".
 */
function madeId({ names, rows }: TableFile, { empty = [] }: Mapping, columns: readonly string[]): Source {
  const nothing = new Set(["", ...empty.map(comparable)]);
  const isPart = (text: string): boolean => text.length <= JOINED_MAX_CHARACTERS && !nothing.has(comparable(text));
  const indexes = columns.map((column) => columnIndex(names, column));
  const isReadable =
    columns.length <= JOINED_MAX &&
    indexes.filter((index) => rows.some((cells) => cells[index]?.includes(JOIN))).length < 2 &&
    rows.every((cells) => isBlank(cells) || indexes.every((index) => isPart(cells[index] ?? "")));
  return { columns: [...columns], ...(isReadable ? { join: JOIN } : { digest: true }) };
}

/** The mapping whose IDs are made of columns. Those that were kept, or were the ID before, are custom attributes too. */
export function withMadeId(
  table: TableFile,
  mapping: Mapping,
  columns: readonly string[],
  key: "fields" | "event" = "fields",
): Mapping {
  const { external_id: _, ...others } = mapping[key] ?? {};
  if (columns.length === 0) return { ...mapping, [key]: others };
  const used = new Set(columns.map(comparable));
  // The ID of items stays what it is beside IDs of events.
  const roles = key === "fields" ? [KEPT, "external_id"] : [KEPT];
  const attributes = rolesOf(table.names, mapping)
    .filter((each) => roles.includes(each.role) && used.has(comparable(each.name)) && canBeKept(each))
    .map(({ role, name, source }) => [ATTRIBUTE_PREFIX + name, (role === KEPT && source) || { column: name }] as const);
  const made: Mapping = { ...mapping, [key]: { external_id: madeId(table, mapping, columns), ...others } };
  return { ...made, fields: { ...made.fields, ...Object.fromEntries(attributes) } };
}
