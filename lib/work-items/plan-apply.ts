import type { Problem } from "../errors.ts";
import { parseJsonObject } from "../json.ts";
import { CUSTOM_ATTRIBUTES_MAX_BYTES } from "../schema.ts";
import { createMerge, initialFields } from "./field-definition.ts";
import type { Changes, EventInput, WorkItem, WorkItemEvent } from "./work-item.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS, type WorkItemStatus } from "./work-item-fields.ts";

/** The only problem that a merge can cause. It is constant, so that a CSV row that is applied again fails in the same way. */
export const TOO_LARGE_AFTER_MERGE: Problem = {
  path: ["custom_attributes"],
  code: "too_big",
  message: `must be at most ${CUSTOM_ATTRIBUTES_MAX_BYTES} bytes of JSON after the merge`,
};

/** The effect of an input on the stored item. `next` is the item afterwards, even if it is unchanged. */
export type ItemPlan =
  | { readonly outcome: "created" | "updated" | "unchanged" | "restored"; readonly next: WorkItem }
  | { readonly outcome: "error"; readonly error: Problem };

const INITIAL_ITEM = initialFields(WORK_ITEM_FIELDS);
const INITIAL_EVENT = initialFields(EVENT_FIELDS);
const mergeItemFields = createMerge(WORK_ITEM_FIELDS);
const mergeEventFields = createMerge(EVENT_FIELDS);

/** The status if the input has none. It changes only when `completed_at` is set or cleared. */
function followCompletion({ status, completed_at: before }: WorkItem, after: string | null): WorkItemStatus {
  if (before === null && after !== null) return status === "cancelled" ? status : "completed";
  if (before !== null && after === null) return status === "completed" ? "in_progress" : status;
  return status;
}

/** Whether an item has a completion date but isn't completed: a write can set both, and an undo puts each back by itself. */
export function isUnfinished({ status, completed_at: at }: Pick<WorkItem, "status" | "completed_at">): boolean {
  return at !== null && status !== "completed";
}

/** @param text JSON of an object. @returns the same text if it has none of the keys */
function withoutKeys(text: string, keys: readonly string[]): string {
  const attributes = parseJsonObject(text);
  const removed = keys.filter((key) => Object.hasOwn(attributes, key));
  for (const key of removed) delete attributes[key];
  return removed.length === 0 ? text : JSON.stringify(attributes);
}

function mergeItem(stored: WorkItem, input: Changes): WorkItem {
  const merged = mergeItemFields(stored, input);
  const status = input.status ?? followCompletion(stored, merged.completed_at);
  const { remove_attributes: removed = [] } = input;
  const attributes = merged.custom_attributes;
  const custom_attributes = removed.length === 0 ? attributes : withoutKeys(attributes, removed);
  return { ...merged, custom_attributes, status, deleted_at: null };
}

function newItem(externalId: string, now: string): WorkItem {
  return {
    external_id: externalId,
    ...INITIAL_ITEM,
    created_at: now,
    updated_at: now,
    deleted_at: null,
    qa_score: null,
  };
}

/** Whether custom attributes change and become too large. */
export function outgrows(before: string, after: string): boolean {
  return before !== after && Buffer.byteLength(after) > CUSTOM_ATTRIBUTES_MAX_BYTES;
}

function differs<T extends object>(a: T, b: T): boolean {
  return (Object.keys(b) as (keyof T)[]).some((field) => a[field] !== b[field]);
}

/**
 * Plans the effect of an input on the stored item, for batches, CSV, create, PATCH and dry runs.
 * @param stored the item, which may be soft-deleted; null if no item has the external_id
 * @param now ISO 8601 in UTC; the new `updated_at` if the item changes
 */
export function planApply(stored: WorkItem | null, externalId: string, input: Changes, now: string): ItemPlan {
  if (stored === null) return { outcome: "created", next: mergeItem(newItem(externalId, now), input) };
  const merged = mergeItem(stored, input);
  if (!differs(stored, merged)) return { outcome: "unchanged", next: stored };
  if (outgrows(stored.custom_attributes, merged.custom_attributes))
    return { outcome: "error", error: TOO_LARGE_AFTER_MERGE };
  return { outcome: stored.deleted_at === null ? "updated" : "restored", next: { ...merged, updated_at: now } };
}

/** The effect of inputs on the stored event. `next` is the event afterwards. */
export interface EventPlan {
  readonly outcome: "created" | "updated" | "unchanged";
  readonly next: WorkItemEvent;
}

/**
 * Plans the creation of an event, or the merge of the given fields into the stored one; `null` clears a field.
 * @param inputs all inputs of one call for the event, in order; the outcome is their combined effect
 */
export function planEvent(stored: WorkItemEvent | null, inputs: readonly EventInput[], now: string): EventPlan {
  const base = stored ?? { external_id: inputs[0]?.external_id ?? "", ...INITIAL_EVENT, created_at: now };
  const next = inputs.reduce<WorkItemEvent>(mergeEventFields, { ...base, deleted_at: null });
  if (stored === null) return { outcome: "created", next };
  return differs(stored, next) ? { outcome: "updated", next } : { outcome: "unchanged", next: stored };
}
