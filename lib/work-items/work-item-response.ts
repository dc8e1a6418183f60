import type { JsonObject } from "../json.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { createShow } from "./field-definition.ts";
import type { Person, WorkItem, WorkItemEventResponse, WorkItemResponse } from "./work-item.ts";
import { WORK_ITEM_FIELDS } from "./work-item-fields.ts";
import { eventIdOf, type KeyedEvent } from "./work-item-record.ts";

const showFields = createShow(WORK_ITEM_FIELDS);

function person(name: string | null, email: string | null, externalId: string | null): Person {
  return {
    id: null,
    name,
    email,
    external_id: externalId,
    avatar_url: null,
  };
}

function textOf(attributes: JsonObject, name: string): string | null {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : null;
  return typeof value === "string" ? value : null;
}

/** @throws MalformedRecordError if `custom_attributes` is not the text of a JSON object */
function showFieldsOf(id: string, item: WorkItem) {
  try {
    return showFields(item);
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
  const agent = person(item.agent_name, item.agent_email, item.agent_external_id);
  const isKnown = agent.name !== null || agent.email !== null || agent.external_id !== null;
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
    actor: person(event.actor_name, event.actor_email, event.actor_external_id),
    ...(event.content !== null && { content: event.content }),
    ...(event.occurred_at !== null && { occurred_at: event.occurred_at }),
    created_at: event.created_at,
  };
}
