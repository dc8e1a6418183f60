import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import type { Api, Item } from "./api.ts";
import { exportItems } from "./export-items.ts";
import { shownChoice } from "./field-names.ts";
import { useImportedItems } from "./imported-items.ts";
import { ItemsChart } from "./items-chart.tsx";
import { Alert, Choice, Heading, saveFile, Table, TextField } from "./parts.tsx";
import { choiceOptions } from "./reading-fields.tsx";
import { type LoadedList, useList } from "./use-list.ts";
import { countOf, sentenceOf, shownNumber, shownTime } from "./shown.ts";

type Filters = Readonly<Record<string, string>>;

/** Days of the browser's time zone as moments: the first begins, the last has ended. */
function toQuery({ from = "", to = "", ...filters }: Filters): Filters {
  const end = to === "" ? undefined : new Date(`${to}T00:00`);
  end?.setDate(end.getDate() + 1);
  return {
    ...filters,
    completed_from: from === "" ? "" : new Date(`${from}T00:00`).toISOString(),
    completed_to: end?.toISOString() ?? "",
  };
}

const FILTERS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(([, { filter }]) => filter !== undefined);

/** A list of items as far as it is loaded, with charts of it. @param status what is said of it */
function ItemsList({ list, status }: { readonly list: LoadedList<Item>; readonly status: ComponentChildren }) {
  const { entries, isLoading, error, more } = list;
  return (
    <>
      <Alert text={error} />
      <p role="status">{isLoading ? "Loading…" : error === undefined && status}</p>
      {entries.length > 0 && (
        <>
          <ItemsChart items={entries} />
          <Table
            caption="Items"
            columns={["External ID", "Type", "Status", "Completed", "Agent"]}
            rows={entries.map((item) => [
              <a key={item.id} href={`#item=${item.id}`}>
                {item.external_id}
              </a>,
              item.type,
              <span key={item.status} class={`status ${item.status}`}>
                {shownChoice(item.status)}
              </span>,
              shownTime(item.completed_at),
              item.agent.name ?? item.agent.email ?? item.agent.external_id ?? "",
            ])}
          />
        </>
      )}
      {more && (
        <button type="button" disabled={isLoading} onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}

/** The items of an import as they are now. */
function ImportedItems({ api, jobId }: { readonly api: Api; readonly jobId: string }) {
  const { count = 0, ...list } = useImportedItems(api, jobId);
  const { length } = list.entries;
  return (
    <>
      <Heading>Items of an import</Heading>
      <p>
        <a href={`#job=${jobId}`}>The import</a> · <a href="#items">All items</a>
      </p>
      <ItemsList
        list={list}
        status={count === 0 ? "This import has no items." : `${shownNumber(length)} of ${countOf(count, "item")}.`}
      />
    </>
  );
}

/** The list of items with its filters, and its export. @param query the filters, as in the address */
function FilteredItems({ api, shown }: { readonly api: Api; readonly shown: Filters }) {
  const [draft, setDraft] = useState(shown);
  const [exported, setExported] = useState<number>();
  const [exportError, setExportError] = useState<string>();
  const list = useList<Item>(api, "v1/work_items", { ...toQuery(shown), limit: "50" });
  const { entries, more } = list;
  const set = (name: string) => (value: string) => setDraft({ ...draft, [name]: value });
  const given = Object.entries(draft).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  const isApplied = query === new URLSearchParams(shown).toString();

  const save = async (): Promise<void> => {
    setExported(0);
    setExportError(undefined);
    try {
      saveFile("work-items.csv", await exportItems(api, toQuery(draft), setExported));
    } catch (caught) {
      setExportError(sentenceOf(caught));
    }
    setExported(undefined);
  };
  const isFiltered = Object.keys(shown).length > 0;
  const empty = isFiltered ? (
    <>
      No item matches these filters. <a href="#items">Show all items</a>
    </>
  ) : (
    <>
      No items yet. <a href="#import">Import a file</a> to create some.
    </>
  );
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
        <TextField
          label="External ID"
          value={draft["external_id"] ?? ""}
          onChange={(value) => set("external_id")(value.trim())}
        />
        {FILTERS.map(([name, { label, kind }]) => {
          const props = { label, value: draft[name] ?? "" };
          return kind.choices === undefined ? (
            <TextField key={name} {...props} onChange={(value) => set(name)(value.trim())} />
          ) : (
            <Choice
              key={name}
              {...props}
              options={[["", "Any"], ...choiceOptions(kind.choices)]}
              onChange={set(name)}
            />
          );
        })}
        <TextField label="Completed from" type="date" value={draft["from"] ?? ""} onChange={set("from")} />
        <TextField label="Completed until" type="date" value={draft["to"] ?? ""} onChange={set("to")} />
        <p class="buttons">
          <button class="main">Show</button>
          <button type="button" disabled={exported !== undefined} onClick={() => void save()}>
            Export as CSV
          </button>
        </p>
      </form>
      <Alert text={exportError} />
      {exported !== undefined && <p role="status">Exporting, {shownNumber(exported)} items so far…</p>}
      {!isApplied && <p class="unchecked">The list doesn’t show these filters yet: choose Show. Export uses them.</p>}
      <ItemsList
        list={list}
        status={
          entries.length > 0
            ? `${countOf(entries.length, "item")}${more ? " so far" : ""}, newest completion first.`
            : more
              ? "None so far; there are more to look through."
              : empty
        }
      />
    </>
  );
}

/** Items: those of an import, or all that match filters. @param query the filters, as in the address */
export function ItemsView({ api, query }: { readonly api: Api; readonly query: string }) {
  const { upload, ...shown } = Object.fromEntries(new URLSearchParams(query));
  return upload === undefined ? <FilteredItems api={api} shown={shown} /> : <ImportedItems api={api} jobId={upload} />;
}
