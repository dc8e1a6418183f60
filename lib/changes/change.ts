import * as z from "zod";
import { storedTimestamp, uuid } from "../schema.ts";
import { SORTED_EVENTS, workItemEventSchema, workItemSchema } from "../work-items/work-item.ts";

const sequence = z.int().min(0);

/** A work item in the change feed, as it is now. */
const changedItemSchema = workItemSchema
  .extend({
    sequence: sequence.describe(
      "Number of the change; 0 in all but the last page of a first load. Pass it as `after` to continue from it.",
    ),
    deleted_at: storedTimestamp.nullable().describe("When the item was deleted. Null if it isn't deleted."),
    events: z.array(workItemEventSchema).optional().describe(`Present with \`include=events\`. ${SORTED_EVENTS}`),
    events_next: z
      .string()
      .optional()
      .describe("Cursor for the item's other events in its list of events. Present if they don't all fit."),
  })
  .meta({ id: "WorkItemChange", description: "A work item in the change feed, as it is now. Extension." });
/** A value of `changedItemSchema`. */
type ChangedItem = z.infer<typeof changedItemSchema>;

/** A work item in the change feed that was erased. */
const erasedItemSchema = z
  .strictObject({
    id: uuid.describe("ID of the work item."),
    sequence: sequence.describe("Number of the change."),
    deleted_at: storedTimestamp.describe("When the change was recorded."),
    erased: z.literal(true).describe("Always true. Nothing else is known about the item."),
  })
  .meta({
    id: "ErasedWorkItemChange",
    description: "A work item in the change feed whose data was erased. Extension.",
  });
/** A value of `erasedItemSchema`. */
type ErasedItem = z.infer<typeof erasedItemSchema>;

/** A record of the change feed. */
export const changeSchema = z.union([changedItemSchema, erasedItemSchema]);
/** A record of the change feed. */
export type Change = ChangedItem | ErasedItem;
