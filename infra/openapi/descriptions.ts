import { EVENT_FIELDS, WORK_ITEM_FIELDS } from "../../lib/work-items/work-item-fields.ts";

type Described = Readonly<Record<string, { readonly description: string; readonly response: unknown }>>;
const descriptionsOf = (fields: Described): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, { description }]) => [name, description]));
/** The same of the fields that responses have. */
const shownDescriptionsOf = (fields: Described): Readonly<Record<string, string>> =>
  descriptionsOf(Object.fromEntries(Object.entries(fields).filter(([, { response }]) => response !== null)));

/** What the document says of each property: by schema, then by property. `schema: …` describes the schema itself. */
export const SCHEMA_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Person: {
    "": "An agent or actor. There is no directory of people: `id` and `avatar_url` are null.",
    id: "Null.",
    name: "Name, if one is known.",
    email: "E-mail address, if one is known.",
    external_id: "Id in the source system, if one is known.",
    avatar_url: "Null.",
  },
  WorkItem: {
    "": "A work item without its events.",
    id: "Made by the service out of the organization and `external_id`; it never changes.",
    external_id: "Chosen by the caller, unique in the organization.",
    agent: "The agent, of the three agent fields of the input.",
    agents: "The agent, or nothing if none of its fields is known.",
    ...shownDescriptionsOf(WORK_ITEM_FIELDS),
    type: `Kind of work; \`${WORK_ITEM_FIELDS.type.initial}\` unless one was given.`,
    status: "State of the work.",
    completed_at: "When the work was completed.",
    custom_attributes: "Values of any type by name. Numbers keep every digit.",
    short_description: "The custom attribute of this name if it is a string.",
    description: "The custom attribute of this name if it is a string.",
    created_at: "When the item was first stored.",
    updated_at: "When a field of the item last changed. Events do not change it.",
    qa_score: "Result of the evaluation, if there is one.",
  },
  WorkItemWithEvents: {
    "": "A work item with its events.",
    events: "Sorted by `occurred_at`, then `created_at`; those without a time come last.",
  },
  WorkItemChange: {
    "": "A work item in the change feed, as it is now. Extension.",
    sequence:
      "Number of the change. 0 in the pages of a first load but for the last one. Pass it as `after` to go on after it.",
    deleted_at: "When the item was deleted; null if it is not.",
    events:
      "Present with `include=events`. Sorted by `occurred_at`, then `created_at`; those without a time come last.",
    events_next: "Cursor for the item's other events, in its list of events. Present if not all fit.",
  },
  ErasedWorkItemChange: {
    "": "A work item in the change feed whose data was erased. Extension.",
    id: "Id of the item.",
    sequence: "Number of the change.",
    deleted_at: "When the change was recorded.",
    erased: "Nothing else is known of the item.",
  },
  WorkItemStatus: { "": "State of a work item." },
  WorkItemEvent: {
    "": "A record of the source system. Properties without a value are absent.",
    id: "Made by the service out of the work item's id and `external_id`.",
    external_id: "Chosen by the caller, unique in the work item.",
    actor: "Who did it.",
    content: "What happened.",
    occurred_at: "When it happened.",
    deleted_at: "Never set in this version.",
    created_at: "When the event was first stored.",
  },
  WorkItemInput: {
    "": "A work item to create or change. On an existing item, fields that are left out keep their values.",
    external_id: "Chosen by the caller, unique in the organization.",
    ...descriptionsOf(WORK_ITEM_FIELDS),
    events: "Created or updated by their `external_id`. At most 2,000 in one batch.",
  },
  WorkItemPatch: {
    "": "Changes of a work item. Fields that are left out keep their values.",
    external_id: "May be given if it is the item's own.",
  },
  WorkItemEventInput: {
    "": "An event to create or change. On an existing event, fields that are left out keep their values.",
    external_id: "Chosen by the caller, unique in the work item.",
    ...descriptionsOf(EVENT_FIELDS),
  },
  BatchResult: {
    "": "The outcome of one item of a batch.",
    index: "Place in the request, from 0.",
    external_id: "That of the item; empty if a skipped item has no valid one.",
    status: "What the item did.",
    data: "The item afterwards; null with the status `error`, and from the first item on that does not fit in 6 MB.",
    error: "Why it could not be applied.",
    errors: "The same for programs, with the status `error` only. Pointers lead into the request's body. Extension.",
  },
  WorkItemUpload: {
    "": "A job that applies an uploaded file.",
    id: "Made by the service; out of the `Idempotency-Key` if there is one.",
    status: "State of the job. The last three are final.",
    file_name: "Name of the file. Absent from jobs that were created before names were kept. Extension.",
    size: "Bytes of the file. Absent from jobs that were created before sizes were kept. Extension.",
    dry_run: "Whether no item is written; the counters then say what a run would do. Extension.",
    total_rows: "Rows in the file; 0 until it is read.",
    succeeded_rows: "Rows that were applied.",
    failed_rows: "Rows that could not be applied.",
    created_rows: "Succeeded rows that created an item. Extension.",
    updated_rows: "Succeeded rows that changed an item. Extension.",
    unchanged_rows: "Succeeded rows that changed nothing. Extension.",
    restored_rows: "Succeeded rows that restored a deleted item. Extension.",
    error: "Why the job failed; absent otherwise.",
    created_at: "When the job was created.",
    updated_at: "When the job last made progress.",
  },
  WorkItemUploadWithMapping: {
    "": "A job that applies an uploaded file, with the mapping of the file if it has one.",
    mapping: "The mapping of the file. Extension.",
  },
  WorkItemUploadMapping: {
    "": "How the columns of a file become work items: `fields` and what belongs to it, or `from` alone. Extension.",
    fields: "Where the fields of an item come from.",
    event: "Where the fields of one event a row come from.",
    delimiter: "What separates the cells of a row.",
  },
  WorkItemUploadMappingFields: { "": "Sources of an item's fields; that of `external_id` is required." },
  WorkItemUploadMappingEvent: { "": "Sources of the fields of one event a row; that of `external_id` is required." },
  WorkItemUploadMappingSource: {
    "": "Where a value comes from: exactly one of `column`, `columns`, `value` and `first_of` is given.",
    first_of: "The first of these sources that is not empty.",
  },
  WorkItemUploadStatus: { "": "State of an upload job." },
  WorkItemUploadRowList: {
    "": "Where to download a list of rows.",
    url: "A presigned URL.",
    expires_at: "When the URL expires.",
    rows: "How many rows the list is to have.",
  },
  ConversationUpload: {
    "": "A conversation upload.",
    id: "Made by the service.",
    status: "State of the processing.",
    created_at: "When it was recorded.",
    updated_at: "When it last changed.",
  },
  ConversationUploadListItem: {
    "": "A conversation upload as lists show it.",
    source: "Where the conversation comes from.",
    external_id: "Id in the system that records conversations.",
  },
  ConversationUploadStatus: { "": "State of a conversation upload." },
  ProblemDetail: {
    "": "One problem of a request. It has either `pointer` or `parameter`.",
    pointer: "JSON Pointer (RFC 6901) to the value in the body; a part of a form by its name.",
    parameter: "Name of the query parameter or header.",
    code: "For programs.",
    message: "For people.",
  },
  ProblemCode: { "": "What is wrong with a value. New codes may come." },
  Error: { "": "Every error.", error: "For people; it names every problem with its place." },
  Problem: {
    "": "Every error, for callers that accept `application/problem+json` (RFC 9457). Extension.",
    type: "The kind of error.",
    title: "The kind of error, for people.",
    status: "The status of the response.",
    detail: "The same sentence as `error`.",
    instance: "The request's id, as in `x-request-id`.",
    errors: "The first hundred problems; none for errors that are about no value.",
    error: "The sentence that callers get without `application/problem+json`.",
  },
};

/** What the document says of query parameters. */
export const PARAMETER_DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: "The id of the response that created it, or of a list.",
  limit: "The most entries of a page.",
  after:
    "`meta.page.next` of an earlier page, or a `sequence`. Without it, or with 0, the feed begins with the whole list; with `now`, after the newest change.",
  include: "`events`: with the events of each item. A page may then end earlier.",
  cursor: "`meta.page.next` of the page before, with the same other parameters.",
  external_id: "Only the entry with this `external_id`.",
  agent_email: "Only work items of the agent with this e-mail address. Extension.",
  agent_external_id: "Only work items of the agent with this id in the source system.",
  type: "Only work items of this type. Extension.",
  status: "Only entries with this status. Extension.",
  completed_from: "Only work items completed at this time or later. In a URL, `+` is written `%2B`. Extension.",
  completed_to: "Only work items completed before this time. In a URL, `+` is written `%2B`. Extension.",
};
