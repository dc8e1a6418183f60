import type { ComponentChildren } from "preact";
import { ATTRIBUTE_PREFIX } from "@work-items/lib/uploads/csv/target.ts";
import { type Api, hasStatus, type Item, type ItemEvent } from "../parts/api.ts";
import { labelOf, SHOWN_FIELDS, shownField, shownPerson, shownValue, SUBJECT } from "../parts/field-names.ts";
import { ImportLink, importOf } from "./import-link.tsx";
import { Ago, type Fact, Facts, Heading, ItemStatus, List, Loading } from "../parts/parts.tsx";
import { shownStart, shownTime } from "../parts/shown.ts";
import { useList, useLoaded } from "../parts/use-calls.ts";

const TITLE_CHARACTERS = 160;
/** Longer values take a line of their own. */
const CELL_CHARACTERS = 60;

function timeOf({ occurred_at: occurred, created_at: created }: ItemEvent): string {
  return occurred ?? created;
}

/** The events of an item in the order in which they happened. */
function Timeline({ api, id }: { readonly api: Api; readonly id: string }) {
  const list = useList((cursor) => api.list<ItemEvent>(`v1/work_items/${id}/events`, { limit: "100", cursor }));
  const ordered = list.entries.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)));
  const empty = (
    <>
      No events yet. To add some, <a href="#import">import a file</a> in which each row is an event.
    </>
  );
  return (
    <section aria-labelledby="events">
      <h2 id="events">Events</h2>
      <List list={list} status={ordered.length === 0 && empty}>
        <ol class="timeline">
          {ordered.map((event) => (
            <li key={event.id}>
              <p class="note">
                {shownPerson(event.actor) !== "" && (
                  <>
                    <b>{shownPerson(event.actor)}</b> ·{" "}
                  </>
                )}
                <time dateTime={timeOf(event)}>{shownTime(timeOf(event))}</time> · {event.external_id}
                {event.deleted_at !== undefined && ` · deleted ${shownTime(event.deleted_at)}`}
              </p>
              <p>{event.content ?? "(no content)"}</p>
            </li>
          ))}
        </ol>
      </List>
    </section>
  );
}

/** Whether a fact takes a line of its own. */
function isLong(fact: ComponentChildren): boolean {
  return typeof fact === "string" && (fact.length > CELL_CHARACTERS || fact.includes("\n"));
}

/** Names and values, without those that are empty. */
function FilledFacts({ facts }: { readonly facts: readonly Fact[] }) {
  const filled = facts.filter(([, fact]) => fact !== "");
  return <Facts kind="facts" facts={filled.map(([name, fact]) => [name, fact, isLong(fact) ? "long" : undefined])} />;
}

/** A value of an attribute: lists of texts as people write them, anything else as it was sent. */
function shownAttribute(value: unknown): string {
  if (value === null) return "";
  const isList = Array.isArray(value) && value.every((each) => each === null || typeof each !== "object");
  return isList ? value.map(shownValue).join(", ") : shownValue(value);
}

const NOT_KNOWN = "This item doesn’t exist. It may have been deleted. Look for it in the list.";

/** One item with its attributes and events. @param list address of the list from which it was opened, with its filters */
export function ItemView({ api, id, list }: { readonly api: Api; readonly id: string; readonly list: string }) {
  const { value, error, again } = useLoaded(() =>
    api.get<{ readonly data: Item }>(`v1/work_items/${encodeURIComponent(id)}`).catch((caught: unknown) => {
      throw hasStatus(caught, 404) ? new Error(NOT_KNOWN) : caught;
    }),
  );
  const { value: importId } = useLoaded(async (signal) => value && importOf(api, value.data, signal), [value]);
  const back = (
    <p>
      <a href={list}>Back to the list</a>
    </p>
  );
  if (!value) {
    const isMissing = error === NOT_KNOWN;
    return (
      <>
        {back}
        <Loading key={isMissing} error={error} onAgain={isMissing ? undefined : again}>
          {isMissing ? "Item not found" : "Item"}
        </Loading>
      </>
    );
  }
  const { data: item } = value;
  const { agent, short_description: subject } = item;
  const title = subject === null || subject.trim() === "" ? undefined : shownStart(subject, TITLE_CHARACTERS);
  const isShown = (name: string): boolean => ATTRIBUTE_PREFIX + name === SUBJECT && title === subject;
  const attributes = Object.entries(item.custom_attributes).filter(([name]) => !isShown(name));
  const facts: readonly Fact[] = [
    ["Agent", [agent.name, agent.email, agent.external_id].filter(Boolean).join(", ")],
    ...SHOWN_FIELDS.filter(([name]) => name !== "status").map(
      ([name, field]) => [field.label, shownField(field, item[name as keyof Item])] as const,
    ),
    ["QA score", shownValue(item.qa_score ?? "")],
    [
      "Created",
      <>
        <Ago time={item.created_at} />
        {importId !== undefined && (
          <>
            {" "}
            by the import of <ImportLink api={api} id={importId} />
          </>
        )}
      </>,
    ],
    ["Changed", <Ago key="changed" time={item.updated_at} />],
    ["ID in the API", <code>{item.id}</code>],
  ];
  return (
    <>
      {back}
      <div class="title">
        <Heading>{title ?? item.external_id}</Heading>
        {title !== undefined && <span>{item.external_id}</span>}
        <ItemStatus status={item.status} />
      </div>
      <FilledFacts facts={facts} />
      {attributes.length > 0 && (
        <section aria-labelledby="attributes">
          <h2 id="attributes">From the source system</h2>
          <FilledFacts
            facts={attributes.map(([name, each]) => [labelOf(ATTRIBUTE_PREFIX + name), shownAttribute(each)])}
          />
        </section>
      )}
      <Timeline api={api} id={item.id} />
    </>
  );
}
