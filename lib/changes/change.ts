import * as z from "zod";
import { storedTimestamp, uuid } from "../schema.ts";
import { workItemEventSchema, workItemSchema } from "../work-items/work-item.ts";

const sequence = z.int().min(0);

/** A work item in the change feed, as it is now. */
const changedItemSchema = workItemSchema
  .extend({
    sequence,
    deleted_at: storedTimestamp.nullable(),
    /** Present if they were asked for. */
    events: z.array(workItemEventSchema).optional(),
    /** Cursor of the item's other events, if not all fit. */
    events_next: z.string().optional(),
  })
  .meta({ id: "WorkItemChange" });
/** A value of `changedItemSchema`. */
type ChangedItem = z.infer<typeof changedItemSchema>;

/** A work item in the change feed that was erased. */
const erasedItemSchema = z
  .strictObject({ id: uuid, sequence, deleted_at: storedTimestamp, erased: z.literal(true) })
  .meta({ id: "ErasedWorkItemChange" });
/** A value of `erasedItemSchema`. */
type ErasedItem = z.infer<typeof erasedItemSchema>;

/** A record of the change feed. */
export const changeSchema = z.union([changedItemSchema, erasedItemSchema]);
/** A record of the change feed. */
export type Change = ChangedItem | ErasedItem;
