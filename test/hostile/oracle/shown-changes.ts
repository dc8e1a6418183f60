import { isDeepStrictEqual } from "node:util";
import { type Json, type ModelItem, sameJson } from "./reference-item.ts";

const FIELDS = [
  "agent_email",
  "agent_name",
  "agent_external_id",
  "type",
  "status",
  "completed_at",
] as const satisfies readonly (keyof ModelItem)[];
const ATTRIBUTES = "custom_attributes";
const VALUES_MAX_BYTES = 200;
const NAMES_MAX_BYTES = 1024;

/** The fields that differ, with both values. Null stands for an attribute that isn't there too. */
type Changes = Readonly<Record<string, { readonly from: Json; readonly to: Json }>>;

/** What differs between two states of an item, as docs/reference says of the results of a dry run. */
export const changesBetween = (before: ModelItem, after: ModelItem): Changes => {
  const [was, is] = [before.custom_attributes, after.custom_attributes];
  const attributes = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => Object.hasOwn(was, name) !== Object.hasOwn(is, name) || !sameJson(was[name]!, is[name]!),
  );
  return Object.fromEntries([
    ...FIELDS.filter((name) => before[name] !== after[name]).map(
      (name) => [name, { from: before[name], to: after[name] }] as const,
    ),
    ...attributes.map((name) => [`${ATTRIBUTES}.${name}`, { from: was[name] ?? null, to: is[name] ?? null }] as const),
  ]);
};

/** Names of fields, in which all attributes are one. */
const togetherOf = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => (name.startsWith(`${ATTRIBUTES}.`) ? ATTRIBUTES : name))),
];
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  isDeepStrictEqual(a.toSorted(), b.toSorted());

/** @param mayForget whether a worker may have found the row again, which then names the fields alone */
export const isShown = (cell: string, changes: Changes, mayForget: boolean): boolean => {
  const names = Object.keys(changes);
  if (cell === "" || names.length === 0) return cell === "" && names.length === 0;
  const shown = JSON.parse(cell) as Changes | readonly string[];
  if (Array.isArray(shown) && mayForget && sameNames(shown as string[], togetherOf(names))) return true;
  if (bytesOf(changes) <= VALUES_MAX_BYTES) return isDeepStrictEqual(shown, changes);
  const withStatus = (named: readonly string[]): Readonly<Record<string, Json>> =>
    Object.fromEntries(named.map((name) => [name, name === "status" ? { ...changes[name]! } : null]));
  const short = withStatus(names);
  return isDeepStrictEqual(shown, bytesOf(short) <= NAMES_MAX_BYTES ? short : withStatus(togetherOf(names)));
};

/** In how many rows each field changes, by the cells of their results. */
export const countChanged = (cells: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const cell of cells) {
    const shown = cell === "" ? [] : (JSON.parse(cell) as object | readonly string[]);
    const names = Array.isArray(shown) ? (shown as string[]) : Object.keys(shown);
    for (const name of togetherOf(names)) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};
