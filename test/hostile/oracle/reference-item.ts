/**
 * What the service does to one work item, written from docs/reference alone: it shares no code with the service.
 * All values are immutable, so that a search over orders of calls can keep many of them.
 */

/** A time that is known to lie between two others, which are in ISO 8601 with milliseconds. */
export class Span {
  readonly from: string;
  readonly to: string;

  constructor(from: string, to: string) {
    this.from = from;
    this.to = to;
  }
  has(time: string): boolean {
    return this.from <= time && time <= this.to;
  }
  toJSON(): string {
    return `${this.from}/${this.to}`;
  }
  toString(): string {
    return this.from;
  }
}
/** When something happened, as far as is known. */
export type Time = string | Span;

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A work item as a caller sends it. A field that is left out keeps its value. */
export interface ItemInput {
  readonly external_id: string;
  readonly agent_email?: string | null;
  readonly agent_name?: string | null;
  readonly agent_external_id?: string | null;
  readonly type?: string;
  readonly status?: string;
  readonly completed_at?: string | null;
  readonly custom_attributes?: Readonly<Record<string, Json>>;
  readonly remove_attributes?: readonly string[];
  readonly events?: readonly EventInput[];
}

/** An event as a caller sends it. */
export interface EventInput {
  readonly external_id: string;
  readonly actor_email?: string | null;
  readonly actor_name?: string | null;
  readonly actor_external_id?: string | null;
  readonly content?: string | null;
  readonly occurred_at?: string | null;
}

/** An event of an item. */
export interface ModelEvent {
  readonly external_id: string;
  readonly actor_email: string | null;
  readonly actor_name: string | null;
  readonly actor_external_id: string | null;
  readonly content: string | null;
  readonly occurred_at: string | null;
  readonly created_at: Time;
  readonly deleted_at: Time | null;
}

/** A work item, which may be deleted. */
export interface ModelItem {
  readonly external_id: string;
  readonly agent_email: string | null;
  readonly agent_name: string | null;
  readonly agent_external_id: string | null;
  readonly type: string;
  readonly status: string;
  readonly completed_at: string | null;
  readonly custom_attributes: Readonly<Record<string, Json>>;
  readonly created_at: Time;
  readonly updated_at: Time;
  readonly qa_score: number | null;
  readonly deleted: boolean;
  /** Number of times that the item was written; events do not count. Undefined: no response has shown it yet. */
  readonly version: number | undefined;
  readonly events: Readonly<Record<string, ModelEvent>>;
  /** The `Idempotency-Key` of the create request that made it, and its body. */
  readonly createKey?: { readonly key: string; readonly body: Json };
}

/** What an input does to an item. */
export type Outcome = "created" | "updated" | "unchanged" | "restored";

const utc = (time: string): string => new Date(time).toISOString();
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Objects are compared without regard to the order of their keys. */
export const sameJson = (a: Json, b: Json): boolean => {
  const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((value, i) => sameJson(value, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key]!, b[key]!))
  );
};

const newItem = (externalId: string, now: Time): ModelItem => ({
  external_id: externalId,
  agent_email: null,
  agent_name: null,
  agent_external_id: null,
  type: "work_item",
  status: "pending",
  completed_at: null,
  custom_attributes: {},
  created_at: now,
  updated_at: now,
  qa_score: null,
  deleted: false,
  version: 0,
  events: {},
});

/** The status follows `completed_at` if it is not given. */
const statusAfter = (before: ModelItem, completedAt: string | null): string => {
  const isSet = before.completed_at === null && completedAt !== null;
  const isCleared = before.completed_at !== null && completedAt === null;
  if (isSet && before.status !== "cancelled") return "completed";
  return isCleared && before.status === "completed" ? "in_progress" : before.status;
};

const mergeAttributes = (
  before: Readonly<Record<string, Json>>,
  given: Readonly<Record<string, Json>> = {},
): Readonly<Record<string, Json>> => {
  const isChanged = Object.entries(given).some(
    ([key, value]) => !Object.hasOwn(before, key) || !sameJson(before[key]!, value),
  );
  return isChanged ? { ...before, ...given } : before;
};
const withoutAttributes = (
  attributes: Readonly<Record<string, Json>>,
  names: readonly string[] = [],
): Readonly<Record<string, Json>> =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.includes(name)));

/** Applies an input's fields, without its events. @param before undefined if no item has the external_id */
export const applyFields = (
  before: ModelItem | undefined,
  input: ItemInput,
  now: Time,
): { readonly outcome: Outcome; readonly item: ModelItem } => {
  const base = before ?? newItem(input.external_id, now);
  const { agent_email, agent_name, agent_external_id, type, completed_at, custom_attributes, remove_attributes } =
    input;
  const completedAt = completed_at === undefined ? base.completed_at : completed_at && utc(completed_at);
  const merged: ModelItem = {
    ...base,
    ...(agent_email !== undefined && { agent_email }),
    ...(agent_name !== undefined && { agent_name }),
    ...(agent_external_id !== undefined && { agent_external_id }),
    ...(type !== undefined && { type }),
    completed_at: completedAt,
    status: input.status ?? statusAfter(base, completedAt),
    custom_attributes: withoutAttributes(mergeAttributes(base.custom_attributes, custom_attributes), remove_attributes),
    deleted: false,
  };
  if (before && same(merged, before)) return { outcome: "unchanged", item: before };
  const item = { ...merged, updated_at: now, version: base.version === undefined ? undefined : base.version + 1 };
  if (!before) return { outcome: "created", item };
  return { outcome: before.deleted ? "restored" : "updated", item };
};

/** Creates or updates an event of an item. */
export const applyEvent = (
  item: ModelItem,
  input: EventInput,
  now: Time,
): { readonly outcome: "created" | "updated" | "unchanged"; readonly item: ModelItem; readonly event: ModelEvent } => {
  const before = Object.hasOwn(item.events, input.external_id) ? item.events[input.external_id] : undefined;
  const { occurred_at, ...given } = input;
  const event: ModelEvent = {
    actor_email: null,
    actor_name: null,
    actor_external_id: null,
    content: null,
    occurred_at: null,
    created_at: now,
    ...before,
    deleted_at: null,
    ...given,
    ...(occurred_at !== undefined && { occurred_at: occurred_at && utc(occurred_at) }),
  };
  if (
    before &&
    Object.keys(event).every((name) => event[name as keyof ModelEvent] === before[name as keyof ModelEvent])
  ) {
    return { outcome: "unchanged", item, event: before };
  }
  const events = { ...item.events, [input.external_id]: event };
  return { outcome: before ? "updated" : "created", item: { ...item, events }, event };
};

/** Deletes an event of an item, if it isn't yet. */
export const deleteEvent = (item: ModelItem, event: ModelEvent, now: Time): ModelItem => {
  if (event.deleted_at !== null) return item;
  return { ...item, events: { ...item.events, [event.external_id]: { ...event, deleted_at: now } } };
};

/** Applies an input with its events, as a batch, a file and create do. */
export const applyInput = (
  before: ModelItem | undefined,
  input: ItemInput,
  now: Time,
): { readonly outcome: Outcome; readonly item: ModelItem } => {
  const applied = applyFields(before, input, now);
  let { outcome, item } = applied;
  for (const event of input.events ?? []) {
    const { outcome: ofEvent, item: next } = applyEvent(item, event, now);
    item = next;
    if (outcome === "unchanged" && ofEvent !== "unchanged") outcome = "updated";
  }
  return { outcome, item };
};

const person = (name: string | null, email: string | null, externalId: string | null) => ({
  id: null,
  name,
  email,
  external_id: externalId,
  avatar_url: null,
});
const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

/** The item in responses, without events. */
export const showItem = (id: string, item: ModelItem) => {
  const agent = person(item.agent_name, item.agent_email, item.agent_external_id);
  const { external_id, type, status, completed_at, custom_attributes, created_at, updated_at, qa_score } = item;
  return {
    id,
    external_id,
    agent,
    agents: agent.name === null && agent.email === null && agent.external_id === null ? [] : [agent],
    type,
    status,
    short_description: textOf(custom_attributes["short_description"]),
    description: textOf(custom_attributes["description"]),
    completed_at,
    custom_attributes,
    created_at,
    updated_at,
    qa_score,
  };
};

/** An event in responses: what has no value is absent. */
export const showEvent = (id: string, event: ModelEvent) => ({
  id,
  external_id: event.external_id,
  actor: person(event.actor_name, event.actor_email, event.actor_external_id),
  ...(event.content !== null && { content: event.content }),
  ...(event.occurred_at !== null && { occurred_at: event.occurred_at }),
  ...(event.deleted_at !== null && { deleted_at: event.deleted_at }),
  created_at: event.created_at,
});
