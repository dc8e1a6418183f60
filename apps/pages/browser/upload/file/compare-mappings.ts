import { singlesOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";

/** The time zone of a mapping's local times; undefined if it has none or several. */
export function zoneOf({ fields = {}, event = {} }: Mapping): string | undefined {
  const sources = [...Object.values(fields), ...Object.values(event)];
  const singles = sources.flatMap((source) => singlesOf({ source, path: [] }));
  const zones = new Set(singles.flatMap(({ source }) => source.time_zone ?? []));
  return zones.size === 1 ? [...zones][0] : undefined;
}

/** Whether two mappings make the same of the columns, in any order. Their time zones may differ. */
export function isSameMapping(a: Mapping, b: Mapping): boolean {
  const sorted = (key: string, value: unknown): unknown => {
    if (key === "time_zone" && typeof value === "string") return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  };
  const shown = ({ fields, event, others }: Mapping): string => JSON.stringify({ fields, event, others }, sorted);
  return shown(a) === shown(b);
}
