import type { JsonObject } from "../json.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { createShow, personFields } from "./field-definition.ts";
import type { Person, WorkItem, WorkItemEventResponse, WorkItemResponse } from "./work-item.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "./work-item-fields.ts";
import { eventIdOf, type KeyedEvent } from "./work-item-record.ts";

const showItemFields = createShow(WORK_ITEM_FIELDS);
const showEventFields = createShow(EVENT_FIELDS);

const NO_PERSON: Person = { id: null, name: null, email: null, external_id: null, avatar_url: null };
/** Makes the function that shows a person. @param fields names of stored fields, by their names in responses */
function createPerson<N extends string>(fields: Readonly<Record<string, N>>) {
  const entries = Object.entries(fields);
  return (stored: Readonly<Record<N, string | null>>): Person => {
    const person: Record<string, string | null> & Person = { ...NO_PERSON };
    for (const [key, name] of entries) person[key] = stored[name];
    return person;
  };
}
const agentOf = createPerson(personFields(WORK_ITEM_FIELDS, "agent"));
const actorOf = createPerson(personFields(EVENT_FIELDS, "actor"));

function textOf(attributes: JsonObject, name: string): string | null {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : null;
  return typeof value === "string" ? value : null;
}

/** @throws MalformedRecordError if `custom_attributes` isn't a JSON object */
function showFieldsOf(id: string, item: WorkItem) {
  try {
    return showItemFields(item);
  } catch (error) {
    throw new MalformedRecordError(
      "work item",
      { pk: id, sk: item.external_id },
      `custom_attributes: ${String(error)}`,
    );
  }
}

/** An item in responses, without its events. @throws MalformedRecordError */
export function toWorkItemResponse(id: string, item: WorkItem): WorkItemResponse {
  const agent = agentOf(item);
  const isKnown = Object.values(agent).some((value) => value !== null);
  const fields = showFieldsOf(id, item);
  return {
    id,
    external_id: item.external_id,
    agent,
    agents: isKnown ? [agent] : [],
    ...fields,
    short_description: textOf(fields.custom_attributes, "short_description"),
    description: textOf(fields.custom_attributes, "description"),
    created_at: item.created_at,
    updated_at: item.updated_at,
    qa_score: item.qa_score,
  };
}

/** An event in responses; fields without a value are absent. */
export function toEventResponse(event: KeyedEvent): WorkItemEventResponse {
  return {
    id: eventIdOf(event),
    external_id: event.external_id,
    actor: actorOf(event),
    ...Object.fromEntries(Object.entries(showEventFields(event)).filter(([, value]) => value !== null)),
    ...(event.deleted_at !== null && { deleted_at: event.deleted_at }),
    created_at: event.created_at,
  };
}
