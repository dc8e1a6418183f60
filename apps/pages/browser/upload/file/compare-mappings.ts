import { ATTRIBUTE_PREFIX } from "@work-items/lib/uploads/csv/target.ts";
import { columnsOfAll, singlesOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";

/** The time zone of a mapping's local times; undefined if it has none or several. */
export function zoneOf({ fields = {}, event = {} }: Mapping): string | undefined {
  const sources = [...Object.values(fields), ...Object.values(event)];
  const singles = sources.flatMap((source) => singlesOf({ source, path: [] }));
  const zones = new Set(singles.flatMap(({ source }) => source.time_zone ?? []));
  return zones.size === 1 ? [...zones][0] : undefined;
}

/**
 * Whether two mappings set the same fields from the same columns, in any order, whichever columns are kept under their names.
 * Of several completion dates they need to have one in common.
 */
export function isSameMapping(a: Mapping, b: Mapping): boolean {
  const sorted = (_: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const { column, columns, join, digest, prefix }: Source = value;
    if (column !== undefined || columns !== undefined) return [column, columns, join, digest, prefix];
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  };
  const partsOf = ({ fields: { completed_at: completed = {}, ...fields } = {}, event }: Mapping) => {
    const set = Object.entries(fields).filter(([target, { column = "" }]) => target !== ATTRIBUTE_PREFIX + column);
    return { dates: columnsOfAll([completed]), shown: JSON.stringify([Object.fromEntries(set), event], sorted) };
  };
  const [one, other] = [partsOf(a), partsOf(b)];
  const areUndated = one.dates.size + other.dates.size === 0;
  return one.shown === other.shown && (areUndated || !one.dates.isDisjointFrom(other.dates));
}
