import { isTimeZone } from "../../../../lib/uploads/mapping/time-zone.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { singlesOf } from "../../../../lib/uploads/mapping/check-mapping.ts";
import { keep, readKept } from "../kept.ts";
import type { Api } from "./api.ts";

async function nameOfZone(api: Api): Promise<string> {
  return `work-items-time-zone-${await api.name()}`;
}

/** The time zone that was chosen in this browser for the organization's last file; undefined if there is none. */
export async function keptTimeZone(api: Api): Promise<string | undefined> {
  const name = await nameOfZone(api);
  const zone = readKept(() => localStorage, name);
  return zone !== null && isTimeZone(zone) ? zone : undefined;
}

/** The zone of a mapping's local times, if it has one for all. */
export function zoneOf({ fields = {}, event = {} }: Mapping): string | undefined {
  const sources = [...Object.values(fields), ...Object.values(event)];
  const singles = sources.flatMap((source) => singlesOf({ source, path: [] }));
  const zones = new Set(singles.flatMap(({ source }) => source.time_zone ?? []));
  return zones.size === 1 ? [...zones][0] : undefined;
}

/** Keeps the time zone of a mapping for the organization's next file. */
export async function keepTimeZone(api: Api, mapping: Mapping): Promise<void> {
  const zone = zoneOf(mapping);
  const name = await nameOfZone(api);
  if (zone !== undefined) keep(() => localStorage, name, zone);
}
