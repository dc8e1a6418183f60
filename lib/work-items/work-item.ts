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

const EXTERNAL_ID = "Your ID for the work item, unique in your organization.";
const EVENT_EXTERNAL_ID = "Your ID for the event, unique in the work item.";
const OF_ATTRIBUTE = "The custom attribute with this name, if it is a string.";
/** What the document says about the order of events. */
export const SORTED_EVENTS = "Sorted by `occurred_at`, then `created_at`. Events without a time come last.";

/** Input of an event. */
export const eventInputSchema = z
  .strictObject({ external_id: externalId.describe(EVENT_EXTERNAL_ID), ...inputShape(EVENT_FIELDS) })
  .meta({
    id: "WorkItemEventInput",
    description: "An event to create or update. Fields that you leave out keep their values.",
  });
/** A value of `eventInputSchema`. */
export type EventInput = z.output<typeof eventInputSchema>;

/** The most custom attributes that one input removes. */
const REMOVED_ATTRIBUTES_MAX = 1000;

/** Made once, because several schemas have these fields. */
const itemInputShape = {
  ...inputShape(WORK_ITEM_FIELDS),
  remove_attributes: boundedArray(z.string(), REMOVED_ATTRIBUTES_MAX, "names")
    .optional()
    .describe(
      "Names of custom attributes to remove, after `custom_attributes` are merged. Others are ignored. Null as a value removes nothing. Extension.",
    ),
};

/** Input of create and batch, and of a CSV row. Omitted fields keep their values. */
export const workItemInputSchema = z
  .strictObject({
    external_id: externalId.describe(EXTERNAL_ID),
    ...itemInputShape,
    events: boundedArray(eventInputSchema, EVENTS_PER_ITEM_MAX, "events")
      .optional()
      .describe("Events to create or update by their `external_id`. At most 2,000 in one batch."),
  })
  .meta({
    id: "WorkItemInput",
    description: "A work item to create or update. Fields that you leave out keep their values.",
  });
/** A value of `workItemInputSchema`. */
export type WorkItemInput = z.output<typeof workItemInputSchema>;

/** Input of PATCH. `external_id` may be given, but not changed. */
export const workItemPatchSchema = z
  .strictObject({
    external_id: externalId.optional().describe("Optional. Must be the item's own."),
    ...itemInputShape,
  })
  .meta({
    id: "WorkItemPatch",
    description: "Changes to a work item. Fields that you leave out keep their values.",
  });

/** What an input of a batch, CSV row or PATCH changes. */
export type Changes = GivenFields<typeof WORK_ITEM_FIELDS> & {
  /** Names of custom attributes. */
  readonly remove_attributes?: readonly string[] | undefined;
};

const personSchema = z
  .strictObject({
    id: z.string().nullable().describe("Always null."),
    name: z.string().nullable().describe("Name, if known."),
    email: z.string().nullable().describe("Email address, if known."),
    external_id: z.string().nullable().describe("ID in the source system, if known."),
    avatar_url: z.string().nullable().describe("Always null."),
  })
  .meta({
    id: "Person",
    description: "An agent or actor. There is no directory of people, so `id` and `avatar_url` are null.",
  });
/** An agent or actor in responses. */
export type Person = z.infer<typeof personSchema>;

/** An event in responses. */
export const workItemEventSchema = z
  .strictObject({
    id: uuid.describe("ID of the event, derived from the work item's ID and `external_id`."),
    external_id: z.string().describe(EVENT_EXTERNAL_ID),
    actor: personSchema.describe("Who did it."),
    ...presentShape(EVENT_FIELDS),
    deleted_at: storedTimestamp
      .optional()
      .describe("When the event was deleted. Absent unless it is deleted; saving the event again restores it."),
    created_at: storedTimestamp.describe("When the event was first saved."),
  })
  .meta({
    id: "WorkItemEvent",
    description: "A record from the source system. Fields without a value are absent.",
  });
/** A value of `workItemEventSchema`. */
export type WorkItemEventResponse = z.infer<typeof workItemEventSchema>;

/** A work item in the responses of list and batch: all fields are present, without events. */
export const workItemSchema = z
  .strictObject({
    id: uuid.describe("ID of the work item, derived from the organization and `external_id`. Never changes."),
    external_id: z.string().describe(EXTERNAL_ID),
    agent: personSchema.describe("The agent, from the three agent fields that you send."),
    agents: z.array(personSchema).describe("Contains the agent, or is empty if none of the agent's fields is known."),
    ...responseShape(WORK_ITEM_FIELDS),
    short_description: z.string().nullable().describe(OF_ATTRIBUTE),
    description: z.string().nullable().describe(OF_ATTRIBUTE),
    created_at: storedTimestamp.describe("When the item was first saved."),
    updated_at: storedTimestamp.describe("When a field of the item last changed. Events don't count."),
    qa_score: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe("Quality score, from 0 to 1. Null until the item is evaluated."),
  })
  .meta({ id: "WorkItem", description: "A work item without its events." });
/** A value of `workItemSchema`. */
export type WorkItemResponse = z.infer<typeof workItemSchema>;

/** A work item in the responses of create, get and update. */
export const workItemWithEventsSchema = workItemSchema
  .extend({ events: z.array(workItemEventSchema).describe(SORTED_EVENTS) })
  .meta({ id: "WorkItemWithEvents", description: "A work item with its events." });

/** Result of a batch's item. */
export const batchResultSchema = z
  .strictObject({
    index: count.describe("Position in the request, starting at 0."),
    external_id: z.string().describe("The item's `external_id`, or an empty string if it wasn't valid."),
    status: z.enum(["created", "updated", "unchanged", "restored", "error"]).describe("What happened to the item."),
    data: workItemSchema
      .nullable()
      .describe(
        "The item after the change. Null with the status `error`, for keys without the scope `read`, and from the first item that doesn't fit in the 6 MB of a response.",
      ),
    error: z.string().nullable().describe("Why the item couldn't be applied."),
    errors: z
      .array(problemDetailSchema)
      .optional()
      .describe(
        "The same for programs. Only with the status `error`. Pointers refer to the request's body. Extension.",
      ),
  })
  .meta({ id: "BatchResult", description: "The outcome of one item of a batch." });
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
/** A work item as it is stored and planned. */
export type WorkItem = Readonly<z.output<typeof storedWorkItemSchema>>;

/** An event in its record. */
export const storedEventSchema = z.object({
  external_id: z.string(),
  ...storedShape(EVENT_FIELDS),
  created_at: storedTimestamp,
  deleted_at: storedTimestamp.nullable().default(null),
});
/** An event as it is stored and planned. */
export type WorkItemEvent = Readonly<z.output<typeof storedEventSchema>>;
