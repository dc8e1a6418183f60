import {
  conversationUploadId,
  idempotentUploadJobId,
  idempotentWebhookId,
  undoJobId,
  webhookMessageId,
  workItemEventId,
  workItemId,
} from "../../lib/identity.ts";
import { sumOf, toRowCounters } from "../../lib/uploads/job/counters.ts";
import { createShow, initialFields } from "../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../lib/work-items/work-item-fields.ts";

/** Ids are derived, so the examples' ids are real for the organization of `npm start`. */
const ORGANIZATION = "demo";
const IDEMPOTENCY_KEY = "nightly-2026-03-01";
const EXTERNAL_ID = "INC0000045";
const EVENT_EXTERNAL_ID = "INC0000045-1";
const CREATED_AT = "2026-03-01T08:00:00.123Z";
const UPDATED_AT = "2026-03-01T10:30:00.456Z";

const ids = {
  item: workItemId(ORGANIZATION, EXTERNAL_ID),
  event: workItemEventId(workItemId(ORGANIZATION, EXTERNAL_ID), EVENT_EXTERNAL_ID),
  erased: workItemId(ORGANIZATION, "INC0000044"),
  unknown: workItemId(ORGANIZATION, "INC0000099"),
  upload: idempotentUploadJobId(ORGANIZATION, IDEMPOTENCY_KEY),
  conversation: conversationUploadId(ORGANIZATION, "CALL-2026-0301"),
  webhook: idempotentWebhookId(ORGANIZATION, IDEMPOTENCY_KEY),
};

const agent = {
  id: null,
  name: "Ann Example",
  email: "ann@example.com",
  external_id: "agent-7",
  avatar_url: null,
};

const eventInput = {
  external_id: EVENT_EXTERNAL_ID,
  actor_name: "Bob Example",
  content: "Opened by telephone.",
  occurred_at: "2026-03-01T09:00:00+01:00",
};

const event = {
  id: ids.event,
  external_id: EVENT_EXTERNAL_ID,
  actor: { id: null, name: "Bob Example", email: null, external_id: null, avatar_url: null },
  content: "Opened by telephone.",
  occurred_at: "2026-03-01T08:00:00.000Z",
  created_at: CREATED_AT,
};

const itemInput = {
  external_id: EXTERNAL_ID,
  agent_name: agent.name,
  agent_email: agent.email,
  agent_external_id: agent.external_id,
  type: "incident",
  custom_attributes: { team: "south", priority: 2 },
  events: [eventInput],
};

const item = {
  id: ids.item,
  external_id: EXTERNAL_ID,
  agent,
  agents: [agent],
  ...createShow(WORK_ITEM_FIELDS)(initialFields(WORK_ITEM_FIELDS)),
  type: "incident",
  custom_attributes: { team: "south", priority: 2 },
  short_description: null,
  description: null,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  qa_score: null,
};

const completed = {
  ...item,
  status: "completed",
  completed_at: "2026-03-01T10:30:00.000Z",
  updated_at: UPDATED_AT,
};

const job = {
  id: ids.upload,
  status: "pending",
  file_name: "items.csv",
  size: 1048576,
  dry_run: false,
  total_rows: 0,
  ...toRowCounters(sumOf([])),
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};

const completedJob = {
  ...job,
  status: "completed",
  total_rows: 3,
  succeeded_rows: 2,
  failed_rows: 1,
  created_rows: 1,
  updated_rows: 1,
  updated_at: UPDATED_AT,
};

const undoJob = {
  ...job,
  id: undoJobId(ORGANIZATION, ids.upload),
  size: undefined,
  dry_run: true,
  undo_of: ids.upload,
};

const conversation = {
  id: ids.conversation,
  status: "completed",
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
};

const webhook = {
  id: ids.webhook,
  url: "https://hooks.example.com/work-items",
  types: ["work_items.changed", "upload.ended"],
  description: null,
  status: "active",
  disabled_reason: null,
  failing_since: null,
  next_attempt_at: null,
  last_delivery: {
    at: UPDATED_AT,
    type: "work_items.changed",
    message_id: webhookMessageId(ids.webhook, "work_items.changed", "1772361000456000"),
    status: 204,
    reason: null,
    milliseconds: 84,
  },
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};

/** The values of the document's examples. */
export const examples = {
  ids,
  eventInput,
  event,
  itemInput,
  item,
  itemWithEvents: { ...item, events: [event] },
  completed,
  completedWithEvents: { ...completed, events: [event] },
  job,
  completedJob,
  undoJob,
  conversation,
  listedConversation: { ...conversation, source: "telephone", external_id: "CALL-2026-0301" },
  webhook,
  webhookSecret: "whsec_ZXhhbXBsZSBzZWNyZXQgb2YgMzIgYnl0ZXMgbG9uZyE=",
  problem: {
    pointer: "/work_items/3/agent_email",
    code: "invalid_format",
    message: "must be an email address",
  },
  /** Has the form of a cursor, without a valid signature. */
  cursor: "u7lGcyKcA9o0WkdwYfzGWzIjMjAyNi0wMy0wMVQxMDozMDowMC4wMDBa",
  csv: "external_id,type,status,custom_attributes.team\nINC0000045,incident,completed,south\nINC0000046,incident,,north\n",
  ticketsCsv: "Ticket;State;Closed\nT-1;Done;03.03.2026 16:20\nT-2;Open;\n",
  mapping: {
    fields: {
      external_id: { column: "Ticket" },
      status: { column: "State", values: { Done: "completed", Open: "pending" } },
      completed_at: { column: "Closed", format: "dd.MM.yyyy HH:mm", time_zone: "Europe/Berlin" },
    },
    delimiter: ";",
  },
  idempotencyKey: IDEMPOTENCY_KEY,
  etag: '"3-5f1d2c3b4a596877"',
} as const;
