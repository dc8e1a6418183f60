import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "../../lib/work-items/work-item-fields.ts";

type Described = Readonly<Record<string, { readonly description: string; readonly response: unknown }>>;
function descriptionsOf(fields: Described): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).map(([name, { description }]) => [name, description]));
}
/** The same of the fields that responses have. */
function shownDescriptionsOf(fields: Described): Readonly<Record<string, string>> {
  return descriptionsOf(Object.fromEntries(Object.entries(fields).filter(([, { response }]) => response !== null)));
}

/** What the document says of each property: by schema, then by property. `schema: …` describes the schema itself. */
export const SCHEMA_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Person: {
    "": "An agent or actor. There is no directory of people, so `id` and `avatar_url` are null.",
    id: "Always null.",
    name: "Name, if known.",
    email: "Email address, if known.",
    external_id: "ID in the source system, if known.",
    avatar_url: "Always null.",
  },
  WorkItem: {
    "": "A work item without its events.",
    id: "ID of the work item, derived from the organization and `external_id`. Never changes.",
    external_id: "Your ID for the work item, unique in your organization.",
    agent: "The agent, from the three agent fields that you send.",
    agents: "Contains the agent, or is empty if none of the agent's fields is known.",
    ...shownDescriptionsOf(WORK_ITEM_FIELDS),
    type: `Kind of work. Default: \`${WORK_ITEM_FIELDS.type.initial}\`.`,
    status: "Status of the work.",
    completed_at: "When the work was completed.",
    custom_attributes: "Your own values, of any JSON type, by name. Numbers keep every digit.",
    short_description: "The custom attribute with this name, if it is a string.",
    description: "The custom attribute with this name, if it is a string.",
    created_at: "When the item was first saved.",
    updated_at: "When a field of the item last changed. Events don't count.",
    qa_score: "Quality score, from 0 to 1. Null until the item is evaluated.",
  },
  WorkItemWithEvents: {
    "": "A work item with its events.",
    events: "Sorted by `occurred_at`, then `created_at`. Events without a time come last.",
  },
  WorkItemChange: {
    "": "A work item in the change feed, as it is now. Extension.",
    sequence:
      "Number of the change; 0 in all but the last page of a first load. Pass it as `after` to continue from it.",
    deleted_at: "When the item was deleted. Null if it isn't deleted.",
    events:
      "Present with `include=events`. Sorted by `occurred_at`, then `created_at`. Events without a time come last.",
    events_next: "Cursor for the item's other events in its list of events. Present if they don't all fit.",
  },
  ErasedWorkItemChange: {
    "": "A work item in the change feed whose data was erased. Extension.",
    id: "ID of the work item.",
    sequence: "Number of the change.",
    deleted_at: "When the change was recorded.",
    erased: "Always true. Nothing else is known about the item.",
  },
  WorkItemStatus: { "": "Status of a work item." },
  WorkItemEvent: {
    "": "A record from the source system. Fields without a value are absent.",
    id: "ID of the event, derived from the work item's ID and `external_id`.",
    external_id: "Your ID for the event, unique in the work item.",
    actor: "Who did it.",
    content: "What happened.",
    occurred_at: "When it happened.",
    deleted_at: "Never set in this version.",
    created_at: "When the event was first saved.",
  },
  WorkItemInput: {
    "": "A work item to create or update. Fields that you leave out keep their values.",
    external_id: "Your ID for the work item, unique in your organization.",
    ...descriptionsOf(WORK_ITEM_FIELDS),
    events: "Events to create or update by their `external_id`. At most 2,000 in one batch.",
  },
  WorkItemPatch: {
    "": "Changes to a work item. Fields that you leave out keep their values.",
    external_id: "Optional. Must be the item's own.",
  },
  WorkItemEventInput: {
    "": "An event to create or update. Fields that you leave out keep their values.",
    external_id: "Your ID for the event, unique in the work item.",
    ...descriptionsOf(EVENT_FIELDS),
  },
  BatchResult: {
    "": "The outcome of one item of a batch.",
    index: "Position in the request, starting at 0.",
    external_id: "The item's `external_id`, or an empty string if it wasn't valid.",
    status: "What happened to the item.",
    data: "The item after the change. Null with the status `error`, and from the first item that doesn't fit in the 6 MB of a response.",
    error: "Why the item couldn't be applied.",
    errors: "The same for programs. Only with the status `error`. Pointers refer to the request's body. Extension.",
  },
  WorkItemUpload: {
    "": "A job that applies an uploaded file.",
    id: "ID of the job. The same `Idempotency-Key` gives the same ID.",
    status: "Status of the job. The last three are final.",
    file_name: "Name of the file. Extension.",
    size: "Size of the file in bytes. Extension.",
    key_name: "Name of the API key that was used. Extension.",
    dry_run: "Whether this is a dry run: no item is saved, and the counters say what an import would do. Extension.",
    total_rows: "Number of rows in the file. 0 until it has been read.",
    succeeded_rows: "Number of rows that were applied.",
    failed_rows: "Number of rows that couldn't be applied.",
    created_rows: "Number of rows that created an item. Extension.",
    updated_rows: "Number of rows that changed an item. Extension.",
    unchanged_rows: "Number of rows that changed nothing. Extension.",
    restored_rows: "Number of rows that restored a deleted item. Extension.",
    error: "Why the job failed. Absent if it didn't.",
    created_at: "When the job was created.",
    updated_at: "When the job last made progress.",
  },
  WorkItemUploadWithMapping: {
    "": "A job that applies an uploaded file, with the file's mapping if it has one.",
    mapping: "The mapping of the file. Extension.",
  },
  WorkItemUploadMapping: {
    "": "How the columns of a file become work items: either `fields` with its options, or `from` alone. Extension.",
    fields: "Sources of the work item's fields.",
    event: "Sources of one event per row.",
    delimiter: "Delimiter between the values of a row.",
  },
  WorkItemUploadMappingFields: { "": "Sources of the work item's fields. `external_id` is required." },
  WorkItemUploadMappingEvent: { "": "Sources of one event per row. `external_id` is required." },
  WorkItemUploadMappingSource: {
    "": "Where a value comes from. Send exactly one of `column`, `columns`, `value` and `first_of`.",
    first_of: "Uses the first of these sources that isn't empty.",
  },
  WorkItemUploadStatus: { "": "Status of an upload job." },
  WorkItemUploadRowList: {
    "": "A list of rows to download.",
    url: "A presigned URL.",
    expires_at: "When the URL expires.",
    rows: "Number of rows in the list.",
  },
  ConversationUpload: {
    "": "A conversation upload.",
    id: "ID of the conversation upload.",
    status: "Status of the processing.",
    created_at: "When it was recorded.",
    updated_at: "When it last changed.",
  },
  ConversationUploadListItem: {
    "": "A conversation upload as lists show it.",
    source: "Source of the conversation.",
    external_id: "ID in the system that records conversations.",
  },
  ConversationUploadStatus: { "": "Status of a conversation upload." },
  ProblemDetail: {
    "": "One problem in a request. Has either `pointer` or `parameter`.",
    pointer: "JSON Pointer (RFC 6901) to the value in the body. A part of a form is named by its name.",
    parameter: "Name of the query parameter or header.",
    code: "Code of the problem, for programs.",
    message: "Message for people.",
  },
  ProblemCode: { "": "What is wrong with a value. New codes may be added." },
  Error: { "": "An error.", error: "Message for people. Names each problem and where it is." },
  Problem: {
    "": "An error, for callers that accept `application/problem+json` (RFC 9457). Extension.",
    type: "Type of the error.",
    title: "Type of the error, for people.",
    status: "HTTP status of the response.",
    detail: "Same as `error`.",
    instance: "ID of the request, as in `x-request-id`.",
    errors: "The first hundred problems. Empty for errors that aren't about a value.",
    error: "The message that callers get without `application/problem+json`.",
  },
};

/** What the document says of query parameters. */
export const PARAMETER_DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: "ID from a response or a list.",
  limit: "Maximum number of results per page.",
  after:
    "`meta.page.next` of an earlier page, or a `sequence`. Without it, or with 0, the feed starts with the whole list; with `now`, after the newest change.",
  include: "`events` includes each item's events. Pages may then be shorter.",
  cursor: "`meta.page.next` of the previous page. Keep all other parameters the same.",
  external_id: "Only the result with this `external_id`.",
  agent_email: "Only work items of the agent with this email address, ignoring case. Extension.",
  agent_external_id: "Only work items of the agent with this ID in the source system.",
  type: "Only work items of this type. Extension.",
  status: "Only results with this status. Extension.",
  completed_from: "Only work items completed at or after this time. In a URL, write `+` as `%2B`. Extension.",
  completed_to: "Only work items completed before this time. In a URL, write `+` as `%2B`. Extension.",
};

/** What the document says of properties of whole bodies, by their path. Those of named schemas are described there. */
export const BODY_DESCRIPTIONS: Readonly<Record<string, string>> = {
  work_items: "The work items, applied in this order.",
  dry_run: "If true, nothing is saved, and the response shows what would happen.",
  on_invalid:
    "What to do if an item isn't valid: `refuse` rejects the whole batch; with `skip`, items may be anything: the valid ones are applied, and the others get an `error`. Extension.",
  upload: "The file that you are going to upload.",
  "upload.filename": "Name of the file.",
  "upload.size": "Size of the file in bytes.",
  "upload.mapping": "How the file's columns become work items. Extension.",
  "upload.dry_run": "If true, no item is saved, and the job counts what an import would do. Extension.",
  data: "The result.",
  "data.dry_run": "Whether this was a dry run.",
  "data.summary": "Number of items by result.",
  "data.summary.total": "Number of items in the request.",
  "data.summary.created": "Number of items that were created.",
  "data.summary.updated": "Number of items that were updated.",
  "data.summary.unchanged": "Number of items without changes.",
  "data.summary.restored": "Number of deleted items that were restored.",
  "data.summary.error": "Number of items that couldn't be applied.",
  "data.results": "The result of each item, in the order of the request.",
  "data.id": "ID of the work item.",
  "data.deleted": "Always true.",
  meta: "Information about the response.",
  "meta.page": "Position in the list.",
  "meta.page.next": "Pass it as `cursor` (in the change feed, as `after`) to get the next page.",
  "meta.page.limit": "Maximum number of results in this page.",
  "meta.page.more": "Whether there are more changes now.",
  "meta.events": "Events that didn't fit in the response. Absent if all did.",
  "meta.events.next": "Cursor for the rest, in the item's list of events.",
  "meta.upload": "Presigned form for the file. Present if the request was JSON. Extension.",
  "meta.upload.url": "Where to post the form.",
  "meta.upload.fields": "Fields to post before the file.",
  "meta.upload.expires_at": "When the form expires.",
  status: "Always `ok`.",
  region: "Region of the service.",
  version: "Version of the service.",
  openapi: "Version of OpenAPI.",
};
