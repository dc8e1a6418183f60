import { fields, type StoredFields } from "./field-definition.ts";
import { KINDS } from "./field-kinds.ts";

/** Status of a new item without `completed_at`. */
const INITIAL_STATUS = "pending";

/** Fields of a work item that callers set. */
export const WORK_ITEM_FIELDS = fields({
  agent_email: {
    kind: KINDS.email,
    label: "Agent’s email",
    letter: "A",
    description: "Email address of the agent.",
    person: "agent",
    filter: "Only work items of the agent with this email address, ignoring case. Extension.",
  },
  agent_name: {
    kind: KINDS.text,
    label: "Agent’s name",
    letter: "B",
    description: "Name of the agent.",
    person: "agent",
    sample: "Ada",
  },
  agent_external_id: {
    kind: KINDS.text,
    label: "Agent’s ID",
    letter: "C",
    description: "ID of the agent in the source system.",
    person: "agent",
    filter: "Only work items of the agent with this ID in the source system.",
    sample: "agent-7",
  },
  type: {
    kind: KINDS.text,
    label: "Type",
    letter: "D",
    description: "Kind of work.",
    note: "Default in a new item: `work_item`.",
    initial: "work_item",
    filter: "Only work items of this type, or of one of several: `type=call&type=chat`. Extension.",
    filterRepeats: true,
    sample: "ticket",
  },
  status: {
    kind: KINDS.choice("WorkItemStatus", "Status of a work item.", [
      "pending",
      "in_progress",
      "completed",
      "cancelled",
    ]),
    label: "Status",
    letter: "E",
    description: "Status of the work.",
    note:
      "Without it, the status follows `completed_at`: a new item is `completed` with it and " +
      `\`${INITIAL_STATUS}\` without.`,
    initial: INITIAL_STATUS,
    filter: "Only work items with this status, or with one of several: `status=pending&status=in_progress`. Extension.",
    filterRepeats: true,
    sample: "completed",
  },
  completed_at: {
    kind: KINDS.time,
    label: "Completed at",
    letter: "F",
    description: "When the work was completed.",
  },
  custom_attributes: {
    kind: KINDS.attributes,
    label: "Custom attributes (a JSON object)",
    letter: "G",
    description: "Your own values, of any JSON type, by name. Numbers keep every digit.",
  },
}) satisfies Readonly<Record<string, { readonly letter: string }>>;
/** Prefix of the names of single custom attributes, as in the columns of files. */
export const ATTRIBUTE_PREFIX = "custom_attributes.";

/** Status of a work item. */
export type WorkItemStatus = StoredFields<typeof WORK_ITEM_FIELDS>["status"];

/** Fields of an event that callers set. */
export const EVENT_FIELDS = fields({
  actor_email: {
    kind: KINDS.email,
    label: "Actor’s email",
    description: "Email address of the actor.",
    person: "actor",
  },
  actor_name: { kind: KINDS.text, label: "Actor’s name", description: "Name of the actor.", person: "actor" },
  actor_external_id: {
    kind: KINDS.text,
    label: "Actor’s ID",
    description: "ID of the actor in the source system.",
    person: "actor",
  },
  content: { kind: KINDS.longText, label: "What happened", description: "What happened." },
  occurred_at: { kind: KINDS.time, label: "Happened at", description: "When it happened." },
});
