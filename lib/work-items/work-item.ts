import * as z from "zod";
import { content, customAttributes, email, externalId, storedTimestamp, text, timestamp, uuid } from "../fields.ts";
import type { JsonObject } from "../json.ts";

/** Events that one work item input may hold: with the item they are one DynamoDB transaction of at most 100 actions. */
export const EVENTS_PER_ITEM_MAX = 99;
export const ITEMS_PER_BATCH_MAX = 100;
export const EVENTS_PER_BATCH_MAX = 2000;

export const workItemStatusSchema = z
  .enum(["pending", "in_progress", "completed", "cancelled"])
  .meta({ id: "WorkItemStatus" });
export type WorkItemStatus = z.infer<typeof workItemStatusSchema>;

export const eventInputSchema = z
  .strictObject({
    external_id: externalId,
    actor_email: email.optional(),
    actor_name: text().optional(),
    actor_external_id: text().optional(),
    content: content.nullable().optional(),
    occurred_at: timestamp.nullable().optional(),
  })
  .meta({
    id: "WorkItemEventInput",
    description: "A record from the source system; its external_id is unique in the work item.",
  });
export type EventInput = z.output<typeof eventInputSchema>;

const changeable = {
  agent_email: email.optional(),
  agent_name: text().optional(),
  agent_external_id: text().optional(),
  type: text().optional(),
  status: workItemStatusSchema.optional(),
  completed_at: timestamp.nullable().optional(),
  custom_attributes: customAttributes.optional(),
};

/** What create and batch take, and what one CSV row means. Omitted fields keep their values. */
export const workItemInputSchema = z
  .strictObject({
    external_id: externalId,
    ...changeable,
    events: z
      .array(eventInputSchema)
      .max(EVENTS_PER_ITEM_MAX, `must hold at most ${EVENTS_PER_ITEM_MAX} events`)
      .optional(),
  })
  .meta({ id: "WorkItemInput" });
export type WorkItemInput = z.output<typeof workItemInputSchema>;

/** What PATCH takes. `external_id` may be repeated, never changed. */
export const workItemPatchSchema = z
  .strictObject({ external_id: externalId.optional(), ...changeable })
  .meta({ id: "WorkItemPatch" });
export type WorkItemPatch = z.output<typeof workItemPatchSchema>;

export const personSchema = z
  .strictObject({
    id: z.string().nullable(),
    name: z.string().nullable(),
    email: z.string().nullable(),
    external_id: z.string().nullable(),
    avatar_url: z.string().nullable(),
  })
  .meta({ id: "Person" });
export type Person = z.infer<typeof personSchema>;

export const workItemEventSchema = z
  .strictObject({
    id: uuid,
    external_id: z.string(),
    actor: personSchema,
    content: z.string().optional(),
    occurred_at: storedTimestamp.optional(),
    deleted_at: storedTimestamp.optional(),
    created_at: storedTimestamp,
  })
  .meta({ id: "WorkItemEvent" });
export type WorkItemEventResponse = z.infer<typeof workItemEventSchema>;

/** A work item as list and batch answer it: every key present, no events. */
export const workItemSchema = z
  .strictObject({
    id: uuid,
    external_id: z.string(),
    agent: personSchema,
    agents: z.array(personSchema),
    type: z.string(),
    status: workItemStatusSchema,
    short_description: z.string().nullable(),
    description: z.string().nullable(),
    completed_at: storedTimestamp.nullable(),
    custom_attributes: z.custom<JsonObject>().meta({ type: "object", additionalProperties: true }),
    created_at: storedTimestamp,
    updated_at: storedTimestamp,
    qa_score: z.number().min(0).max(1).nullable(),
  })
  .meta({ id: "WorkItem" });
export type WorkItemResponse = z.infer<typeof workItemSchema>;

/** A work item as create, get and update answer it. */
export const workItemWithEventsSchema = workItemSchema
  .extend({ events: z.array(workItemEventSchema) })
  .meta({ id: "WorkItemWithEvents" });

export const batchOutcomeSchema = z.enum(["created", "updated", "unchanged", "restored", "error"]);
export type BatchOutcome = z.infer<typeof batchOutcomeSchema>;

export const batchResultSchema = z
  .strictObject({
    index: z.int(),
    external_id: z.string(),
    status: batchOutcomeSchema,
    data: workItemSchema.nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: "BatchResult" });

/** The fields of a work item that rules read and change, as they are stored. */
export interface WorkItem {
  readonly external_id: string;
  readonly agent_email: string | null;
  readonly agent_name: string | null;
  readonly agent_external_id: string | null;
  readonly type: string;
  readonly status: WorkItemStatus;
  readonly completed_at: string | null;
  /** JSON text: DynamoDB's own maps lose digits, some keys and deep nesting. */
  readonly custom_attributes: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly qa_score: number | null;
}

/** The fields of a work item event as they are stored. */
export interface WorkItemEvent {
  readonly external_id: string;
  readonly actor_email: string | null;
  readonly actor_name: string | null;
  readonly actor_external_id: string | null;
  readonly content: string | null;
  readonly occurred_at: string | null;
  readonly created_at: string;
}
