import type { FieldChange, RowChanges } from "../../work-items/changed-fields.ts";

/** In longer JSON, only the status has values: they say whether the row reopens an item. */
const VALUES_MAX_BYTES = 200;
/** Longer JSON doesn't name single attributes: results have many rows, each of which may change hundreds. */
export const NAMES_MAX_BYTES = 1024;

/** The fields as JSON, those that have none of `values` with null. */
function jsonOf(names: Iterable<string>, values: ReadonlyMap<string, FieldChange>): string {
  const shown = Array.from(names, (name) => {
    const change = values.get(name);
    return [name, change ? { from: change.from[0] ?? null, to: change.to[0] ?? null } : null] as const;
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/**
 * What a row of a dry run changes, as results show it: `{"status":{"from":"pending","to":"completed"}}`. Where that is too long,
 * other fields than the status have null. The names alone if the row was recognized. Empty if it changes no field of its item.
 */
export function changesCell({ fields, values }: RowChanges, maxBytes = VALUES_MAX_BYTES): string {
  if (fields.length === 0) return "";
  if (!values) return JSON.stringify(fields);
  const json = jsonOf(values.keys(), values);
  if (Buffer.byteLength(json) <= maxBytes) return json;
  const status = values.get("status");
  const ofStatus = new Map(status && [["status", status]]);
  const short = jsonOf(values.keys(), ofStatus);
  return Buffer.byteLength(short) <= NAMES_MAX_BYTES ? short : jsonOf(fields, ofStatus);
}
