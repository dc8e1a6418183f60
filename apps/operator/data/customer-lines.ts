import * as z from "zod";
import { conversationUploadId, workItemId } from "@work-items/lib/identity.ts";
import {
  conversationUploadAttributes,
  conversationUploadKey,
  decodeUpload,
  storedUploadSchema,
} from "@work-items/lib/conversation-uploads/conversation-upload-store.ts";
import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import { MalformedRecordError } from "@work-items/lib/store/decode-record.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { type JsonObject, isJsonObject, parseJsonObject } from "@work-items/lib/json.ts";
import { type Organization, organizationIdSchema } from "@work-items/lib/organizations/organization.ts";
import { externalId } from "@work-items/lib/schema.ts";
import { storedEventSchema, storedWorkItemSchema } from "@work-items/lib/work-items/work-item.ts";
import {
  attributesOf,
  decodeEvent,
  decodeItem,
  eventKeyOf,
  itemKeyOf,
} from "@work-items/lib/work-items/work-item-record.ts";

/** Raised when a line's meaning changes. */
const FORMAT = 1;

const customAttributesSchema = z.custom<JsonObject>(isJsonObject, "must be an object");

/** A line of an export. Its only key names what it holds. */
export const customerLineSchema = z.union([
  z.strictObject({
    organization: z.strictObject({
      id: organizationIdSchema,
      format: z.literal(FORMAT),
      exported_at: z.iso.datetime(),
    }),
  }),
  z.strictObject({
    work_item: storedWorkItemSchema.extend({ external_id: externalId, custom_attributes: customAttributesSchema }),
  }),
  z.strictObject({
    event: storedEventSchema.extend({ external_id: externalId, work_item_external_id: externalId }),
  }),
  z.strictObject({ conversation_upload: storedUploadSchema.extend({ external_id: externalId }) }),
  z.strictObject({
    end: z.strictObject({
      work_items: z.int(),
      events: z.int(),
      conversation_uploads: z.int(),
      /** Records that couldn't be read. The events of such an item are left out too, and not counted. Absent if there were none. */
      left_out: z.int().optional(),
    }),
  }),
]);
export type CustomerLine = z.output<typeof customerLineSchema>;
/** How many things of each kind an export holds. */
export type CustomerCounts = Extract<CustomerLine, { end: unknown }>["end"];

/** The first line of an export. @param exportedAt ISO 8601 */
export function firstLine(id: string, exportedAt: string): CustomerLine {
  return {
    organization: { id, format: FORMAT, exported_at: exportedAt },
  };
}

/** The line of a work item's record. @throws MalformedRecordError */
export function workItemLine(record: Attributes): CustomerLine {
  const item = decodeItem(record);
  try {
    return { work_item: { ...item, custom_attributes: parseJsonObject(item.custom_attributes) } };
  } catch (error) {
    throw new MalformedRecordError("work item", record, `custom_attributes: ${String(error)}`);
  }
}
/** The line of an event's record. @throws MalformedRecordError */
export function eventLine(workItemExternalId: string, record: Attributes): CustomerLine {
  return {
    event: { work_item_external_id: workItemExternalId, ...decodeEvent(record) },
  };
}
/** The line of a conversation upload's record. @throws MalformedRecordError */
export function conversationUploadLine(record: Attributes): CustomerLine {
  return {
    conversation_upload: decodeUpload(record),
  };
}

/** The record that a line describes, in an organization; undefined for the first and the last line. */
export function recordOfLine(
  organization: Organization,
  line: CustomerLine,
):
  | {
      readonly key: RecordKey;
      readonly attributes: Attributes;
      /** The attributes without those that put the record into lists. */
      readonly content: Attributes;
    }
  | undefined {
  const { id: owner } = organization;
  if ("work_item" in line) {
    const item = { ...line.work_item, custom_attributes: JSON.stringify(line.work_item.custom_attributes) };
    const id = workItemId(owner, item.external_id);
    return { key: itemKeyOf(owner, item.external_id), attributes: attributesOf(organization, id, item), content: item };
  }
  if ("event" in line) {
    const { work_item_external_id: itemExternalId, ...event } = line.event;
    const key = eventKeyOf(owner, workItemId(owner, itemExternalId), event.external_id);
    return { key, attributes: event, content: event };
  }
  if ("conversation_upload" in line) {
    const upload = line.conversation_upload;
    const id = conversationUploadId(owner, upload.external_id);
    return {
      key: conversationUploadKey(owner, id),
      attributes: conversationUploadAttributes(organization, id, upload),
      content: upload,
    };
  }
  return undefined;
}
