import {
  WORK_ITEM_FIELD_NAMES,
  type WorkItem as Item,
  type WorkItemInput as Input,
  type WorkItemUploadMapping,
  type WorkItemUploadWithMapping,
} from "./openapi-types.ts";

export type {
  BatchDeleteResult,
  BatchGetResult,
  BatchResult,
  ConversationUpload,
  ConversationUploadListItem,
  ErasedWorkItemChange,
  ProblemDetail,
  Webhook,
  WebhookWithSecret,
  WorkItem,
  WorkItemChange,
  WorkItemEvent,
  WorkItemEventInput,
  WorkItemInput,
  WorkItemPatch,
  WorkItemUpload,
  WorkItemWithEvents,
} from "./openapi-types.ts";

/** An upload job. */
export type UploadJob = WorkItemUploadWithMapping;
/** How columns of a file become work items. */
export type Mapping = WorkItemUploadMapping;

/** A work item as an input without events, to change it and write it back. A null clears its field. */
export function inputOf(item: Item): Input {
  const agent = Object.entries(item.agent).map(([name, value]) => [`agent_${name}`, value] as const);
  const shown: Readonly<Record<string, unknown>> = { ...Object.fromEntries(agent), ...item };
  return Object.fromEntries(WORK_ITEM_FIELD_NAMES.map((name) => [name, shown[name]])) as unknown as Input;
}
