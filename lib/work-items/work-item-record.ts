import type { Attributes, RecordKey, StoredRecord } from "../aws/versioned-record.ts";
import { workItemEventId, workItemId } from "../identity.ts";
import { type JsonObject, parseJson } from "../json.ts";
import type { Organization } from "../organizations/organization.ts";
import type { Person, WorkItem, WorkItemEvent, WorkItemEventResponse, WorkItemResponse } from "./work-item.ts";

/** Which row of which upload job wrote the item last, so that a replay of the job skips what it has done. */
export interface UploadMark {
  readonly job: string;
  /** Number of the last row of that job that was applied to the item. */
  readonly row: number;
  /** Rows before it that could not be applied. */
  readonly failed: readonly number[];
}

/** As it is stored: job, row and failed rows with spaces between them. */
export const formatUploadMark = ({ job, row, failed }: UploadMark): string => [job, row, ...failed].join(" ");

export const uploadMarkOf = (record: StoredRecord | undefined): UploadMark | undefined => {
  const stored = record?.["upload_mark"];
  if (typeof stored !== "string") return undefined;
  const [job, ...rows] = stored.split(" ");
  const [row, ...failed] = rows.map(Number);
  return { job: job!, row: row!, failed };
};

/** The key and the hashes of an idempotent create, kept on the item that it made. */
export interface CreateKey {
  readonly key: string;
  readonly body: string;
}

export const ITEM_SORT_KEY = "#ITEM";
export const EVENT_SORT_KEY_PREFIX = "EVENT#";

export const partitionOf = (organization: string, id: string): string => `ITEM#${organization}#${id}`;

export const itemKey = (organization: string, id: string): RecordKey => ({
  pk: partitionOf(organization, id),
  sk: ITEM_SORT_KEY,
});

export const itemKeyOf = (organization: string, externalId: string): RecordKey =>
  itemKey(organization, workItemId(organization, externalId));

export const eventKeyOf = (organization: string, itemId: string, eventExternalId: string): RecordKey => ({
  pk: partitionOf(organization, itemId),
  sk: `${EVENT_SORT_KEY_PREFIX}${workItemEventId(itemId, eventExternalId)}`,
});

const idOf = (key: string): string => key.slice(key.lastIndexOf("#") + 1);
/** The item's id, which is the end of its partition key. */
export const itemIdOf = (record: RecordKey): string => idOf(record.pk);

export const WORK_ITEM_LISTING = "LIST_ITEM";

/**
 * Place in the list, descending: items with `completed_at` before the others, newest first, ties by id.
 * `2#<completed_at>#<id>` or `1#<created_at>#<id>`.
 */
export const placeOf = (item: WorkItem, id: string): string =>
  item.completed_at === null ? `1#${item.created_at}#${id}` : `2#${item.completed_at}#${id}`;

/** The shard is taken from the id, which is a hash already. */
export const listingPartition = (kind: string, organization: Pick<Organization, "id" | "listingShards">, id: string) =>
  `${kind}#${organization.id}#${Number.parseInt(id.slice(0, 8), 16) % organization.listingShards}`;

const FIELDS = [
  "external_id",
  "agent_email",
  "agent_name",
  "agent_external_id",
  "type",
  "status",
  "completed_at",
  "custom_attributes",
  "created_at",
  "updated_at",
  "deleted_at",
  "qa_score",
] as const satisfies (keyof WorkItem)[];

const EVENT_FIELDS = [
  "external_id",
  "actor_email",
  "actor_name",
  "actor_external_id",
  "content",
  "occurred_at",
  "created_at",
] as const satisfies (keyof WorkItemEvent)[];

/** What is not stored is null. */
const pick = (record: Attributes, fields: readonly string[]): Attributes =>
  Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));

/** The stored fields that rules read; null where there is no such item. */
export const workItemFrom = (record: StoredRecord | undefined): WorkItem | null =>
  record === undefined ? null : (pick(record, FIELDS) as unknown as WorkItem);

const eventFrom = (record: StoredRecord): WorkItemEvent => pick(record, EVENT_FIELDS) as unknown as WorkItemEvent;

export const workItemEventFrom = (record: StoredRecord | undefined): WorkItemEvent | null =>
  record === undefined ? null : eventFrom(record);

/** An event and where it is stored: the end of its sort key is its id. */
export type KeyedEvent = RecordKey & WorkItemEvent;

export const keyedEventFrom = (record: StoredRecord): KeyedEvent => ({
  pk: record.pk,
  sk: record.sk,
  ...eventFrom(record),
});

/** The attributes of an item's record: its fields, and its place in the list while it is not deleted. */
export const attributesOf = (organization: Organization, id: string, item: WorkItem): Attributes => ({
  ...item,
  listing_pk: item.deleted_at === null ? listingPartition(WORK_ITEM_LISTING, organization, id) : undefined,
  listing_sk: item.deleted_at === null ? placeOf(item, id) : undefined,
});

const person = (name: string | null, email: string | null, externalId: string | null): Person => ({
  id: null,
  name,
  email,
  external_id: externalId,
  avatar_url: null,
});

const textOf = (attributes: JsonObject, name: string): string | null => {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : null;
  return typeof value === "string" ? value : null;
};

export const toWorkItemResponse = (id: string, item: WorkItem): WorkItemResponse => {
  const attributes = parseJson(item.custom_attributes) as JsonObject;
  const agent = person(item.agent_name, item.agent_email, item.agent_external_id);
  const known = agent.name !== null || agent.email !== null || agent.external_id !== null;
  return {
    id,
    external_id: item.external_id,
    agent,
    agents: known ? [agent] : [],
    type: item.type,
    status: item.status,
    short_description: textOf(attributes, "short_description"),
    description: textOf(attributes, "description"),
    completed_at: item.completed_at,
    custom_attributes: attributes,
    created_at: item.created_at,
    updated_at: item.updated_at,
    qa_score: item.qa_score,
  };
};

export const toEventResponse = (event: KeyedEvent): WorkItemEventResponse => ({
  id: idOf(event.sk),
  external_id: event.external_id,
  actor: person(event.actor_name, event.actor_email, event.actor_external_id),
  ...(event.content !== null && { content: event.content }),
  ...(event.occurred_at !== null && { occurred_at: event.occurred_at }),
  created_at: event.created_at,
});
