import { isTimeZone } from "../../../../lib/uploads/mapping/time-zone.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { keep, readKept } from "../kept.ts";
import type { Api } from "./api.ts";
import { zoneOf } from "./compare-mappings.ts";

async function nameOfZone(api: Api): Promise<string> {
  return `work-items-time-zone-${await api.name()}`;
}

/** The time zone that was chosen in this browser for the organization's last file; undefined if there is none. */
export async function keptTimeZone(api: Api): Promise<string | undefined> {
  const name = await nameOfZone(api);
  const zone = readKept(() => localStorage, name);
  return zone !== null && isTimeZone(zone) ? zone : undefined;
}

/** Keeps the time zone of a mapping for the organization's next file. */
export async function keepTimeZone(api: Api, mapping: Mapping): Promise<void> {
  const zone = zoneOf(mapping);
  const name = await nameOfZone(api);
  if (zone !== undefined) keep(() => localStorage, name, zone);
}
