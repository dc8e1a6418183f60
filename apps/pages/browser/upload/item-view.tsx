import { type Api, hasStatus, type Item, type ItemEvent } from "./api.ts";
import { SHOWN_FIELDS, shownField, shownValue } from "./field-names.ts";
import { Heading, List, Loading } from "./parts.tsx";
import { shownTime } from "./shown.ts";
import { useList, useLoaded } from "./use-calls.ts";

function timeOf({ occurred_at: occurred, created_at: created }: ItemEvent): string {
  return occurred ?? created;
}

/** The events of an item in the order in which they happened. */
function Timeline({ api, id }: { readonly api: Api; readonly id: string }) {
  const list = useList((cursor) => api.list<ItemEvent>(`v1/work_items/${id}/events`, { limit: "100", cursor }));
  const ordered = list.entries.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)));
  return (
    <section aria-labelledby="events">
      <h2 id="events">Events</h2>
      <List list={list} status={ordered.length === 0 && "There are no events."}>
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
      </List>
    </section>
  );
}

const NOT_KNOWN = "There is no item at this address. It may have been deleted.";

/** One item with its attributes and events. @param list address of the list from which it was opened, with its filters */
export function ItemView({ api, id, list }: { readonly api: Api; readonly id: string; readonly list: string }) {
  const { value, error } = useLoaded(() =>
    api.get<{ readonly data: Item }>(`v1/work_items/${encodeURIComponent(id)}`).catch((caught: unknown) => {
      throw hasStatus(caught, 404) ? new Error(NOT_KNOWN) : caught;
    }),
  );
  if (!value) return <Loading error={error}>Item</Loading>;
  const { data: item } = value;
  const { agent } = item;
  const shown: readonly (readonly [string, string])[] = [
    ...SHOWN_FIELDS.map(([name, field]) => [field.label, shownField(field, item[name as keyof Item])] as const),
    ["Agent", [agent.name, agent.email, agent.external_id].filter(Boolean).join(", ")],
    ["QA score", shownValue(item.qa_score ?? "")],
    ["Created", shownTime(item.created_at)],
    ["Changed", shownTime(item.updated_at)],
    ["ID", item.id],
  ];
  const attributes = Object.entries(item.custom_attributes).map(([name, each]) => [name, shownValue(each)] as const);
  return (
    <>
      <p>
        <a href={list}>Back to the list</a>
      </p>
      <Heading>{item.external_id}</Heading>
      <dl class="facts">
        {[...shown.filter(([, text]) => text !== ""), ...attributes].map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Timeline api={api} id={item.id} />
    </>
  );
}
