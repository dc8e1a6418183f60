import * as z from "zod";
import { problemDetailSchema } from "../problem-detail.ts";
import { boundedArray, count, externalId, storedTimestamp, uuid } from "../schema.ts";
import { type GivenFields, inputShape, presentShape, responseShape, storedShape } from "./field-definition.ts";
import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "./work-item-fields.ts";

/** The most events in one input: with the item they are one DynamoDB transaction, which has at most 100 actions. */
const EVENTS_PER_ITEM_MAX = 99;
/** The most items in one batch. */
export const ITEMS_PER_BATCH_MAX = 100;
/** The most events in one batch. */
export const EVENTS_PER_BATCH_MAX = 2000;

/** Input of an event. */
export const eventInputSchema = z
  .strictObject({ external_id: externalId, ...inputShape(EVENT_FIELDS) })
  .meta({ id: "WorkItemEventInput" });
/** A value of `eventInputSchema`. */
export type EventInput = z.output<typeof eventInputSchema>;

/** Input of create and batch, and of a CSV row. Omitted fields keep their values. */
export const workItemInputSchema = z
  .strictObject({
    external_id: externalId,
    ...inputShape(WORK_ITEM_FIELDS),
    events: boundedArray(eventInputSchema, EVENTS_PER_ITEM_MAX, "events").optional(),
  })
  .meta({ id: "WorkItemInput" });
/** A value of `workItemInputSchema`. */
export type WorkItemInput = z.output<typeof workItemInputSchema>;

/** Input of PATCH. `external_id` may be given, but not changed. */
export const workItemPatchSchema = z
  .strictObject({ external_id: externalId.optional(), ...inputShape(WORK_ITEM_FIELDS) })
  .meta({ id: "WorkItemPatch" });

/** The fields that an input changes, whether by batch, CSV or PATCH. */
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
/** An agent or actor in responses. */
export type Person = z.infer<typeof personSchema>;

/** An event in responses; fields without a value are absent. */
export const workItemEventSchema = z
  .strictObject({
    id: uuid,
    external_id: z.string(),
    actor: personSchema,
    ...presentShape(EVENT_FIELDS),
    deleted_at: storedTimestamp.optional(),
    created_at: storedTimestamp,
  })
  .meta({ id: "WorkItemEvent" });
/** A value of `workItemEventSchema`. */
export type WorkItemEventResponse = z.infer<typeof workItemEventSchema>;

/** A work item in the responses of list and batch: all fields are present, without events. */
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
/** A value of `workItemSchema`. */
export type WorkItemResponse = z.infer<typeof workItemSchema>;

/** A work item in the responses of create, get and update. */
export const workItemWithEventsSchema = workItemSchema

  .extend({ events: z.array(workItemEventSchema) })
  .meta({ id: "WorkItemWithEvents" });

/** Result of a batch's item. */
export const batchResultSchema = z
  .strictObject({
    index: count,
    external_id: z.string(),
    status: z.enum(["created", "updated", "unchanged", "restored", "error"]),
    data: workItemSchema.nullable(),
    error: z.string().nullable(),
    /** Present if the status is error (extension). Pointers lead into the request's body. */
    errors: z.array(problemDetailSchema).optional(),
  })
  .meta({ id: "BatchResult" });
/** A value of `batchResultSchema`. */
export type BatchResult = z.input<typeof batchResultSchema>;

/** A work item in its record. */
export const storedWorkItemSchema = z.object({
  external_id: z.string(),
  ...storedShape(WORK_ITEM_FIELDS),
  created_at: storedTimestamp,
  updated_at: storedTimestamp,
  deleted_at: storedTimestamp.nullable().default(null),
  qa_score: z.number().nullable().default(null),
});
/** A work item as it is stored and as rules change it. */
export type WorkItem = Readonly<z.output<typeof storedWorkItemSchema>>;

/** An event in its record. */
export const storedEventSchema = z.object({
  external_id: z.string(),
  ...storedShape(EVENT_FIELDS),
  created_at: storedTimestamp,
});
/** An event as it is stored and as rules change it. */
export type WorkItemEvent = Readonly<z.output<typeof storedEventSchema>>;
