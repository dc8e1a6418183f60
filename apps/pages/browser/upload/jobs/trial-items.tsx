import { readResultingItems, type ResultingItem } from "@work-items/importer/checks/resulting-items.ts";
import { changedByRows, type TrialRow } from "@work-items/importer/checks/trial-rows.ts";
import type { RowObserver } from "@work-items/importer/files/whole-file.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Api, Job } from "../parts/api.ts";
import { EVENT_NAMES, labelOf, shownOrEmpty, shownValue, SUBJECT } from "../parts/field-names.ts";
import { type Fact, Facts } from "../parts/parts.tsx";
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

/** A row of a trial: its item, and facts about it. */
function RowCard({
  row: { row, externalId },
  address,
  subject,
  facts,
}: {
  readonly row: Pick<TrialRow, "row" | "externalId">;
  /** Of the item, if it exists. */
  readonly address?: string | undefined;
  readonly subject?: unknown;
  readonly facts: readonly Fact[];
}) {
  const more = facts.length - SHOWN_FIELDS;
  return (
    <li>
      <p class="note">Row {row}</p>
      <h3>{address === undefined ? externalId : <a href={address}>{externalId}</a>}</h3>
      {typeof subject === "string" && <p class="lines">{subject}</p>}
      <Facts facts={facts.slice(0, SHOWN_FIELDS)} />
      {more > 0 && <p class="note">and {countOf(more, "other field")}</p>}
    </li>
  );
}

/** A new item as a row would create it. */
function ItemCard({ item }: { readonly item: ResultingItem }) {
  const { fields, event } = item;
  const ofEvent = Object.entries(event ?? {}).filter(([name]) => name !== "external_id");
  const ofItem = [...fields].filter(([name]) => name !== SUBJECT);
  const facts = [
    ...ofEvent.map(([name, value]) => [EVENT_NAMES[name] ?? name, shownOfEvent(name, value)] as const),
    ...ofItem.map(([name, value]) => [labelOf(name), shownStart(shownOrEmpty(name, value), SHOWN_CHARACTERS)] as const),
  ];
  return <RowCard row={item} subject={fields.get(SUBJECT)} facts={facts} />;
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

/** A changed field; the subject, if the file has one, and all custom attributes are together. */
function nameOf(field: string, { mapping }: Job): string {
  if (field !== ATTRIBUTES) return labelOf(field);
  return mapping?.fields?.[SUBJECT] ? "Subject or other columns" : "Other columns";
}

type ChangedRow = Pick<TrialRow, "row" | "externalId" | "id" | "changes"> & { readonly outcome: string };

/** A row that would change an item that exists, with both values of each field. */
function ChangeCard({ job, row }: { readonly job: Job; readonly row: ChangedRow }) {
  const { outcome, changes, id } = row;
  const isRestored = outcome === "restored";
  const facts = changes.flatMap(({ field, values }): Fact[] => {
    if (!values) return [];
    const before = <i>{shownOrEmpty(field, values.from)} → </i>;
    return [[nameOf(field, job), <span class="lines">{[before, shownOrEmpty(field, values.to)]}</span>]];
  });
  // Values too long for the results, or of a file that this page doesn’t have, aren’t known.
  const named = changes.filter(({ values }) => !values).map(({ field }) => nameOf(field, job));
  if (named.length > 0) facts.push(["Changes", named.join(", ")]);
  if (facts.length === 0) facts.push(isRestored ? ["Restored", "as it was"] : ["Changes", "events"]);
  const address = isRestored ? undefined : `#item=${id}`;
  return <RowCard {...{ row, address }} facts={facts} />;
}

/** The first rows that would change items that exist. */
export function ChangedRows({ job, rows }: { readonly job: Job; readonly rows: readonly ChangedRow[] }) {
  return (
    <ul class="examples" aria-label="Changed items">
      {rows.map((row) => (
        <ChangeCard key={row.row} {...{ job, row }} />
      ))}
    </ul>
  );
}

/** In how many rows each field would change, in a sentence: "Status in 15 rows, completed at in 12 rows." */
export function sentenceOfChanges(job: Job): string {
  const parts = changedByRows(job.changed_fields).map(
    ([field, rows]) => `${nameOf(field, job)} in ${countOf(rows, "row")}`,
  );
  const [first = "", ...others] = parts;
  const lowered = others.map((part) => part.charAt(0).toLowerCase() + part.slice(1));
  return parts.length === 0 ? "" : `${[first, ...lowered].join(", ")}.`;
}
