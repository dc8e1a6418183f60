import { ITEM_CSV_HEADER, itemCsvLine } from "@work-items/importer/files/item-csv.ts";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { entriesOf } from "work-items-client/http.ts";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import { type Api, type Item, type Query } from "./api.ts";
import { choiceOptions, SHOWN_FIELDS, shownField, shownValue } from "./field-names.ts";
import { ItemsChart } from "./charts.tsx";
import { Alert, Button, Choice, Heading, List, saveFile, Table, TextField } from "./parts.tsx";
import { countOf, shownNumber } from "./shown.ts";
import { type LoadedList, useList, useWork } from "./use-calls.ts";

const PAGE_ITEMS = 50;
/** The most that the service allows. */
const EXPORT_PAGE_ITEMS = 100;

const FILTERS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(([, { filter }]) => filter !== undefined);

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

/** The loaded part of a list of items, with charts. @param status a sentence about it */
function ItemsList({ list, status }: { readonly list: LoadedList<Item>; readonly status: ComponentChildren }) {
  return (
    <List list={list} status={status}>
      <ItemsChart items={list.entries} />
      <Table
        caption="Items"
        columns={["External ID", ...SHOWN_FIELDS.map(([, { label }]) => label), "Agent"]}
        rows={list.entries.map((item) => [
          <a key={item.id} href={`#item=${item.id}`}>
            {item.external_id}
          </a>,
          ...SHOWN_FIELDS.map(([name, field]) => {
            const value = item[name as keyof Item];
            const text = shownField(field, value);
            return field.kind.choices && text !== "" ? <span class={`status ${shownValue(value)}`}>{text}</span> : text;
          }),
          item.agent.name ?? item.agent.email ?? item.agent.external_id ?? "",
        ])}
      />
    </List>
  );
}

/** The IDs of the items that an import wrote or found unchanged, each once. Results are row, external_id, id, outcome. */
async function readIds(api: Api, jobId: string): Promise<string[]> {
  const ids = new Set<string>();
  // A row that failed has no ID.
  await api.readResults(jobId, ([, , id = ""]) => void (id !== "" && ids.add(id)));
  return [...ids];
}

/** The items of an import as they are now, without those deleted since. */
function ImportedItems({ api, jobId }: { readonly api: Api; readonly jobId: string }) {
  const reading = useRef<Promise<string[]>>(undefined);
  const [count, setCount] = useState(0);
  const list = useList<Item>(async (cursor) => {
    const ids = await (reading.current ??= readIds(api, jobId));
    setCount(ids.length);
    const start = Number(cursor);
    const end = start + PAGE_ITEMS;
    const found = await Array.fromAsync(api.workItems.getMany({ ids: ids.slice(start, end) }));
    const page = { next: end < ids.length ? String(end) : undefined };
    return { data: found.flatMap(({ data }) => data ?? []), meta: { page } };
  });
  const shown = `${shownNumber(list.entries.length)} of ${countOf(count, "item")}.`;
  return (
    <>
      <Heading>Items of an import</Heading>
      <p>
        <a href={`#job=${jobId}`}>The import</a> · <a href="#items">All items</a>
      </p>
      <ItemsList list={list} status={count === 0 ? "This import has no items." : shown} />
    </>
  );
}

/** All items that match a query, as CSV. @param onProgress called with the number of items so far, page by page */
async function exportItems(api: Api, query: Query, onProgress: (items: number) => void): Promise<Blob> {
  const lines = [`${ITEM_CSV_HEADER}\n`];
  const pages = { ...query, limit: String(EXPORT_PAGE_ITEMS) };
  for await (const item of entriesOf((cursor) => api.list<Item>("v1/work_items", { ...pages, ...cursor }))) {
    const count = lines.push(`${itemCsvLine(item)}\n`) - 1;
    if (count % EXPORT_PAGE_ITEMS === 0) onProgress(count);
  }
  return new Blob(lines, { type: "text/csv" });
}

/** A sentence about a list of items. */
function statusOf({ entries, more }: LoadedList<Item>, isFiltered: boolean): ComponentChildren {
  if (entries.length > 0) {
    const count = more ? `First ${shownNumber(entries.length)} of many items` : countOf(entries.length, "item");
    return `${count}, most recently completed first.`;
  }
  if (more) return "None so far; there are more to look through.";
  return isFiltered ? (
    <>
      No item matches these filters. <a href="#items">Show all items</a>
    </>
  ) : (
    <>
      No items yet. <a href="#import">Import a file</a> to create some.
    </>
  );
}

/** The list of items with its filters, and its export. @param shown the filters in the address */
function FilteredItems({ api, shown }: { readonly api: Api; readonly shown: Query }) {
  const [draft, setDraft] = useState(shown);
  const [exported, setExported] = useState(0);
  const { isRunning: isExporting, error, run } = useWork();
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
  const isApplied = query === new URLSearchParams(shown).toString();
  const save = async (): Promise<void> => {
    setExported(0);
    saveFile("work-items.csv", await exportItems(api, toQuery(chosen), setExported));
  };
  return (
    <>
      <Heading>Items</Heading>
      <form
        class="fields"
        aria-label="Filters"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = query === "" ? "#items" : `#items?${query}`;
        }}
      >
        <TextField {...field("external_id", "External ID")} />
        {FILTERS.map(([name, { label, kind }]) =>
          kind.choices === undefined ? (
            <TextField key={name} {...field(name, label)} />
          ) : (
            <Choice key={name} {...field(name, label)} options={[["", "Any"], ...choiceOptions(kind.choices)]} />
          ),
        )}
        <TextField {...field("from", "Completed from")} type="date" />
        <TextField {...field("to", "Completed until")} type="date" />
        <p class="buttons">
          <button class="main">Apply filters</button>
          <Button disabled={isExporting} onClick={() => void run(save)}>
            Export as CSV
          </Button>
        </p>
      </form>
      <Alert text={error} />
      {isExporting && <p role="status">Exporting, {shownNumber(exported)} items so far…</p>}
      {!isApplied && (
        <p class="unchecked">The list doesn’t use these filters yet: choose Apply filters. Export uses them.</p>
      )}
      <ItemsList list={list} status={statusOf(list, Object.keys(shown).length > 0)} />
    </>
  );
}

/** Items: those of an import, or all that match filters. @param query the filters, as in the address */
export function ItemsView({ api, query }: { readonly api: Api; readonly query: string }) {
  const { upload, ...shown } = Object.fromEntries(new URLSearchParams(query));
  return upload === undefined ? <FilteredItems api={api} shown={shown} /> : <ImportedItems api={api} jobId={upload} />;
}
