import type { ComponentChildren } from "preact";
import { readResultingItems, type ResultingItem } from "@work-items/importer/checks/resulting-items.ts";
import { changedByRows, type FieldChange, type TrialRow } from "@work-items/importer/checks/trial-rows.ts";
import type { RowObserver } from "@work-items/importer/files/whole-file.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Api, Job } from "../parts/api.ts";
import { exampleOf } from "../file/check-rows.ts";
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
const OUTCOMES: Readonly<Record<TrialRow["outcome"], string>> = {
  created: "Would be created",
  updated: "Would be changed",
  restored: "Would be restored",
  unchanged: "Would stay unchanged",
  error: "Would fail",
};

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

/** A value, and what it was before if the row changes it. Long ones are cut. */
function valueOf(target: string, value: unknown, change: FieldChange | undefined): ComponentChildren {
  const shown = (each: unknown): string => shownStart(shownOrEmpty(target, each), SHOWN_CHARACTERS);
  if (change === undefined) return shown(value);
  if (change.values === undefined) return `${shown(value)} (changed)`;
  return (
    <>
      <s>{shown(change.values.from)}</s> → <b>{shown(change.values.to)}</b>
    </>
  );
}

/** The value of an event's field. */
function shownOfEvent(name: string, value: unknown): string {
  const text = value === null || value === undefined ? "(empty)" : shownValue(value);
  const isTime = name === "occurred_at" && typeof value === "string";
  return isTime ? shownTime(value) : shownStart(text, SHOWN_CHARACTERS);
}

/** The fields of an item, changed ones first. */
function ItemFacts({ item: { fields, changes, event } }: { readonly item: ResultingItem }) {
  const changed = changes.map(({ field }) => field).filter((name) => name !== ATTRIBUTES);
  const names = [...new Set([...changed, ...fields.keys()])].filter((name) => name !== SUBJECT);
  const ofEvent = Object.entries(event ?? {}).filter(([name]) => name !== "external_id");
  const facts: (readonly [string, ComponentChildren])[] = [
    ...ofEvent.map(([name, value]) => [EVENT_NAMES[name] ?? name, shownOfEvent(name, value)] as const),
    ...names.map(
      (name) =>
        [
          labelOf(name),
          valueOf(
            name,
            fields.get(name),
            changes.find(({ field }) => field === name),
          ),
        ] as const,
    ),
  ];
  const more = facts.length - SHOWN_FIELDS;
  return (
    <>
      <Facts facts={facts.slice(0, SHOWN_FIELDS)} />
      {more > 0 && <p class="note">and {countOf(more, "other field")}</p>}
    </>
  );
}

/** A row of the trial with its item as it would be. */
function ItemCard({ item }: { readonly item: ResultingItem }) {
  const { row, externalId, id, outcome, isOfFile, error, fields } = item;
  const exists = id !== "" && outcome !== "created" && outcome !== "restored" && !isOfFile;
  const subject = fields.get(SUBJECT);
  return (
    <li>
      <p>
        <b class={outcome === "error" ? "failed" : undefined}>{OUTCOMES[outcome]}</b>{" "}
        <span class="note">
          {outcome === "error" ? "in" : "by"} row {row}
        </span>
      </p>
      <h3>{exists ? <a href={`#item=${id}`}>{externalId}</a> : externalId}</h3>
      {typeof subject === "string" && <p class="lines">{subject}</p>}
      {isOfFile && <p class="note">An earlier row has the same ID.</p>}
      {error ? <p class="bad">{exampleOf(error)}</p> : <ItemFacts item={item} />}
    </li>
  );
}

/** Examples of items as an import would leave them. */
export function TrialItems({ items }: { readonly items: readonly ResultingItem[] }) {
  const known = items.filter(({ fields, error, event }) => fields.size > 0 || error || event);
  if (known.length === 0) return null;
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">{countOf(known.length, "example")}, as they would be</h2>
      <ul class="examples">
        {known.map((item) => (
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
