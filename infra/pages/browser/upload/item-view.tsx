import { useEffect, useState } from "preact/hooks";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import type { Api, Item, ItemEvent } from "./api.ts";
import { shownChoice } from "./field-names.ts";
import { Alert, Heading } from "./parts.tsx";
import { useList } from "./use-list.ts";
import { sentenceOf, shownTime } from "./shown.ts";

function shownValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function timeOf({ occurred_at: occurred, created_at: created }: ItemEvent): string {
  return occurred ?? created;
}

/** The events of an item in the order in which they happened. */
function Timeline({ api, id }: { readonly api: Api; readonly id: string }) {
  const { entries, isLoading, error, more } = useList<ItemEvent>(api, `v1/work_items/${id}/events`, { limit: "100" });
  const ordered = entries.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)));
  return (
    <section aria-labelledby="events">
      <h2 id="events">Events</h2>
      <Alert text={error} />
      <ol class="timeline">
        {ordered.map((event) => (
          <li key={event.id}>
            <time dateTime={timeOf(event)}>{shownTime(timeOf(event))}</time>
            <p>{event.content ?? "(no content)"}</p>
            <p class="note">
              {[event.actor.name ?? event.actor.email ?? event.actor.external_id, event.external_id]
                .filter(Boolean)
                .join(" · ")}
            </p>
          </li>
        ))}
      </ol>
      <p role="status">
        {isLoading ? "Loading…" : entries.length === 0 && error === undefined ? "There are no events." : ""}
      </p>
      {more && (
        <button type="button" disabled={isLoading} onClick={more}>
          Show more
        </button>
      )}
    </section>
  );
}

const FIELDS: readonly (readonly [string, Field])[] = Object.entries(WORK_ITEM_FIELDS);

/** The names and values of an item's fields, but for those of its agent and its attributes. */
function fieldsOf(item: Item): (readonly [string, string])[] {
  const values: Readonly<Record<string, unknown>> = item;
  return FIELDS.filter(([, { kind, person }]) => kind.name !== "json" && person === undefined).map(
    ([name, { kind, label }]) => {
      const value = values[name] ?? null;
      const text = value === null ? "" : shownValue(value);
      if (kind.name === "time") return [label, shownTime(text || null)];
      return [label, kind.name === "choice" ? shownChoice(text) : text];
    },
  );
}

/** One item with its attributes and events. */
export function ItemView({
  api,
  id,
  list,
}: {
  readonly api: Api;
  readonly id: string;
  /** Address of the list from which it was opened, with its filters. */
  readonly list: string;
}) {
  const [item, setItem] = useState<Item>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    api
      .get<{ readonly data: Item }>(`v1/work_items/${encodeURIComponent(id)}`)
      .then(({ data }) => setItem(data))
      .catch((caught: unknown) => setError(sentenceOf(caught)));
  }, [api, id]);
  if (!item) {
    return (
      <>
        <Heading>Item</Heading>
        <Alert text={error} />
        {error === undefined && <p role="status">Loading…</p>}
      </>
    );
  }
  const { agent } = item;
  const shown: readonly (readonly [string, string])[] = [
    ...fieldsOf(item),
    ["Agent", [agent.name, agent.email, agent.external_id].filter(Boolean).join(", ")],
    ["QA score", item.qa_score === null ? "" : String(item.qa_score)],
    ["Created", shownTime(item.created_at)],
    ["Changed", shownTime(item.updated_at)],
    ["ID", item.id],
  ];
  const attributes = Object.entries(item.custom_attributes).map(([name, value]) => [name, shownValue(value)] as const);
  return (
    <>
      <p>
        <a href={list}>Back to the list</a>
      </p>
      <Heading>{item.external_id}</Heading>
      <dl class="facts">
        {[...shown.filter(([, value]) => value !== ""), ...attributes].map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Timeline api={api} id={item.id} />
    </>
  );
}
