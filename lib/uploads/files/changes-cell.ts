import type { FieldChange, FieldValue, RowChanges } from "../../work-items/changed-fields.ts";

/** Longer JSON of a row of a file has no values. */
const VALUES_MAX_BYTES = 200;
/** Longer JSON doesn't name single attributes: results have many rows, each of which may change hundreds. */
export const NAMES_MAX_BYTES = 1024;

function shown([value = null]: FieldValue): unknown {
  return value;
}

/** The names as JSON, if they are few enough. */
function namesThatFit(changes: ReadonlyMap<string, FieldChange>): string | undefined {
  const json = JSON.stringify([...changes.keys()]);
  return Buffer.byteLength(json) <= NAMES_MAX_BYTES ? json : undefined;
}

function valuesThatFit(changes: ReadonlyMap<string, FieldChange>, maxBytes: number): string | undefined {
  const values = Array.from(changes, ([name, { from, to }]) => [name, { from: shown(from), to: shown(to) }] as const);
  const json = JSON.stringify(Object.fromEntries(values));
  return Buffer.byteLength(json) <= maxBytes ? json : undefined;
}

/**
 * What a row of a dry run changes, as results show it: `{"status":{"from":"pending","to":"completed"}}`. Where that is too long,
 * or the row was recognized, the names alone. Empty if the row changes no field of its item.
 */
export function changesCell({ fields, values }: RowChanges, maxBytes = VALUES_MAX_BYTES): string {
  if (fields.length === 0) return "";
  return (values && (valuesThatFit(values, maxBytes) ?? namesThatFit(values))) ?? JSON.stringify(fields);
}
