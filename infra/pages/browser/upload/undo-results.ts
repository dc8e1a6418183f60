import { observeRows } from "@work-items/importer/files/whole-file.ts";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import { ATTRIBUTE_PREFIX } from "../../../../lib/uploads/csv/target.ts";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import { RESULTS_MAX_BYTES } from "./api.ts";
import { shownValue } from "./field-names.ts";

/** So many items and fields are shown. */
const SHOWN_ITEMS = 100;
const SHOWN_FIELDS = 20;
const EMPTY = "(empty)";

/** A field that an undo keeps, as people read it. */
interface KeptField {
  readonly label: string;
  readonly imported: string;
  readonly now: string;
}

/** An item of which an undo keeps something. */
export interface KeptItem {
  readonly id: string;
  readonly externalId: string;
  readonly reason: string;
  readonly fields: readonly KeptField[];
  /** How many more fields it keeps. */
  readonly more: number;
}

/** The first items of which an undo keeps something. */
export interface KeptItems {
  readonly items: readonly KeptItem[];
  /** Whether there are no others. */
  readonly isWhole: boolean;
}

const LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries<Field>({ ...EVENT_FIELDS, ...WORK_ITEM_FIELDS }).map(([name, { label }]) => [name, label]),
);

/** The name of a kept field for people: `status`, `custom_attributes.<name>` or `events.<external_id>.<name>`. */
function labelOf(name: string): string {
  if (name.startsWith(ATTRIBUTE_PREFIX)) return name.slice(ATTRIBUTE_PREFIX.length);
  const [, event, field = name] = /^events\.(?<event>.*)\.(?<field>\w+)$/su.exec(name) ?? [];
  const label = LABELS.get(field) ?? field;
  return event === undefined ? label : `${label} (event ${event})`;
}

function fieldsIn(kept: string): KeptField[] {
  const fields = kept === "" ? {} : (JSON.parse(kept) as Record<string, { imported: unknown; now: unknown }>);
  return Object.entries(fields).map(([name, { imported, now }]) => ({
    label: labelOf(name),
    imported: imported === null ? EMPTY : shownValue(imported),
    now: now === null ? EMPTY : shownValue(now),
  }));
}

/** Reads which items an undo keeps, and why. Results are row, external_id, id, outcome, reason, kept. */
export async function readKeptItems(results: ReadableStream<Uint8Array>): Promise<KeptItems> {
  const items: KeptItem[] = [];
  let isCut = false;
  const options = { delimiter: COMMA, headerRow: 1, bytesMax: RESULTS_MAX_BYTES };
  const isRead = await observeRows(results, options, () => [
    {
      observe: ({ cells: [, externalId = "", id = "", , reason = "", kept = ""] }) => {
        if (reason === "") return;
        if (items.length === SHOWN_ITEMS) isCut = true;
        else {
          const fields = fieldsIn(kept);
          const more = Math.max(0, fields.length - SHOWN_FIELDS);
          items.push({ id, externalId, reason, fields: fields.slice(0, SHOWN_FIELDS), more });
        }
      },
    },
  ]);
  return { items, isWhole: isRead && !isCut };
}
