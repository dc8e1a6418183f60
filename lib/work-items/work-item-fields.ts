import * as z from "zod";
import { type JsonObject, jsonEquals, parseJsonObject } from "../json.ts";
import { content, customAttributes, email, jsonObject, storedTimestamp, text, timestamp } from "../schema.ts";
import { field } from "./field-definition.ts";

const workItemStatusSchema = z
  .enum(["pending", "in_progress", "completed", "cancelled"])
  .meta({ id: "WorkItemStatus" });
/** Status of a work item. */
export type WorkItemStatus = z.infer<typeof workItemStatusSchema>;

const storedText = z.string().nullable().default(null);
const storedTime = storedTimestamp.nullable().default(null);

/** A new item has it unless a time of completion is given. */
const INITIAL_STATUS = "pending";
const NO_ATTRIBUTES = "{}";

/** Replaces top-level keys of `stored` by those of `given`. Returns the same text if none of them differs. */
function mergeAttributes(stored: string, given: JsonObject): string {
  if (stored === NO_ATTRIBUTES) return JSON.stringify(given);
  const attributes = parseJsonObject(stored);
  const changed = Object.entries(given).filter(
    ([key, value]) => !Object.hasOwn(attributes, key) || !jsonEquals(attributes[key] ?? null, value),
  );
  return changed.length === 0 ? stored : JSON.stringify({ ...attributes, ...Object.fromEntries(changed) });
}

/** A field of a person, which responses show in the agent or actor. */
function personField(description: string, input: () => z.ZodType<string, string>) {
  return field({
    description: `${description}. Null clears it.`,
    input: () => input().nullable(),
    stored: storedText,
    initial: null,
    response: null,
  });
}

/** Fields of a work item that callers set. Null clears a field of the agent. */
export const WORK_ITEM_FIELDS = {
  agent_email: {
    ...personField("Email address of the agent", email),
    // Systems write the same address in several ways.
    filter: () => email().toLowerCase(),
    filterIgnoresCase: true,
  },
  agent_name: personField("Name of the agent", text),
  agent_external_id: { ...personField("ID of the agent in the source system", text), filter: () => text() },
  type: field({
    description: "Kind of work.",
    input: () => text(),
    stored: z.string(),
    initial: "work_item",
    response: z.string(),
    filter: () => text(),
  }),
  status: field({
    description:
      "Status of the work. Without it, the status follows `completed_at`: a new item is `completed` with it and " +
      `\`${INITIAL_STATUS}\` without.`,
    input: () => workItemStatusSchema,
    stored: workItemStatusSchema,
    initial: INITIAL_STATUS,
    response: workItemStatusSchema,
    filter: () => workItemStatusSchema,
  }),
  completed_at: field({
    description: "When the work was completed. Null clears it.",
    input: () => timestamp().nullable(),
    stored: storedTime,
    initial: null,
    response: storedTimestamp.nullable(),
  }),
  custom_attributes: field({
    description:
      "Your own values by name, merged by their top-level keys. At most 256 KiB of JSON and 32 levels; no key `__proto__`.",
    input: customAttributes,
    // JSON text: DynamoDB's own maps lose digits, some keys and deep nesting.
    stored: z.string(),
    initial: NO_ATTRIBUTES,
    merge: mergeAttributes,
    fromCell: parseJsonObject,
    response: jsonObject,
    show: parseJsonObject,
  }),
} as const;

/** Fields of an event that callers set. Null clears a field. */
export const EVENT_FIELDS = {
  actor_email: personField("Email address of the actor", email),
  actor_name: personField("Name of the actor", text),
  actor_external_id: personField("ID of the actor in the source system", text),
  content: field({
    description: "What happened, at most 64 KiB of UTF-8. Null clears it.",
    input: () => content().nullable(),
    stored: storedText,
    initial: null,
    response: z.string().nullable(),
  }),
  occurred_at: field({
    description: "When it happened. Null clears it.",
    input: () => timestamp().nullable(),
    stored: storedTime,
    initial: null,
    response: storedTimestamp.nullable(),
  }),
} as const;
