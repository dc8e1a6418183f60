import * as z from "zod";
import { externalId, storedTimestamp, uuid } from "../scalars.ts";
import { type GivenFields, inputShape, responseShape, storedShape } from "./field-definition.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "./work-item-fields.ts";

/** Events that one work item input may hold: with the item they are one DynamoDB transaction of at most 100 actions. */
const EVENTS_PER_ITEM_MAX = 99;
export const ITEMS_PER_BATCH_MAX = 100;
export const EVENTS_PER_BATCH_MAX = 2000;

export const eventInputSchema = z.strictObject({ external_id: externalId, ...inputShape(EVENT_FIELDS) }).meta({
  id: "WorkItemEventInput",
  description: "A record from the source system; its external_id is unique in the work item.",
});
export type EventInput = z.output<typeof eventInputSchema>;

/** What create and batch take, and what one CSV row means. Omitted fields keep their values. */
export const workItemInputSchema = z
  .strictObject({
    external_id: externalId,
    ...inputShape(WORK_ITEM_FIELDS),
    events: z
      .array(eventInputSchema)
      .max(EVENTS_PER_ITEM_MAX, `must hold at most ${EVENTS_PER_ITEM_MAX} events`)
      .optional(),
  })
  .meta({ id: "WorkItemInput" });
export type WorkItemInput = z.output<typeof workItemInputSchema>;

/** What PATCH takes. `external_id` may be repeated, never changed. */
export const workItemPatchSchema = z
  .strictObject({ external_id: externalId.optional(), ...inputShape(WORK_ITEM_FIELDS) })
  .meta({ id: "WorkItemPatch" });

/** Fields that an input sets; a PATCH and a batch item differ only in what else they may hold. */
export type Changes = GivenFields<typeof WORK_ITEM_FIELDS>;

const personSchema = z
  .strictObject({
    id: z.string().nullable(),
    name: z.string().nullable(),
    email: z.string().nullable(),
    external_id: z.string().nullable(),
    avatar_url: z.string().nullable(),
  })
  .meta({ id: "Person" });
export type Person = z.infer<typeof personSchema>;

const { content, occurred_at } = responseShape(EVENT_FIELDS);

/** A work item event as it is answered; what has no value is absent. */
export const workItemEventSchema = z
  .strictObject({
    id: uuid,
    external_id: z.string(),
    actor: personSchema,
    content: content.unwrap().optional(),
    occurred_at: occurred_at.unwrap().optional(),
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
    ...responseShape(WORK_ITEM_FIELDS),
    short_description: z.string().nullable(),
    description: z.string().nullable(),
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

const batchOutcomeSchema = z.enum(["created", "updated", "unchanged", "restored", "error"]);
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

/** A work item as rules read and change it, and as its record holds it. */
export const storedWorkItemSchema = z.object({
  external_id: z.string(),
  ...storedShape(WORK_ITEM_FIELDS),
  created_at: storedTimestamp,
  updated_at: storedTimestamp,
  deleted_at: storedTimestamp.nullable().default(null),
  qa_score: z.number().nullable().default(null),
});
export type WorkItem = Readonly<z.output<typeof storedWorkItemSchema>>;

/** A work item event as rules read and change it, and as its record holds it. */
export const storedEventSchema = z.object({
  external_id: z.string(),
  ...storedShape(EVENT_FIELDS),
  created_at: storedTimestamp,
});
export type WorkItemEvent = Readonly<z.output<typeof storedEventSchema>>;
