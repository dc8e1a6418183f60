import { readFirstResults } from "@work-items/importer/checks/first-results.ts";
import { filterOption, ITEM_CSV_HEADER, itemCsvLine } from "@work-items/importer/files/item-csv.ts";
import { shownDay } from "@work-items/importer/proposals/shown-time.ts";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Page } from "work-items-client/http.ts";
import type { Field } from "@work-items/lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "@work-items/lib/work-items/work-item-fields.ts";
import { copyText } from "../../docs/copy.ts";
import { type Api, type Item, type Query } from "../parts/api.ts";
import {
  choiceOptions,
  fieldName,
  SHOWN_FIELDS,
  shownChoice,
  shownField,
  shownPerson,
  SUBJECT,
} from "../parts/field-names.ts";
import { ImportLink } from "./import-link.tsx";
import { Alert, Button, Choice, Heading, ItemStatus, List, saveFile, Table, TextField } from "../parts/parts.tsx";
import { countOf, shownBytes } from "../parts/shown.ts";
import { type LoadedList, useList, useWork } from "../parts/use-calls.ts";

const PAGE_ITEMS = 50;
/** The most that the service allows. */
const DOWNLOAD_PAGE_ITEMS = 100;
const FILE_NAME = "work-items.csv";

const FILTERS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(([, { filter }]) => filter !== undefined);

/** Names of the filters that aren't fields. */
const FILTER_NAMES: Readonly<Record<string, string>> = { from: "Completed from", to: "Completed until" };

/** A filter as the line of filters names it. */
function shownFilter(name: string, value: string): string {
  const label = FILTER_NAMES[name];
  if (label !== undefined) return `${label} ${shownDay(value)}`;
  return `${fieldName(name)} ${name === "status" ? shownChoice(value) : value}`;
}

/** The query of filters: from the start of the first day to the end of the last, in the browser's time zone. */
function toQuery({ from = "", to = "", ...filters }: Query): Query {
  const end = to === "" ? undefined : new Date(`${to}T00:00`);
  end?.setDate(end.getDate() + 1);
  return {
    ...filters,
    completed_from: from === "" ? "" : new Date(`${from}T00:00`).toISOString(),
    completed_to: end?.toISOString() ?? "",
  };
}

/** The loaded part of a list of items. @param status a sentence about it */
function ItemsList({ list, status }: { readonly list: LoadedList<Item>; readonly status: ComponentChildren }) {
  const hasSubjects = list.entries.some(({ short_description: subject }) => subject !== null);
  return (
    <List list={list} status={status}>
      <Table
        caption="Items"
        kind="list"
        columns={[
          fieldName("external_id"),
          ...(hasSubjects ? [fieldName(SUBJECT)] : []),
          ...SHOWN_FIELDS.map(([, { label }]) => label),
          "Agent",
        ]}
        rows={list.entries.map((item) => [
          <a key={item.id} href={`#item=${item.id}`}>
            {item.external_id}
          </a>,
          ...(hasSubjects ? [<span class="lines">{item.short_description}</span>] : []),
          ...SHOWN_FIELDS.map(([name, field]) =>
            name === "status" ? (
              <ItemStatus key={name} status={item.status} />
            ) : (
              shownField(field, item[name as keyof Item])
            ),
          ),
          shownPerson(item.agent),
        ])}
      />
    </List>
  );
}

/** How many items of a list are loaded: the number of all, once there are no more. */
function countedItems({ entries, more }: LoadedList<Item>): string {
  return `${more ? "First " : ""}${countOf(entries.length, "item")}`;
}

/** The IDs of the items that an import wrote or found unchanged, each once. */
async function readIds(api: Api, jobId: string) {
  const ids = new Set<string>();
  // A row that failed has no ID.
  const isWhole = await readFirstResults(api.uploads.results(jobId), ({ id }) => void (id !== "" && ids.add(id)));
  return { ids: [...ids], isWhole };
}

/** A sentence about the items of an import. @param read how many items it has, and whether all its rows were read */
function statusOfImported(list: LoadedList<Item>, { count, isWhole }: { count: number; isWhole: boolean }): string {
  const { entries, more } = list;
  if (count === 0) return "This import has no items. Open it to see what its rows did.";
  const deleted = more ? 0 : count - entries.length;
  const others = entries.length === 0 ? "" : "other ";
  return [
    ...(entries.length > 0 || more ? [`${countedItems(list)}, in the order of the file.`] : []),
    ...(deleted > 0 ? [`${countOf(deleted, `${others}item`)} deleted since.`] : []),
    ...(more || isWhole
      ? []
      : ["Items of later rows aren’t listed here. Download the import’s results for all of them."]),
  ].join(" ");
}

/** The items of an import as they are now, without those deleted since. */
function ImportedItems({ api, jobId }: { readonly api: Api; readonly jobId: string }) {
  const reading = useRef<ReturnType<typeof readIds>>(undefined);
  const [read, setRead] = useState({ count: 0, isWhole: true });
  const list = useList<Item>(async (cursor) => {
    reading.current ??= readIds(api, jobId).catch((error: unknown) => {
      reading.current = undefined;
      throw error;
    });
    const { ids, isWhole } = await reading.current;
    setRead({ count: ids.length, isWhole });
    const start = Number(cursor);
    const end = start + PAGE_ITEMS;
    const found = await Array.fromAsync(api.workItems.getMany({ ids: ids.slice(start, end) }));
    const page = { next: end < ids.length ? String(end) : undefined };
    return { data: found.flatMap(({ data }) => data ?? []), meta: { page } };
  });
  return (
    <>
      <Heading>Items of an import</Heading>
      <p>
        From <ImportLink api={api} id={jobId} /> · <a href="#items">All items</a>
      </p>
      <ItemsList list={list} status={statusOfImported(list, read)} />
    </>
  );
}

/** The most that a page downloads: browsers keep the file in memory until it is whole. */
const DOWNLOAD_MAX_BYTES = 200_000_000;

/**
 * All items that match a query, as CSV.
 * @param onProgress called with the number of items so far, page by page
 * @returns undefined if they are more than a browser holds
 */
async function downloadItems(api: Api, query: Query, onProgress: (items: number) => void): Promise<Blob | undefined> {
  const pages = [new Blob([`${ITEM_CSV_HEADER}\n`])];
  let [items, bytes] = [0, 0];
  for (let cursor: string | undefined = ""; cursor !== undefined;) {
    const asked: Query = { ...query, limit: String(DOWNLOAD_PAGE_ITEMS), cursor };
    const { data, meta }: Page<Item> = await api.list<Item>("v1/work_items", asked);
    const page = new Blob(data.map((item) => `${itemCsvLine(item)}\n`));
    pages.push(page);
    items += data.length;
    bytes += page.size;
    if (bytes > DOWNLOAD_MAX_BYTES) return undefined;
    onProgress(items);
    cursor = meta.page.next;
  }
  return new Blob(pages, { type: "text/csv" });
}

/** The command that exports all items that match a query. */
function exportCommand(query: Query): string {
  const filters = Object.entries(query).filter(([, value]) => value !== "");
  const options = filters.map(([name, value]) => ` ${filterOption(name)} '${value.replaceAll("'", String.raw`'\''`)}'`);
  return `work-items export${options.join("")} > ${FILE_NAME}`;
}

/** Downloads the items that match a query, or shows the command that does if they are too many. */
function Download({ api, query }: { readonly api: Api; readonly query: Query }) {
  const [items, setItems] = useState(0);
  const [command, setCommand] = useState<string>();
  const [copied, setCopied] = useState("Copy");
  const { isRunning, error, run } = useWork();
  const save = async (): Promise<void> => {
    setItems(0);
    setCommand(undefined);
    const file = await downloadItems(api, query, setItems);
    if (file) saveFile(FILE_NAME, file);
    else setCommand(exportCommand(query));
  };
  return (
    <>
      <span role="status">{isRunning && `${countOf(items, "item")} so far…`}</span>
      <Button disabled={isRunning} onClick={() => void run(save)}>
        Download these items (CSV)
      </Button>
      <Alert text={error} />
      {command !== undefined && (
        <div role="status">
          <p>
            These items are more than {shownBytes(DOWNLOAD_MAX_BYTES)}, which is the most that this page downloads.
            Export them with the command, which the documentation describes under Clients:
          </p>
          <pre tabIndex={0}>{command}</pre>
          <Button onClick={() => void copyText(command).then(setCopied)}>{copied}</Button>
        </div>
      )}
    </>
  );
}

/** A sentence about a list of items. */
function statusOf(list: LoadedList<Item>, isFiltered: boolean): ComponentChildren {
  const { entries, more } = list;
  const [next, link] = isFiltered ? ["#items", "Show all items"] : ["#import", "Import a file"];
  const none = isFiltered ? "No item matches these filters." : "No items yet.";
  if (entries.length === 0 && more) return "No such item so far. Choose Show more to look further.";
  const order = entries.length > 1 ? ", most recently completed first" : "";
  return (
    <>
      {entries.length > 0 ? `${countedItems(list)}${order}.` : none}{" "}
      {(isFiltered || entries.length === 0) && <a href={next}>{link}</a>}
    </>
  );
}

/** The list of items with its filters, and its export. @param shown the filters in the address */
function FilteredItems({ api, shown }: { readonly api: Api; readonly shown: Query }) {
  const [draft, setDraft] = useState(shown);
  const list = useList((cursor) =>
    api.list<Item>("v1/work_items", { ...toQuery(shown), limit: String(PAGE_ITEMS), cursor }),
  );
  const field = (name: string, label: string) => ({
    label,
    value: draft[name] ?? "",
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  const filters = Object.entries(draft).map(([name, value]) => [name, value.trim()] as const);
  const chosen = Object.fromEntries(filters.filter(([, value]) => value !== ""));
  const query = new URLSearchParams(chosen).toString();
  const filtering = Object.entries(shown).map(([name, value]) => shownFilter(name, value));
  const isFiltered = filtering.length > 0;
  const { entries, more, isLoading } = list;
  const isEmpty = entries.length === 0 && !more && !isLoading && list.error === undefined && !isFiltered;
  return (
    <>
      <div class="title">
        <Heading>Items</Heading>
        {entries.length > 0 && <Download api={api} query={toQuery(shown)} />}
      </div>
      <details hidden={isEmpty}>
        <summary>Filters{isFiltered && `: ${filtering.join(", ")}`}</summary>
        <form
          class="fields"
          aria-label="Filters"
          onSubmit={(event) => {
            event.preventDefault();
            location.hash = query === "" ? "#items" : `#items?${query}`;
          }}
        >
          <TextField {...field("external_id", fieldName("external_id"))} />
          {FILTERS.map(([name, { label, kind }]) =>
            kind.choices === undefined ? (
              <TextField key={name} {...field(name, label)} />
            ) : (
              <Choice key={name} {...field(name, label)} options={[["", "Any"], ...choiceOptions(kind.choices)]} />
            ),
          )}
          {Object.entries(FILTER_NAMES).map(([name, label]) => (
            <TextField key={name} {...field(name, label)} type="date" />
          ))}
          <button class="main">Apply filters</button>
        </form>
      </details>
      <ItemsList list={list} status={statusOf(list, isFiltered)} />
    </>
  );
}

/** Items: those of an import, or all that match filters. @param query the filters, as in the address */
export function ItemsView({ api, query }: { readonly api: Api; readonly query: string }) {
  const { upload, ...shown } = Object.fromEntries(new URLSearchParams(query));
  return upload === undefined ? <FilteredItems api={api} shown={shown} /> : <ImportedItems api={api} jobId={upload} />;
}
