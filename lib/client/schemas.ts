import type {
  WorkItem as Item,
  WorkItemInput as Input,
  WorkItemUploadMapping,
  WorkItemUploadWithMapping,
} from "./api.ts";

export type {
  BatchResult,
  ConversationUpload,
  ConversationUploadListItem,
  ErasedWorkItemChange,
  ProblemDetail,
  WorkItem,
  WorkItemChange,
  WorkItemEvent,
  WorkItemEventInput,
  WorkItemInput,
  WorkItemPatch,
  WorkItemUpload,
  WorkItemWithEvents,
} from "./api.ts";

/** An upload job. */
export type UploadJob = WorkItemUploadWithMapping;
/** How the columns of a file become work items. */
export type Mapping = WorkItemUploadMapping;

/**
 * The work item as an input, without its events, so that it can be changed and written back. A null clears its field.
 */
export function inputOf({ external_id, agent, type, status, completed_at, custom_attributes }: Item): Input {
  return {
    external_id,
    agent_email: agent.email,
    agent_name: agent.name,
    agent_external_id: agent.external_id,
    type,
    status,
    completed_at,
    custom_attributes,
  };
}
