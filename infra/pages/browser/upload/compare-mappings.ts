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
  const sorted = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([key, each]) => key !== "time_zone" || typeof each !== "string")
            .toSorted(([one], [other]) => (one < other ? -1 : 1))
            .map(([key, each]) => [key, sorted(each)]),
        )
      : Array.isArray(value)
        ? value.map(sorted)
        : value;
  const shown = ({ fields, event, others }: Mapping): string => JSON.stringify(sorted({ fields, event, others }));
  return shown(a) === shown(b);
}
