import type { ComponentChildren } from "preact";
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

/** A changed field; all custom attributes together are other columns. */
function nameOf(field: string): string {
  return field === ATTRIBUTES ? "Other columns" : labelOf(field);
}

/** The table's rows for a row that would change an item: one for each field. */
function linesOf({ row, externalId, id, outcome, changes }: TrialRow): ComponentChildren[][] {
  const link = outcome === "restored" ? externalId : <a href={`#item=${id}`}>{externalId}</a>;
  const shown = changes.slice(0, SHOWN_FIELDS);
  const lines: ComponentChildren[][] = shown.flatMap(({ field, values }) =>
    values
      ? [
          [
            row,
            link,
            nameOf(field),
            ...[shownOrEmpty(field, values.from), shownOrEmpty(field, values.to)].map((text) => (
              <span key={text} class="lines">
                {text}
              </span>
            )),
          ],
        ]
      : [],
  );
  const unknown = shown.filter(({ values }) => values === undefined).map(({ field }) => nameOf(field));
  // Too long for the results, or of a file that this page doesn’t have.
  if (unknown.length > 0) lines.push([row, link, unknown.join(", "), "(open the item)", "(see the file)"]);
  const more = changes.length - shown.length;
  if (lines.length === 0) return [[row, link, outcome === "restored" ? "Restored" : "Events", "", ""]];
  return more === 0 ? lines : [...lines, [row, link, `and ${countOf(more, "other field")}`, "", ""]];
}

/** The first rows that would change items that exist, with both values of each field. */
export function ChangedRows({ rows }: { readonly rows: readonly TrialRow[] }) {
  return (
    <Table
      caption="Changed items"
      kind="repairs"
      columns={["Row", "Item", "Field", "Value now", "Value after the import"]}
      rows={rows.flatMap(linesOf)}
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
