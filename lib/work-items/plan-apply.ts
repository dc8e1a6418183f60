import { CUSTOM_ATTRIBUTES_MAX_BYTES } from "../scalars.ts";
import { createMerge, initialFields } from "./field-definition.ts";
import type { Changes, EventInput, WorkItem, WorkItemEvent } from "./work-item.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS, type WorkItemStatus } from "./work-item-fields.ts";

/** The one thing that can be wrong with an item only when it is merged. Constant, so that a replayed CSV row fails alike. */
export const TOO_LARGE_AFTER_MERGE = `custom_attributes: must be at most ${CUSTOM_ATTRIBUTES_MAX_BYTES} bytes of JSON after the merge`;

/** What applying an input does to what is stored. `next` is the item afterwards, also where nothing differs. */
export type ApplyPlan =
  | { readonly outcome: "created" | "updated" | "unchanged" | "restored"; readonly next: WorkItem }
  | { readonly outcome: "error"; readonly error: string };

const INITIAL_ITEM = initialFields(WORK_ITEM_FIELDS);
const INITIAL_EVENT = initialFields(EVENT_FIELDS);
const mergeItemFields = createMerge(WORK_ITEM_FIELDS);
const mergeEventFields = createMerge(EVENT_FIELDS);

/** The status where the input names none: it follows `completed_at` from unset to set and back, and else stays. */
const followCompletion = ({ status, completed_at: before }: WorkItem, after: string | null): WorkItemStatus => {
  if (before === null && after !== null) return status === "cancelled" ? status : "completed";
  if (before !== null && after === null) return status === "completed" ? "in_progress" : status;
  return status;
};

const mergeItem = (stored: WorkItem, input: Changes): WorkItem => {
  const merged = mergeItemFields(stored, input);
  const status = input.status ?? followCompletion(stored, merged.completed_at);
  return { ...merged, status, deleted_at: null };
};

const newItem = (externalId: string, now: string): WorkItem => ({
  external_id: externalId,
  ...INITIAL_ITEM,
  created_at: now,
  updated_at: now,
  deleted_at: null,
  qa_score: null,
});

const differs = <T extends object>(a: T, b: T): boolean =>
  (Object.keys(b) as (keyof T)[]).some((field) => a[field] !== b[field]);

/**
 * What applying `input` to the stored item gives: the whole rule of batch, CSV, create, PATCH and their dry runs.
 * @param stored the item as it is, soft-deleted ones included; null where the external_id was never used
 * @param now ISO 8601 UTC, becomes `updated_at` where something differs
 */
export const planApply = (stored: WorkItem | null, externalId: string, input: Changes, now: string): ApplyPlan => {
  if (stored === null) return { outcome: "created", next: mergeItem(newItem(externalId, now), input) };
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

/**
 * Creates an event or merges the given fields into the stored one; `null` clears a field.
 * @param inputs what one call says of the event, in order; the outcome is what they change together
 */
export const planEvent = (stored: WorkItemEvent | null, inputs: readonly EventInput[], now: string): EventPlan => {
  const base = stored ?? { external_id: inputs[0]?.external_id ?? "", ...INITIAL_EVENT, created_at: now };
  const next = inputs.reduce<WorkItemEvent>(mergeEventFields, base);
  if (stored === null) return { outcome: "created", next };
  return differs(stored, next) ? { outcome: "updated", next } : { outcome: "unchanged", next: stored };
};
