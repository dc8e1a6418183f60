import { useState } from "preact/hooks";
import type { Api, Item } from "./api.ts";
import { exportItems } from "./export-items.ts";
import { Alert, Choice, Heading, saveFile, Table, TextField } from "./parts.tsx";
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

const FIELDS = [
  ["external_id", "External ID"],
  ["type", "Type"],
  ["agent_email", "Agent’s email"],
  ["agent_external_id", "Agent’s ID"],
] as const;
const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;

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
        <Choice
          label="Status"
          value={draft["status"] ?? ""}
          options={[["", "any"], ...STATUSES.map((status) => [status, status.replace("_", " ")] as const)]}
          onChange={set("status")}
        />
        {FIELDS.map(([name, label]) => (
          <TextField key={name} label={label} value={draft[name] ?? ""} onChange={(value) => set(name)(value.trim())} />
        ))}
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
