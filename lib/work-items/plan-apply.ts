import { CUSTOM_ATTRIBUTES_MAX_BYTES } from "../fields.ts";
import { type JsonObject, type JsonValue, jsonEquals, parseJson } from "../json.ts";
import type { EventInput, WorkItem, WorkItemEvent, WorkItemPatch, WorkItemStatus } from "./work-item.ts";

export const DEFAULT_TYPE = "work_item";

/** The one thing that can be wrong with an item only when it is merged. Constant, so that a replayed CSV row fails alike. */
export const TOO_LARGE_AFTER_MERGE = `custom_attributes: must be at most ${CUSTOM_ATTRIBUTES_MAX_BYTES} bytes of JSON after the merge`;

/** What applying an input does to what is stored. `next` is the item afterwards, also where nothing differs. */
export type ApplyPlan =
  | { readonly outcome: "created" | "updated" | "unchanged" | "restored"; readonly next: WorkItem }
  | { readonly outcome: "error"; readonly error: string };

/** Fields that an input sets; a PATCH and a batch item differ only in what else they may hold. */
export type Changes = Omit<WorkItemPatch, "external_id">;

/** Top-level keys of `changes` replace those of `stored`; the text stays as it is where none differs. */
const mergeAttributes = (stored: string, changes: JsonObject | undefined): string => {
  if (changes === undefined) return stored;
  const attributes = parseJson(stored) as JsonObject;
  const changed = Object.entries(changes).filter(
    ([key, value]) => !Object.hasOwn(attributes, key) || !jsonEquals(attributes[key] as JsonValue, value),
  );
  return changed.length === 0 ? stored : JSON.stringify({ ...attributes, ...Object.fromEntries(changed) });
};

/** The status where the input names none: it follows `completed_at` from unset to set and back, and else stays. */
const followCompletion = (stored: WorkItem, completedAt: string | null): WorkItemStatus => {
  const { status } = stored;
  if (stored.completed_at === null && completedAt !== null) return status === "cancelled" ? status : "completed";
  if (stored.completed_at !== null && completedAt === null) return status === "completed" ? "in_progress" : status;
  return status;
};

const createItem = (externalId: string, input: Changes, now: string): WorkItem => {
  const completedAt = input.completed_at ?? null;
  return {
    external_id: externalId,
    agent_email: input.agent_email ?? null,
    agent_name: input.agent_name ?? null,
    agent_external_id: input.agent_external_id ?? null,
    type: input.type ?? DEFAULT_TYPE,
    status: input.status ?? (completedAt === null ? "pending" : "completed"),
    completed_at: completedAt,
    custom_attributes: JSON.stringify(input.custom_attributes ?? {}),
    created_at: now,
    updated_at: now,
    deleted_at: null,
    qa_score: null,
  };
};

const mergeItem = (stored: WorkItem, input: Changes): WorkItem => {
  const completedAt = input.completed_at === undefined ? stored.completed_at : input.completed_at;
  return {
    ...stored,
    agent_email: input.agent_email ?? stored.agent_email,
    agent_name: input.agent_name ?? stored.agent_name,
    agent_external_id: input.agent_external_id ?? stored.agent_external_id,
    type: input.type ?? stored.type,
    status: input.status ?? followCompletion(stored, completedAt),
    completed_at: completedAt,
    custom_attributes: mergeAttributes(stored.custom_attributes, input.custom_attributes),
    deleted_at: null,
  };
};

const differs = (a: WorkItem, b: WorkItem): boolean =>
  (Object.keys(b) as (keyof WorkItem)[]).some((field) => a[field] !== b[field]);

/**
 * What applying `input` to the stored item gives: the whole rule of batch, CSV, create, PATCH and their dry runs.
 * @param stored the item as it is, soft-deleted ones included; null where the external_id was never used
 * @param now ISO 8601 UTC, becomes `updated_at` where something differs
 */
export const planApply = (stored: WorkItem | null, externalId: string, input: Changes, now: string): ApplyPlan => {
  if (stored === null) return { outcome: "created", next: createItem(externalId, input, now) };
  const merged = mergeItem(stored, input);
  if (!differs(stored, merged)) return { outcome: "unchanged", next: stored };
  const grown = merged.custom_attributes !== stored.custom_attributes;
  if (grown && Buffer.byteLength(merged.custom_attributes) > CUSTOM_ATTRIBUTES_MAX_BYTES) {
    return { outcome: "error", error: TOO_LARGE_AFTER_MERGE };
  }
  return { outcome: stored.deleted_at === null ? "updated" : "restored", next: { ...merged, updated_at: now } };
};

/** What upserting an event does. `next` is the event afterwards. */
export interface EventPlan {
  readonly outcome: "created" | "updated" | "unchanged";
  readonly next: WorkItemEvent;
}

const mergeEvent = (base: WorkItemEvent, input: EventInput): WorkItemEvent => ({
  ...base,
  actor_email: input.actor_email ?? base.actor_email,
  actor_name: input.actor_name ?? base.actor_name,
  actor_external_id: input.actor_external_id ?? base.actor_external_id,
  content: input.content === undefined ? base.content : input.content,
  occurred_at: input.occurred_at === undefined ? base.occurred_at : input.occurred_at,
});

/**
 * Creates an event or merges the given fields into the stored one; `null` clears `content` and `occurred_at`.
 * @param inputs what one call says of the event, in order; the outcome is what they change together
 */
export const planEvent = (stored: WorkItemEvent | null, inputs: readonly EventInput[], now: string): EventPlan => {
  const base = stored ?? {
    external_id: inputs[0]?.external_id ?? "",
    actor_email: null,
    actor_name: null,
    actor_external_id: null,
    content: null,
    occurred_at: null,
    created_at: now,
  };
  const next = inputs.reduce(mergeEvent, base);
  if (stored === null) return { outcome: "created", next };
  const changed = (Object.keys(next) as (keyof WorkItemEvent)[]).some((field) => next[field] !== stored[field]);
  return changed ? { outcome: "updated", next } : { outcome: "unchanged", next: stored };
};
