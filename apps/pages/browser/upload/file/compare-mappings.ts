import { singlesOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";

/** The time zone of a mapping's local times; undefined if it has none or several. */
export function zoneOf({ fields = {}, event = {} }: Mapping): string | undefined {
  const sources = [...Object.values(fields), ...Object.values(event)];
  const singles = sources.flatMap((source) => singlesOf({ source, path: [] }));
  const zones = new Set(singles.flatMap(({ source }) => source.time_zone ?? []));
  return zones.size === 1 ? [...zones][0] : undefined;
}

/** Whether two mappings set the same fields from the same columns, in any order. How values are read may differ. */
export function isSameMapping(a: Mapping, b: Mapping): boolean {
  const sorted = (_: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const { column, columns, join, digest, prefix }: Source = value;
    if (column !== undefined || columns !== undefined) return [column, columns, join, digest, prefix];
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  };
  const shown = ({ fields, event, others }: Mapping): string => JSON.stringify({ fields, event, others }, sorted);
  return shown(a) === shown(b);
}
