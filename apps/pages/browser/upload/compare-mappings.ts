import { singlesOf } from "../../../../lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";

/** The zone of a mapping's local times, if it has one for all. */
export function zoneOf({ fields = {}, event = {} }: Mapping): string | undefined {
  const sources = [...Object.values(fields), ...Object.values(event)];
  const singles = sources.flatMap((source) => singlesOf({ source, path: [] }));
  const zones = new Set(singles.flatMap(({ source }) => source.time_zone ?? []));
  return zones.size === 1 ? [...zones][0] : undefined;
}

/**
 * Whether two mappings make the same of the columns, whatever the order in which they name them. Their time zone may be
 * another: the items are the same.
 */
export function isSameMapping(a: Mapping, b: Mapping): boolean {
  const sorted = (key: string, value: unknown): unknown => {
    if (key === "time_zone" && typeof value === "string") return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  };
  const shown = ({ fields, event, others }: Mapping): string => JSON.stringify({ fields, event, others }, sorted);
  return shown(a) === shown(b);
}
