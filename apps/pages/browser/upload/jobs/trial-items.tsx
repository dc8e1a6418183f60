import { readResultingItems, type ResultingItem } from "@work-items/importer/checks/resulting-items.ts";
import { changedByRows, type TrialRow } from "@work-items/importer/checks/trial-rows.ts";
import type { RowObserver } from "@work-items/importer/files/whole-file.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Api, Job } from "../parts/api.ts";
import { EVENT_NAMES, labelOf, shownOrEmpty, shownValue, SUBJECT } from "../parts/field-names.ts";
import { Facts, Table } from "../parts/parts.tsx";
import type { Sent } from "../file/send.ts";
import { observeTable, withoutRows } from "../file/table-file.ts";
import { countOf, shownStart, shownTime } from "../parts/shown.ts";

const ATTRIBUTES = "custom_attributes";
/** How many fields of an item or a row are shown. */
const SHOWN_FIELDS = 8;
/** How many characters of a value are shown in a card. */
const SHOWN_CHARACTERS = 60;

/**
 * The items that rows of a trial would leave.
 * @param sent the file, if this page sent it; without it, only items that exist are known
 */
export function readItems(api: Api, { mapping }: Job, rows: readonly TrialRow[], sent: Sent | undefined) {
  const file = sent &&
    mapping && {
      reader: mappedReader(mapping, sent.table.names),
      read: (observer: RowObserver) => observeTable(withoutRows(sent.table, sent.leftOut), () => [observer]),
    };
  return readResultingItems(api, rows, file);
}

/** The value of an event's field. */
function shownOfEvent(name: string, value: unknown): string {
  const text = value === null || value === undefined ? "(empty)" : shownValue(value);
  const isTime = name === "occurred_at" && typeof value === "string";
  return isTime ? shownTime(value) : shownStart(text, SHOWN_CHARACTERS);
}

/** A new item as a row would create it. */
function ItemCard({ item: { row, externalId, fields, event } }: { readonly item: ResultingItem }) {
  const subject = fields.get(SUBJECT);
  const ofEvent = Object.entries(event ?? {}).filter(([name]) => name !== "external_id");
  const facts = [
    ...ofEvent.map(([name, value]) => [EVENT_NAMES[name] ?? name, shownOfEvent(name, value)] as const),
    ...[...fields]
      .filter(([name]) => name !== SUBJECT)
      .map(([name, value]) => [labelOf(name), shownStart(shownOrEmpty(name, value), SHOWN_CHARACTERS)] as const),
  ];
  const more = facts.length - SHOWN_FIELDS;
  return (
    <li>
      <p class="note">Row {row}</p>
      <h3>{externalId}</h3>
      {typeof subject === "string" && <p class="lines">{subject}</p>}
      <Facts facts={facts.slice(0, SHOWN_FIELDS)} />
      {more > 0 && <p class="note">and {countOf(more, "other field")}</p>}
    </li>
  );
}

/** Examples of new items. What else rows do stands in the lists of changes and of rows that fail. */
export function NewItems({ items }: { readonly items: readonly ResultingItem[] }) {
  if (items.length === 0) return null;
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">New items, for example</h2>
      <ul class="examples">
        {items.map((item) => (
          <ItemCard key={item.row} item={item} />
        ))}
      </ul>
    </section>
  );
}

/** A changed field; the subject and all custom attributes are together. */
function nameOf(field: string): string {
  return field === ATTRIBUTES ? "Subject or other columns" : labelOf(field);
}

/** What a row would change. */
function Changes({ row: { outcome, changes } }: { readonly row: TrialRow }) {
  if (changes.length === 0) return outcome === "restored" ? "Restored" : "Events";
  const more = changes.length - SHOWN_FIELDS;
  return (
    <>
      {changes.slice(0, SHOWN_FIELDS).map(({ field, values }) => (
        <div key={field} class="lines">
          <b>{nameOf(field)}</b>{" "}
          {/* Values too long for the results, or of a file that this page doesn’t have, aren’t known. */}
          {values ? `${shownOrEmpty(field, values.from)} → ${shownOrEmpty(field, values.to)}` : "changes"}
        </div>
      ))}
      {more > 0 && `and ${countOf(more, "other field")}`}
    </>
  );
}

/** The first rows that would change items that exist, with both values of each field. */
export function ChangedRows({ rows }: { readonly rows: readonly TrialRow[] }) {
  return (
    <Table
      caption="Changed items"
      kind="repairs changes"
      columns={["Row", "Item", "Changes"]}
      rows={rows.map((row) => [
        row.row,
        row.outcome === "restored" ? row.externalId : <a href={`#item=${row.id}`}>{row.externalId}</a>,
        <Changes row={row} />,
      ])}
    />
  );
}

/** In how many rows each field would change, in a sentence: "Status in 15 rows, completed at in 12 rows." */
export function sentenceOfChanges({ changed_fields: changed }: Job): string {
  const parts = changedByRows(changed).map(([field, rows]) => `${nameOf(field)} in ${countOf(rows, "row")}`);
  const [first = "", ...others] = parts;
  const lowered = others.map((part) => part.charAt(0).toLowerCase() + part.slice(1));
  return parts.length === 0 ? "" : `${[first, ...lowered].join(", ")}.`;
}
