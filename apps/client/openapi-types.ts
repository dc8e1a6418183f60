// Generated from docs/openapi.json by npm run openapi.

export type ApplyWorkItemBatchRequest = {
  /** The work items, applied in this order. */
  work_items: (WorkItemInput)[];
  /** If true, nothing is saved, and the response shows what would happen. */
  dry_run?: boolean | undefined;
  /** What to do if an item isn't valid: `refuse` rejects the whole batch; with `skip`, items may be anything: the valid ones are applied, and the others get an `error`. Extension. */
  on_invalid?: "refuse" | "skip" | undefined;
};

export type ApplyWorkItemBatchResponseBody = {
  /** The result. */
  data: {
    /** Whether this was a dry run. */
    dry_run: boolean;
    /** Number of items by result. */
    summary: {
      /** Number of items in the request. */
      total: number;
      /** Number of items that were created. */
      created: number;
      /** Number of items that were updated. */
      updated: number;
      /** Number of items without changes. */
      unchanged: number;
      /** Number of deleted items that were restored. */
      restored: number;
      /** Number of items that couldn't be applied. */
      error: number;
    };
    /** The result of each item, in the order of the request. */
    results: (BatchResult)[];
  };
};

/** What happened to one work item. */
export type BatchDeleteResult = {
  /** Position in the request, starting at 0. */
  index: number;
  /** ID of the work item. Null if you sent no valid one. */
  id: string | null;
  /** Your ID of the work item. Null if it isn't known or isn't valid. */
  external_id: string | null;
  /** `unchanged`: it was deleted before. `error`: it isn't deleted. Send the request again. */
  status: "deleted" | "unchanged" | "not_found" | "error";
  /** Why the item couldn't be deleted. Null unless the status is `error`. */
  error: string | null;
};

/** What was found of one work item. */
export type BatchGetResult = {
  /** Position in the request, starting at 0. */
  index: number;
  /** ID of the work item. Null if you sent no valid one. */
  id: string | null;
  /** Your ID of the work item. Null if it isn't known or isn't valid. */
  external_id: string | null;
  /** `not_returned`: it didn't fit in the response. Ask for it again. */
  status: "found" | "deleted" | "not_found" | "not_returned" | "error";
  /** The item without its events. Null unless the status is `found`. */
  data: (WorkItem) | (null);
  /** Why the item couldn't be read. Null unless the status is `error`. */
  error: string | null;
};

/** The outcome of one item of a batch. */
export type BatchResult = {
  /** Position in the request, starting at 0. */
  index: number;
  /** The item's `external_id`, or an empty string if it wasn't valid. */
  external_id: string;
  /** What happened to the item. */
  status: "created" | "updated" | "unchanged" | "restored" | "error";
  /** The item after the change. Null with the status `error`, for keys without the scope `read`, and from the first item that doesn't fit in the 6 MB of a response. */
  data: (WorkItem) | (null);
  /** Why the item couldn't be applied. */
  error: string | null;
  /** The same for programs. Only with the status `error`. Pointers refer to the request's body. Extension. */
  errors?: (ProblemDetail)[] | undefined;
};

export type CancelWorkItemUploadResponseBody = {
  data: WorkItemUploadWithMapping;
};

/** A conversation upload. */
export type ConversationUpload = {
  /** ID of the conversation upload. */
  id: string;
  /** Status of the processing. */
  status: ConversationUploadStatus;
  /** When it was recorded. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
};

/** A conversation upload as lists show it. */
export type ConversationUploadListItem = {
  /** ID of the conversation upload. */
  id: string;
  /** Status of the processing. */
  status: ConversationUploadStatus;
  /** Source of the conversation. */
  source: string;
  /** ID in the system that records conversations. */
  external_id: string;
  /** When it was recorded. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
};

/** Status of a conversation upload. */
export type ConversationUploadStatus = "pending" | "processing" | "completed" | "failed";

export type CreateWebhookRequest = {
  webhook: {
    /** Where to send messages: an https URL without a user name, on port 443 or from 1024 up. Only a service on your own machine also takes `http://localhost`. */
    url: string;
    /** Which messages to send. `upload.ended` includes `uploads.ended`. Default: all. */
    types?: (WebhookType)[] | undefined;
    /** Your own note. */
    description?: string | null | undefined;
  };
};

export type CreateWebhookResponseBody = {
  data: WebhookWithSecret;
};

export type CreateWorkItemRequest = {
  work_item: WorkItemInput;
};

export type CreateWorkItemResponseBody = {
  data: WorkItemWithEvents;
  /** Information about the response. */
  meta?: {
    /** Events that didn't fit in the response. Absent if all did. */
    events: {
      /** Cursor for the rest, in the item's list of events. */
      next: string;
    };
  } | undefined;
};

export type DeleteWebhookResponseBody = {
  /** The result. */
  data: {
    /** ID of the webhook. */
    id: string;
    /** Always true. */
    deleted: boolean;
  };
};

export type DeleteWorkItemBatchRequest = {
  /** Your IDs of the work items. Send either these or `ids`. */
  external_ids?: (string)[] | undefined;
  /** IDs of the work items. Send either these or `external_ids`. */
  ids?: (string)[] | undefined;
  /** If true, nothing is deleted, and the response shows what would happen. */
  dry_run?: boolean | undefined;
};

export type DeleteWorkItemBatchResponseBody = {
  /** The result. */
  data: {
    /** Whether this was a dry run. */
    dry_run: boolean;
    /** Number of items by result. */
    summary: {
      /** Number of IDs in the request. */
      total: number;
      /** Number of items that were deleted. */
      deleted: number;
      /** Number of items that were deleted before. */
      unchanged: number;
      /** Number of IDs that no item has. */
      not_found: number;
      /** Number of items that couldn't be deleted. */
      error: number;
    };
    /** What happened to each item, in the order of the request. */
    results: (BatchDeleteResult)[];
  };
};

export type DeleteWorkItemEventResponseBody = {
  /** The result. */
  data: {
    /** ID of the event. */
    id: string;
    /** Always true. */
    deleted: boolean;
  };
};

export type DeleteWorkItemResponseBody = {
  /** The result. */
  data: {
    /** ID of the work item. */
    id: string;
    /** Always true. */
    deleted: boolean;
  };
};

/** A work item in the change feed whose data was erased. Extension. */
export type ErasedWorkItemChange = {
  /** ID of the work item. */
  id: string;
  /** Number of the change. */
  sequence: number;
  /** When the change was recorded. */
  deleted_at: string;
  /** Always true. Nothing else is known about the item. */
  erased: boolean;
};

/** An error. */
export type Error = {
  /** Message for people. Names each problem and its location. */
  error: string;
};

export type GetConversationUploadResponseBody = {
  data: ConversationUpload;
};

export type GetHealthResponseBody = {
  /** Always `ok`. */
  status: "ok";
  /** Region of the service. */
  region: string;
  /** Version of the service. */
  version: string;
};

export type GetMeResponseBody = {
  /** The result. */
  data: {
    /** ID of the organization that owns the key. */
    organization: string;
    /** Region of the service. */
    region: string;
    /** The API key of this call. */
    key: {
      /** ID of the key, which isn't secret. */
      id: string;
      /** Name that the key was given. */
      name: string;
      /** What the key may do. */
      scopes: (KeyScope)[];
    };
    /** The organization's rate limit, which all of its keys share. */
    limits: {
      /** Requests per second. */
      rate: number;
      /** Requests at once. */
      burst: number;
    };
  };
};

export type GetOpenapiDocumentResponseBody = {
  /** Version of OpenAPI. */
  openapi: string;
} & Record<string, unknown>;

export type GetWebhookResponseBody = {
  data: Webhook;
};

export type GetWorkItemBatchRequest = {
  /** Your IDs of the work items. Send either these or `ids`. */
  external_ids?: (string)[] | undefined;
  /** IDs of the work items. Send either these or `external_ids`. */
  ids?: (string)[] | undefined;
};

export type GetWorkItemBatchResponseBody = {
  /** The result. */
  data: {
    /** What was found of each item, in the order of the request. */
    results: (BatchGetResult)[];
  };
};

export type GetWorkItemResponseBody = {
  data: WorkItemWithEvents;
  /** Information about the response. */
  meta?: {
    /** Events that didn't fit in the response. Absent if all did. */
    events: {
      /** Cursor for the rest, in the item's list of events. */
      next: string;
    };
  } | undefined;
};

export type GetWorkItemUploadFailedRowsResponseBody = {
  data: WorkItemUploadRowList;
};

export type GetWorkItemUploadResponseBody = {
  data: WorkItemUploadWithMapping;
};

export type GetWorkItemUploadResultsResponseBody = {
  data: WorkItemUploadRowList;
};

export type GetWorkItemUploadTemplateResponseBody = string;

/** What a key may do. More may be added. */
export type KeyScope = "read" | "write" | "upload" | "webhooks";

export type ListConversationUploadsResponseBody = {
  /** The result. */
  data: (ConversationUploadListItem)[];
  /** Information about the response. */
  meta: {
    /** Position in the list. */
    page: {
      /** Pass it as `cursor` (in the change feed, as `after`) to get the next page. */
      next?: string | undefined;
      /** Maximum number of results in this page. */
      limit: number;
    };
  };
};

export type ListWebhooksResponseBody = {
  data: (Webhook)[];
};

export type ListWorkItemChangesResponseBody = {
  /** The result. */
  data: ((WorkItemChange) | (ErasedWorkItemChange))[];
  /** Information about the response. */
  meta: {
    /** Position in the list. */
    page: {
      /** Pass it as `cursor` (in the change feed, as `after`) to get the next page. */
      next: string;
      /** Maximum number of results in this page. */
      limit: number;
      /** Whether there are more changes at the moment. */
      more: boolean;
    };
  };
};

export type ListWorkItemEventsResponseBody = {
  /** The result. */
  data: (WorkItemEvent)[];
  /** Information about the response. */
  meta: {
    /** Position in the list. */
    page: {
      /** Pass it as `cursor` (in the change feed, as `after`) to get the next page. */
      next?: string | undefined;
      /** Maximum number of results in this page. */
      limit: number;
    };
  };
};

export type ListWorkItemUploadsResponseBody = {
  /** The result. */
  data: (WorkItemUpload)[];
  /** Information about the response. */
  meta: {
    /** Position in the list. */
    page: {
      /** Pass it as `cursor` (in the change feed, as `after`) to get the next page. */
      next?: string | undefined;
      /** Maximum number of results in this page. */
      limit: number;
    };
  };
};

export type ListWorkItemsResponseBody = {
  /** The result. */
  data: (WorkItem)[];
  /** Information about the response. */
  meta: {
    /** Position in the list. */
    page: {
      /** Pass it as `cursor` (in the change feed, as `after`) to get the next page. */
      next?: string | undefined;
      /** Maximum number of results in this page. */
      limit: number;
    };
  };
};

/** An agent or actor. There is no directory of people, so `id` and `avatar_url` are null. */
export type Person = {
  /** Always null. */
  id: string | null;
  /** Name, if known. */
  name: string | null;
  /** Email address, if known. */
  email: string | null;
  /** ID in the source system, if known. */
  external_id: string | null;
  /** Always null. */
  avatar_url: string | null;
};

/** An error, for callers that accept `application/problem+json` (RFC 9457). Extension. */
export type Problem = {
  /** Type of the error. */
  type: string;
  /** Type of the error, for people. */
  title: string;
  /** HTTP status of the response. */
  status: number;
  /** Same as `error`. */
  detail: string;
  /** ID of the request, as in `x-request-id`. */
  instance: string;
  /** The first hundred problems. Empty for errors that aren't about a value. */
  errors: (ProblemDetail)[];
  /** The message, as in errors without `application/problem+json`. */
  error: string;
};

/** What is wrong with a value. New codes may be added. */
export type ProblemCode = "required" | "unknown" | "repeated" | "invalid_type" | "invalid_value" | "invalid_format" | "too_small" | "too_big" | "too_deep" | "not_unicode" | "immutable" | "reused" | "taken" | "unreadable_file" | "busy" | "invalid";

/** One problem in a request. Has either `pointer` or `parameter`. */
export type ProblemDetail = {
  /** JSON Pointer (RFC 6901) to the value in the body. A part of a form is named by its name. */
  pointer?: string | undefined;
  /** Name of the query parameter or header. */
  parameter?: string | undefined;
  /** Code of the problem, for programs. */
  code: ProblemCode;
  /** Message for people. */
  message: string;
};

export type ResendWebhookResponseBody = {
  data: Webhook;
};

export type RotateWebhookSecretResponseBody = {
  data: WebhookWithSecret;
};

export type TestWebhookResponseBody = {
  data: {
    /** HTTP status of the response; null if there was none. */
    status: number | null;
    /** Why there was no response; null if there was one. */
    reason: string | null;
    /** How long the call took. */
    milliseconds: number;
  };
};

export type UndoWorkItemUploadRequest = {
  /** Options of the undo. */
  undo?: {
    /** If true, no item is saved, and the job counts what the undo would do. */
    dry_run?: boolean | undefined;
  } | undefined;
};

export type UndoWorkItemUploadResponseBody = {
  data: WorkItemUploadWithMapping;
};

export type UpdateWebhookRequest = {
  webhook: {
    /** Where to send messages: an https URL without a user name, on port 443 or from 1024 up. Only a service on your own machine also takes `http://localhost`. */
    url?: string | undefined;
    /** Which messages to send. `upload.ended` includes `uploads.ended`. Default: all. */
    types?: (WebhookType)[] | undefined;
    /** Your own note. */
    description?: string | null | undefined;
    /** `false` pauses the webhook, `true` resumes it. */
    enabled?: boolean | undefined;
  };
};

export type UpdateWebhookResponseBody = {
  data: Webhook;
};

export type UpdateWorkItemRequest = {
  work_item: WorkItemPatch;
};

export type UpdateWorkItemResponseBody = {
  data: WorkItemWithEvents;
  /** Information about the response. */
  meta?: {
    /** Events that didn't fit in the response. Absent if all did. */
    events: {
      /** Cursor for the rest, in the item's list of events. */
      next: string;
    };
  } | undefined;
};

export type UploadWorkItemsRequest = {
  /** The file that you are going to upload. */
  upload: {
    /** How the file's columns become work items. Extension. */
    mapping?: WorkItemUploadMapping | undefined;
    /** If true, no item is saved, and the job counts what an import would do. Extension. */
    dry_run?: boolean | undefined;
    /** Name of the file. */
    filename: string;
    /** Size of the file in bytes. */
    size: number;
  };
};

export type UploadWorkItemsResponseBody = {
  data: WorkItemUploadWithMapping;
  /** Information about the response. */
  meta?: {
    /** Presigned form for the file. Present if the request was JSON. Extension. */
    upload: {
      /** Where to post the form. */
      url: string;
      /** Fields to post before the file. */
      fields: Record<string, string>;
      /** When the form expires. */
      expires_at: string;
    };
  } | undefined;
};

export type UpsertWorkItemEventRequest = {
  event: WorkItemEventInput;
};

export type UpsertWorkItemEventResponseBody = {
  data: WorkItemEvent;
};

/** Your endpoint, which gets a message when there is something to fetch. */
export type Webhook = {
  /** ID of the webhook. */
  id: string;
  /** Where messages are sent. */
  url: string;
  /** Which messages it gets. */
  types: ("work_items.changed" | "upload.ended")[];
  /** Your own note. */
  description: string | null;
  /** `failing`: the last attempt failed. `disabled`: it gets no messages, for the reason in `disabled_reason`. */
  status: "active" | "failing" | "disabled";
  /** `paused`: you paused it. `gone`: the receiver answered 410. `failures`: it failed for 5 days. Null if it isn't disabled. */
  disabled_reason: ("paused" | "gone" | "failures") | (null);
  /** Time of the first failed attempt; null after a success. */
  failing_since: string | null;
  /** When the next attempt is due; null if none is. */
  next_attempt_at: string | null;
  /** The last call to the receiver. */
  last_delivery: {
    /** When it ended. */
    at: string;
    /** Type of the message. */
    type: string;
    /** The `webhook-id` of the message, the same for each attempt. */
    message_id: string;
    /** HTTP status of the response; null if there was none. */
    status: number | null;
    /** Why there was no response; null if there was one. */
    reason: string | null;
    /** How long the call took. */
    milliseconds: number;
  } | null;
  /** The last 20 calls to the receiver, newest first. Only in the response to `GET /v1/webhooks/{id}`. */
  deliveries?: (WebhookDelivery)[] | undefined;
  /** When the webhook was created. */
  created_at: string;
  /** When its settings last changed. */
  updated_at: string;
};

/** A call to the receiver of a webhook. */
export type WebhookDelivery = {
  /** When it ended. */
  at: string;
  /** Type of the message. */
  type: string;
  /** The `webhook-id` of the message, the same for each attempt. */
  message_id: string;
  /** HTTP status of the response; null if there was none. */
  status: number | null;
  /** Why there was no response; null if there was one. */
  reason: string | null;
  /** How long the call took. */
  milliseconds: number;
};

/** An event for which a webhook gets messages. */
export type WebhookType = "work_items.changed" | "upload.ended";

/** A webhook and its secret. */
export type WebhookWithSecret = {
  /** ID of the webhook. */
  id: string;
  /** Where messages are sent. */
  url: string;
  /** Which messages it gets. */
  types: ("work_items.changed" | "upload.ended")[];
  /** Your own note. */
  description: string | null;
  /** `failing`: the last attempt failed. `disabled`: it gets no messages, for the reason in `disabled_reason`. */
  status: "active" | "failing" | "disabled";
  /** `paused`: you paused it. `gone`: the receiver answered 410. `failures`: it failed for 5 days. Null if it isn't disabled. */
  disabled_reason: ("paused" | "gone" | "failures") | (null);
  /** Time of the first failed attempt; null after a success. */
  failing_since: string | null;
  /** When the next attempt is due; null if none is. */
  next_attempt_at: string | null;
  /** The last call to the receiver. */
  last_delivery: {
    /** When it ended. */
    at: string;
    /** Type of the message. */
    type: string;
    /** The `webhook-id` of the message, the same for each attempt. */
    message_id: string;
    /** HTTP status of the response; null if there was none. */
    status: number | null;
    /** Why there was no response; null if there was one. */
    reason: string | null;
    /** How long the call took. */
    milliseconds: number;
  } | null;
  /** The last 20 calls to the receiver, newest first. Only in the response to `GET /v1/webhooks/{id}`. */
  deliveries?: (WebhookDelivery)[] | undefined;
  /** When the webhook was created. */
  created_at: string;
  /** When its settings last changed. */
  updated_at: string;
  /** Signs the messages. It is shown only here. */
  secret: string;
};

/** A work item without its events. */
export type WorkItem = {
  /** ID of the work item, derived from the organization and `external_id`. Never changes. */
  id: string;
  /** Your ID for the work item, unique in your organization. */
  external_id: string;
  /** The agent, from the three agent fields that you send. */
  agent: Person;
  /** Contains the agent, or is empty if none of the agent's fields is known. */
  agents: (Person)[];
  /** Kind of work. */
  type: string;
  /** Status of the work. */
  status: WorkItemStatus;
  /** When the work was completed. */
  completed_at: string | null;
  /** Your own values, of any JSON type, by name. Numbers keep every digit. */
  custom_attributes: Record<string, unknown>;
  /** The custom attribute with this name, if it is a string. */
  short_description: string | null;
  /** The custom attribute with this name, if it is a string. */
  description: string | null;
  /** When the item was first saved. */
  created_at: string;
  /** When a field of the item last changed. Events don't count. */
  updated_at: string;
  /** Quality score, from 0 to 1. Null until the item is evaluated. */
  qa_score: number | null;
};

/** A work item in the change feed, as it is now. Extension. */
export type WorkItemChange = {
  /** ID of the work item, derived from the organization and `external_id`. Never changes. */
  id: string;
  /** Your ID for the work item, unique in your organization. */
  external_id: string;
  /** The agent, from the three agent fields that you send. */
  agent: Person;
  /** Contains the agent, or is empty if none of the agent's fields is known. */
  agents: (Person)[];
  /** Kind of work. */
  type: string;
  /** Status of the work. */
  status: WorkItemStatus;
  /** When the work was completed. */
  completed_at: string | null;
  /** Your own values, of any JSON type, by name. Numbers keep every digit. */
  custom_attributes: Record<string, unknown>;
  /** The custom attribute with this name, if it is a string. */
  short_description: string | null;
  /** The custom attribute with this name, if it is a string. */
  description: string | null;
  /** When the item was first saved. */
  created_at: string;
  /** When a field of the item last changed. Events don't count. */
  updated_at: string;
  /** Quality score, from 0 to 1. Null until the item is evaluated. */
  qa_score: number | null;
  /** Number of the change; 0 in all but the last page of a first load. Pass it as `after` to continue from it. */
  sequence: number;
  /** When the item was deleted. Null if it isn't deleted. */
  deleted_at: string | null;
  /** Present with `include=events`. Sorted by `occurred_at`, then `created_at`. Events without a time come last. */
  events?: (WorkItemEvent)[] | undefined;
  /** Cursor for the item's other events in its list of events. Present if they don't all fit. */
  events_next?: string | undefined;
};

/** A record from the source system. Fields without a value are absent. */
export type WorkItemEvent = {
  /** ID of the event, derived from the work item's ID and `external_id`. */
  id: string;
  /** Your ID for the event, unique in the work item. */
  external_id: string;
  /** Who did it. */
  actor: Person;
  /** What happened. */
  content?: string | undefined;
  /** When it happened. */
  occurred_at?: string | undefined;
  /** When the event was deleted. Absent unless it is deleted; saving the event again restores it. */
  deleted_at?: string | undefined;
  /** When the event was first saved. */
  created_at: string;
};

/** An event to create or update. Fields that you leave out keep their values. */
export type WorkItemEventInput = {
  /** Your ID for the event, unique in the work item. */
  external_id: string;
  /** Email address of the actor. Null clears it. */
  actor_email?: string | null | undefined;
  /** Name of the actor. Null clears it. */
  actor_name?: string | null | undefined;
  /** ID of the actor in the source system. Null clears it. */
  actor_external_id?: string | null | undefined;
  /** What happened. At most 64 KiB of UTF-8. Null clears it. */
  content?: string | null | undefined;
  /** When it happened. Null clears it. */
  occurred_at?: string | null | undefined;
};

/** A work item to create or update. Fields that you leave out keep their values. */
export type WorkItemInput = {
  /** Your ID for the work item, unique in your organization. */
  external_id: string;
  /** Email address of the agent. Null clears it. */
  agent_email?: string | null | undefined;
  /** Name of the agent. Null clears it. */
  agent_name?: string | null | undefined;
  /** ID of the agent in the source system. Null clears it. */
  agent_external_id?: string | null | undefined;
  /** Kind of work. Default in a new item: `work_item`. */
  type?: string | undefined;
  /** Status of the work. Without it, the status follows `completed_at`: a new item is `completed` with it and `pending` without. */
  status?: WorkItemStatus | undefined;
  /** When the work was completed. Null clears it. */
  completed_at?: string | null | undefined;
  /** Your own values, of any JSON type, by name. Numbers keep every digit. Keys that you send replace stored ones; others stay. At most 256 KiB of JSON and 32 levels; no key `__proto__`. */
  custom_attributes?: Record<string, unknown> | undefined;
  /** Names of custom attributes to remove, after `custom_attributes` are merged. Others are ignored. Null as a value removes nothing. Extension. */
  remove_attributes?: (string)[] | undefined;
  /** Events to create or update by their `external_id`. At most 2,000 in one batch. */
  events?: (WorkItemEventInput)[] | undefined;
};

/** Changes to a work item. Fields that you leave out keep their values. */
export type WorkItemPatch = {
  /** Optional. Must be the item's own. */
  external_id?: string | undefined;
  /** Email address of the agent. Null clears it. */
  agent_email?: string | null | undefined;
  /** Name of the agent. Null clears it. */
  agent_name?: string | null | undefined;
  /** ID of the agent in the source system. Null clears it. */
  agent_external_id?: string | null | undefined;
  /** Kind of work. Default in a new item: `work_item`. */
  type?: string | undefined;
  /** Status of the work. Without it, the status follows `completed_at`: a new item is `completed` with it and `pending` without. */
  status?: WorkItemStatus | undefined;
  /** When the work was completed. Null clears it. */
  completed_at?: string | null | undefined;
  /** Your own values, of any JSON type, by name. Numbers keep every digit. Keys that you send replace stored ones; others stay. At most 256 KiB of JSON and 32 levels; no key `__proto__`. */
  custom_attributes?: Record<string, unknown> | undefined;
  /** Names of custom attributes to remove, after `custom_attributes` are merged. Others are ignored. Null as a value removes nothing. Extension. */
  remove_attributes?: (string)[] | undefined;
};

/** Status of a work item. */
export type WorkItemStatus = "pending" | "in_progress" | "completed" | "cancelled";

/** A job that applies an uploaded file. */
export type WorkItemUpload = {
  /** ID of the job. The same `Idempotency-Key` gives the same ID. */
  id: string;
  /** Status of the job. The last three are final. */
  status: "pending" | "processing" | "completed" | "failed" | "cancelled";
  /** Name of the file. Extension. */
  file_name?: string | undefined;
  /** Size of the file in bytes. Extension. */
  size?: number | undefined;
  /** Name of the API key that was used. Extension. */
  key_name?: string | undefined;
  /** Whether this is a dry run: no item is saved, and the counters say what an import would do. Extension. */
  dry_run: boolean;
  /** ID of the upload that this job undoes. Its rows are those of that upload. Extension. */
  undo_of?: string | undefined;
  /** When an undo can begin at the earliest: 40 seconds after the upload ended. Absent in dry runs. Extension. */
  begins_at?: string | undefined;
  /** ID of the last job that undoes this upload, except dry runs. Extension. */
  undone_by?: string | undefined;
  /** Number of rows in the file, or that an undo goes through. 0 until that is known. */
  total_rows: number;
  /** Number of rows that were applied or, by an undo, processed. */
  succeeded_rows: number;
  /** Number of rows that couldn't be applied. */
  failed_rows: number;
  /** Number of rows that created an item. Extension. */
  created_rows: number;
  /** Number of rows that changed an item. Extension. */
  updated_rows: number;
  /** Number of rows that changed nothing, or for which an undo had nothing to restore. Extension. */
  unchanged_rows: number;
  /** Number of rows that restored a deleted item. Extension. */
  restored_rows: number;
  /** Number of rows whose item an undo deleted, because the undone upload created it. Extension. */
  deleted_rows: number;
  /** Number of rows whose item and event an undo fully restored. Extension. */
  undone_rows: number;
  /** Number of rows whose item and event an undo only partly restored, because others have changed them since. Extension. */
  partly_undone_rows: number;
  /** Number of rows whose item and event an undo left as they were. Extension. */
  kept_rows: number;
  /** Why the job failed. Absent otherwise. */
  error?: string | undefined;
  /** When the job was created. */
  created_at: string;
  /** When the job last made progress. */
  updated_at: string;
};

/** How the columns of a file become work items: either `fields` with its options, or `from` alone. Extension. */
export type WorkItemUploadMapping = ({
  /** Sources of the work item's fields. */
  fields: WorkItemUploadMappingFields;
  /** Sources of one event per row. */
  event?: WorkItemUploadMappingEvent | undefined;
  /** What to do with columns that no source names. */
  others?: "custom_attributes" | "ignore" | "refuse" | undefined;
  /** Values that count as empty. */
  empty?: (string)[] | undefined;
  /** What empty values do: `keep` leaves fields as they are, `clear` clears those that can be cleared: all but `external_id`, `type`, `status` and `custom_attributes` as a whole. */
  blank?: "keep" | "clear" | undefined;
  /** Number of the header's row. The rows above it are skipped. */
  header_row?: number | undefined;
  /** Delimiter between the values of a row. */
  delimiter?: "," | ";" | "\t" | "|" | undefined;
  /** Decimal mark of numbers. */
  decimal?: "." | "," | undefined;
}) | ({
  /** ID of an earlier upload whose mapping is used again. Send it alone. */
  from: string;
});

/** Sources of one event per row. `external_id` is required. */
export type WorkItemUploadMappingEvent = {
  external_id: WorkItemUploadMappingSource;
} & Record<string, WorkItemUploadMappingSource>;

/** Sources of the work item's fields. `external_id` is required. */
export type WorkItemUploadMappingFields = {
  external_id: WorkItemUploadMappingSource;
} & Record<string, WorkItemUploadMappingSource>;

/** Where a value comes from. Send exactly one of `column`, `columns`, `value` and `first_of`. */
export type WorkItemUploadMappingSource = {
  /** Header of a column. */
  column?: string | undefined;
  /** Headers of columns whose values are joined. Empty values are left out. */
  columns?: (string)[] | undefined;
  /** Separator for joined values. Default: a space. */
  join?: string | undefined;
  /** Derives 32 characters from the names and values of `columns` instead of joining them. */
  digest?: boolean | undefined;
  /** The same text for every row. */
  value?: string | undefined;
  /** Uses the first of these sources that isn't empty. */
  first_of?: (WorkItemUploadMappingSource)[] | undefined;
  /** Translations of texts in the file. Other texts stay as they are. */
  values?: Record<string, string> | undefined;
  /** Translation of all other texts. */
  otherwise?: string | undefined;
  /** Date format: `iso` (default), `unix`, `unix_ms`, or Unicode date fields such as `dd-MM-yyyy HH:mm`, at most 100 characters. */
  format?: string | undefined;
  /** IANA time zone for dates without an offset. */
  time_zone?: string | undefined;
  /** Put before each text that isn't empty. */
  prefix?: string | undefined;
  /** Removes spaces around each text. */
  trim?: boolean | undefined;
  /** What an empty value does: `keep` leaves the field as it is, `clear` clears it. Default: as in the mapping. */
  blank?: "keep" | "clear" | undefined;
  /** Type of a custom attribute. Default: `text`. */
  as?: "text" | "number" | "boolean" | "json" | undefined;
};

/** A list of rows to download. */
export type WorkItemUploadRowList = {
  /** A presigned URL. */
  url: string | null;
  /** When the URL expires. */
  expires_at: string | null;
  /** Number of rows in the list. */
  rows: number;
};

/** Status of an upload job. */
export type WorkItemUploadStatus = "pending" | "processing" | "completed" | "failed" | "cancelled";

/** A job that applies an uploaded file, with the file's mapping if it has one. */
export type WorkItemUploadWithMapping = {
  /** ID of the job. The same `Idempotency-Key` gives the same ID. */
  id: string;
  /** Status of the job. The last three are final. */
  status: "pending" | "processing" | "completed" | "failed" | "cancelled";
  /** Name of the file. Extension. */
  file_name?: string | undefined;
  /** Size of the file in bytes. Extension. */
  size?: number | undefined;
  /** Name of the API key that was used. Extension. */
  key_name?: string | undefined;
  /** Whether this is a dry run: no item is saved, and the counters say what an import would do. Extension. */
  dry_run: boolean;
  /** ID of the upload that this job undoes. Its rows are those of that upload. Extension. */
  undo_of?: string | undefined;
  /** When an undo can begin at the earliest: 40 seconds after the upload ended. Absent in dry runs. Extension. */
  begins_at?: string | undefined;
  /** ID of the last job that undoes this upload, except dry runs. Extension. */
  undone_by?: string | undefined;
  /** Number of rows in the file, or that an undo goes through. 0 until that is known. */
  total_rows: number;
  /** Number of rows that were applied or, by an undo, processed. */
  succeeded_rows: number;
  /** Number of rows that couldn't be applied. */
  failed_rows: number;
  /** Number of rows that created an item. Extension. */
  created_rows: number;
  /** Number of rows that changed an item. Extension. */
  updated_rows: number;
  /** Number of rows that changed nothing, or for which an undo had nothing to restore. Extension. */
  unchanged_rows: number;
  /** Number of rows that restored a deleted item. Extension. */
  restored_rows: number;
  /** Number of rows whose item an undo deleted, because the undone upload created it. Extension. */
  deleted_rows: number;
  /** Number of rows whose item and event an undo fully restored. Extension. */
  undone_rows: number;
  /** Number of rows whose item and event an undo only partly restored, because others have changed them since. Extension. */
  partly_undone_rows: number;
  /** Number of rows whose item and event an undo left as they were. Extension. */
  kept_rows: number;
  /** Why the job failed. Absent otherwise. */
  error?: string | undefined;
  /** When the job was created. */
  created_at: string;
  /** When the job last made progress. */
  updated_at: string;
  /** The mapping of the file. Extension. */
  mapping?: WorkItemUploadMapping | undefined;
  /** In how many rows each field of the item would change, by its name; all custom attributes count as `custom_attributes`. Only in dry runs of files. Extension. */
  changed_fields?: Record<string, number> | undefined;
};

/** A work item with its events. */
export type WorkItemWithEvents = {
  /** ID of the work item, derived from the organization and `external_id`. Never changes. */
  id: string;
  /** Your ID for the work item, unique in your organization. */
  external_id: string;
  /** The agent, from the three agent fields that you send. */
  agent: Person;
  /** Contains the agent, or is empty if none of the agent's fields is known. */
  agents: (Person)[];
  /** Kind of work. */
  type: string;
  /** Status of the work. */
  status: WorkItemStatus;
  /** When the work was completed. */
  completed_at: string | null;
  /** Your own values, of any JSON type, by name. Numbers keep every digit. */
  custom_attributes: Record<string, unknown>;
  /** The custom attribute with this name, if it is a string. */
  short_description: string | null;
  /** The custom attribute with this name, if it is a string. */
  description: string | null;
  /** When the item was first saved. */
  created_at: string;
  /** When a field of the item last changed. Events don't count. */
  updated_at: string;
  /** Quality score, from 0 to 1. Null until the item is evaluated. */
  qa_score: number | null;
  /** Sorted by `occurred_at`, then `created_at`. Events without a time come last. */
  events: (WorkItemEvent)[];
};

/** Names of the fields of a work item that can be written. */
export const WORK_ITEM_FIELD_NAMES = [
  "external_id",
  "agent_email",
  "agent_name",
  "agent_external_id",
  "type",
  "status",
  "completed_at",
  "custom_attributes"
] as const;

/** All endpoints by their operation ids. */
export interface operations {
  applyWorkItemBatch: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": ApplyWorkItemBatchRequest;
      };
    };
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ApplyWorkItemBatchResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getWorkItemBatch: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": GetWorkItemBatchRequest;
      };
    };
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetWorkItemBatchResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  deleteWorkItemBatch: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": DeleteWorkItemBatchRequest;
      };
    };
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": DeleteWorkItemBatchResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  createWorkItem: {
    parameters: {
      query?: never;
      header?: {
        /** Any unique string. Requests with the same key and content have the effect of one, so retries are safe. For a create, the key counts together with the `external_id`. Extension. */
        "Idempotency-Key"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": CreateWorkItemRequest;
      };
    };
    responses: {
      201: {
        headers: Record<string, unknown>;
        content: {
          "application/json": CreateWorkItemResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      409: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  listWorkItems: {
    parameters: {
      query?: {
        /** Maximum number of results per page. */
        limit?: number | undefined;
        /** `meta.page.next` of the previous page. Keep all other parameters the same. */
        cursor?: string | undefined;
        /** Only the result with this `external_id`. */
        external_id?: string | undefined;
        /** Only work items of the agent with this email address, ignoring case. Extension. */
        agent_email?: string | undefined;
        /** Only work items of the agent with this ID in the source system. */
        agent_external_id?: string | undefined;
        /** Only work items of this type, or of one of several: `type=call&type=chat`. Extension. */
        type?: (string)[] | undefined;
        /** Only work items with this status, or with one of several: `status=pending&status=in_progress`. Extension. */
        status?: (WorkItemStatus)[] | undefined;
        /** Only work items completed at or after this time. In a URL, write `+` as `%2B`. Extension. */
        completed_from?: string | undefined;
        /** Only work items completed before this time. In a URL, write `+` as `%2B`. Extension. */
        completed_to?: string | undefined;
      };
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ListWorkItemsResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  listWorkItemChanges: {
    parameters: {
      query?: {
        /** `meta.page.next` of an earlier page, or a `sequence`. Without it, or with 0, the feed starts with the whole list; with `now`, after the newest change. */
        after?: string | undefined;
        /** Starts with what changed at or after this time instead of the whole list. Can't be combined with `after`. In a URL, write `+` as `%2B`. */
        since?: string | undefined;
        /** Maximum number of results per page. */
        limit?: number | undefined;
        /** `events` includes each item's events. Pages may then be shorter. */
        include?: "events" | undefined;
      };
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ListWorkItemChangesResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      410: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getWorkItem: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetWorkItemResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  updateWorkItem: {
    parameters: {
      query?: never;
      header?: {
        /** Changes the work item only if it still has the version in this entity tag; otherwise returns 412. Extension. */
        "If-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": UpdateWorkItemRequest;
      };
    };
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": UpdateWorkItemResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      412: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  deleteWorkItem: {
    parameters: {
      query?: never;
      header?: {
        /** Changes the work item only if it still has the version in this entity tag; otherwise returns 412. Extension. */
        "If-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": DeleteWorkItemResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      412: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  upsertWorkItemEvent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": UpsertWorkItemEventRequest;
      };
    };
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": UpsertWorkItemEventResponseBody;
        };
      };
      201: {
        headers: Record<string, unknown>;
        content: {
          "application/json": UpsertWorkItemEventResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  listWorkItemEvents: {
    parameters: {
      query?: {
        /** Maximum number of results per page. */
        limit?: number | undefined;
        /** `meta.page.next` of the previous page. Keep all other parameters the same. */
        cursor?: string | undefined;
      };
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ListWorkItemEventsResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  deleteWorkItemEvent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
        /** ID of the event, from a response. */
        event_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": DeleteWorkItemEventResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  uploadWorkItems: {
    parameters: {
      query?: never;
      header?: {
        /** Any unique string. Requests with the same key and content have the effect of one, so retries are safe. For a create, the key counts together with the `external_id`. Extension. */
        "Idempotency-Key"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "multipart/form-data": {
          /** The CSV file, with a filename. The whole body is at most 4 MiB. */
          "upload[file]": Blob;
          /** How the file's columns become work items. Extension. */
          "upload[mapping]"?: WorkItemUploadMapping | undefined;
          /** If true, no item is saved, and the job counts what an import would do. Extension. */
          "upload[dry_run]"?: boolean | undefined;
        };
        "application/json": UploadWorkItemsRequest;
      };
    };
    responses: {
      202: {
        headers: Record<string, unknown>;
        content: {
          "application/json": UploadWorkItemsResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  listWorkItemUploads: {
    parameters: {
      query?: {
        /** Maximum number of results per page. */
        limit?: number | undefined;
        /** `meta.page.next` of the previous page. Keep all other parameters the same. */
        cursor?: string | undefined;
        /** Only results with this status. Extension. */
        status?: WorkItemUploadStatus | undefined;
      };
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ListWorkItemUploadsResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getWorkItemUpload: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetWorkItemUploadResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  cancelWorkItemUpload: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": CancelWorkItemUploadResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      409: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getWorkItemUploadTemplate: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "text/csv": GetWorkItemUploadTemplateResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  undoWorkItemUpload: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": UndoWorkItemUploadRequest;
      };
    };
    responses: {
      202: {
        headers: Record<string, unknown>;
        content: {
          "application/json": UndoWorkItemUploadResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      409: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      410: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getWorkItemUploadFailedRows: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetWorkItemUploadFailedRowsResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getWorkItemUploadResults: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetWorkItemUploadResultsResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  listConversationUploads: {
    parameters: {
      query?: {
        /** Maximum number of results per page. */
        limit?: number | undefined;
        /** `meta.page.next` of the previous page. Keep all other parameters the same. */
        cursor?: string | undefined;
        /** Only the result with this `external_id`. */
        external_id?: string | undefined;
      };
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ListConversationUploadsResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getConversationUpload: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetConversationUploadResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  createWebhook: {
    parameters: {
      query?: never;
      header?: {
        /** Any unique string. Requests with the same key and content have the effect of one, so retries are safe. For a create, the key counts together with the `external_id`. Extension. */
        "Idempotency-Key"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": CreateWebhookRequest;
      };
    };
    responses: {
      201: {
        headers: Record<string, unknown>;
        content: {
          "application/json": CreateWebhookResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      409: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  listWebhooks: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ListWebhooksResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getWebhook: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetWebhookResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  updateWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": UpdateWebhookRequest;
      };
    };
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": UpdateWebhookResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      413: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      415: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  deleteWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": DeleteWebhookResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  rotateWebhookSecret: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": RotateWebhookSecretResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      409: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  testWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": TestWebhookResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      409: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  resendWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** ID from a response or a list. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: Record<string, unknown>;
        content: {
          "application/json": ResendWebhookResponseBody;
        };
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      403: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      404: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      409: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getMe: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetMeResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      401: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      429: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getHealth: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetHealthResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
  getOpenapiDocument: {
    parameters: {
      query?: never;
      header?: {
        /** Returns 304 without a body if the response would still have this entity tag. Extension. */
        "If-None-Match"?: string | undefined;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: Record<string, unknown>;
        content: {
          "application/json": GetOpenapiDocumentResponseBody;
        };
      };
      304: {
        headers: Record<string, unknown>;
        content?: never;
      };
      400: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      422: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      431: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
        };
      };
      500: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
      503: {
        headers: Record<string, unknown>;
        content: {
          "application/json": Error;
          "application/problem+json": Problem;
        };
      };
    };
  };
}

/** All endpoints by path and method. */
export interface paths {
  "/v1/work_items/batch": {
    post: operations["applyWorkItemBatch"];
  };
  "/v1/work_items/batch_get": {
    post: operations["getWorkItemBatch"];
  };
  "/v1/work_items/batch_delete": {
    post: operations["deleteWorkItemBatch"];
  };
  "/v1/work_items": {
    post: operations["createWorkItem"];
    get: operations["listWorkItems"];
  };
  "/v1/work_items/changes": {
    get: operations["listWorkItemChanges"];
  };
  "/v1/work_items/{id}": {
    get: operations["getWorkItem"];
    patch: operations["updateWorkItem"];
    delete: operations["deleteWorkItem"];
  };
  "/v1/work_items/{id}/events": {
    post: operations["upsertWorkItemEvent"];
    get: operations["listWorkItemEvents"];
  };
  "/v1/work_items/{id}/events/{event_id}": {
    delete: operations["deleteWorkItemEvent"];
  };
  "/v1/work_items/upload": {
    post: operations["uploadWorkItems"];
    get: operations["listWorkItemUploads"];
  };
  "/v1/work_items/upload/{id}": {
    get: operations["getWorkItemUpload"];
    delete: operations["cancelWorkItemUpload"];
  };
  "/v1/work_items/upload/template.csv": {
    get: operations["getWorkItemUploadTemplate"];
  };
  "/v1/work_items/upload/{id}/undo": {
    post: operations["undoWorkItemUpload"];
  };
  "/v1/work_items/upload/{id}/failed_rows": {
    get: operations["getWorkItemUploadFailedRows"];
  };
  "/v1/work_items/upload/{id}/results": {
    get: operations["getWorkItemUploadResults"];
  };
  "/v1/conversation_uploads": {
    get: operations["listConversationUploads"];
  };
  "/v1/conversation_uploads/{id}": {
    get: operations["getConversationUpload"];
  };
  "/v1/webhooks": {
    post: operations["createWebhook"];
    get: operations["listWebhooks"];
  };
  "/v1/webhooks/{id}": {
    get: operations["getWebhook"];
    patch: operations["updateWebhook"];
    delete: operations["deleteWebhook"];
  };
  "/v1/webhooks/{id}/rotate_secret": {
    post: operations["rotateWebhookSecret"];
  };
  "/v1/webhooks/{id}/test": {
    post: operations["testWebhook"];
  };
  "/v1/webhooks/{id}/resend": {
    post: operations["resendWebhook"];
  };
  "/v1/me": {
    get: operations["getMe"];
  };
  "/v1/health": {
    get: operations["getHealth"];
  };
  "/v1/openapi.json": {
    get: operations["getOpenapiDocument"];
  };
}
