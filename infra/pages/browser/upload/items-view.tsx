import { useState } from "preact/hooks";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import type { Api, Item } from "./api.ts";
import { exportItems } from "./export-items.ts";
import { Alert, Choice, Heading, saveFile, Table, TextField } from "./parts.tsx";
import { choiceOptions } from "./reading-fields.tsx";
import { useList } from "./use-list.ts";
import { sentenceOf, shownNumber, shownTime } from "./shown.ts";

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

/** The list of items with its filters, and its export. @param query the filters, as in the address */
export function ItemsView({ api, query }: { readonly api: Api; readonly query: string }) {
  const shown: Filters = Object.fromEntries(new URLSearchParams(query));
  const [draft, setDraft] = useState(shown);
  const filters = toQuery(shown);
  const [exported, setExported] = useState<number>();
  const [exportError, setExportError] = useState<string>();
  const { entries, isLoading, error, more } = useList<Item>(api, "v1/work_items", { ...filters, limit: "50" });
  const set = (name: string) => (value: string) => setDraft({ ...draft, [name]: value });

  const save = async (): Promise<void> => {
    setExported(0);
    setExportError(undefined);
    try {
      saveFile("work-items.csv", await exportItems(api, filters, setExported));
    } catch (caught) {
      setExportError(sentenceOf(caught));
    }
    setExported(undefined);
  };

  return (
    <>
      <Heading>Items</Heading>
      <form
        class="fields"
        aria-label="Filters"
        onSubmit={(event) => {
          event.preventDefault();
          const given = Object.entries(draft).filter(([, value]) => value !== "");
          location.hash = given.length === 0 ? "#items" : `#items?${new URLSearchParams(given).toString()}`;
        }}
      >
        <TextField
          label="External ID"
          value={draft["external_id"] ?? ""}
          onChange={(value) => set("external_id")(value.trim())}
        />
        {FILTERS.map(
          ([
            name,
            {
              label,
              kind: { choices },
            },
          ]) => {
            const props = { label, value: draft[name] ?? "" };
            return choices === undefined ? (
              <TextField key={name} {...props} onChange={(value) => set(name)(value.trim())} />
            ) : (
              <Choice key={name} {...props} options={[["", "any"], ...choiceOptions(choices)]} onChange={set(name)} />
            );
          },
        )}
        <TextField label="Completed from" type="date" value={draft["from"] ?? ""} onChange={set("from")} />
        <TextField label="Completed until" type="date" value={draft["to"] ?? ""} onChange={set("to")} />
        <p class="buttons">
          <button class="main">Show</button>
          <button type="button" disabled={exported !== undefined} onClick={() => void save()}>
            Export as CSV
          </button>
        </p>
      </form>
      <Alert text={error ?? exportError} />
      <p role="status">
        {exported !== undefined
          ? `Exporting, ${shownNumber(exported)} items so far…`
          : isLoading
            ? "Loading…"
            : entries.length === 0 && error === undefined
              ? more
                ? "None so far; there are more to look through."
                : "No item matches."
              : `${shownNumber(entries.length)} items${more ? " so far" : ""}, newest completion first.`}
      </p>
      {entries.length > 0 && (
        <Table
          caption="Items"
          columns={["External ID", "Type", "Status", "Completed", "Agent"]}
          rows={entries.map((item) => [
            <a key={item.id} href={`#item=${item.id}`}>
              {item.external_id}
            </a>,
            item.type,
            item.status.replace("_", " "),
            shownTime(item.completed_at),
            item.agent.name ?? item.agent.email ?? item.agent.external_id ?? "",
          ])}
        />
      )}
      {more && (
        <button type="button" disabled={isLoading} onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}
