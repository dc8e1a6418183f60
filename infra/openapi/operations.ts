import type { routes } from "../../functions/routes.ts";
import { conversationUploadOperations } from "../../functions/routes/conversation-uploads.ts";
import type { Operation } from "../../functions/routes/operation.ts";
import { serviceOperations } from "../../functions/routes/service.ts";
import { uploadOperations } from "../../functions/routes/uploads.ts";
import { workItemOperations } from "../../functions/routes/work-items.ts";

/** Groups of endpoints, in the order in which they are shown: one for each file of rows. */
const GROUPS = {
  "Work items": {
    description: "Units of work done by agents, each with the events of its source system.",
    operations: workItemOperations(),
  },
  Uploads: { description: "CSV files of work items, applied by jobs.", operations: uploadOperations() },
  "Conversation uploads": {
    description: "Conversations that another system processes, to be read.",
    operations: conversationUploadOperations(),
  },
  Service: { description: "The service itself.", operations: serviceOperations() },
} as const;

/** The groups as the document's tags. */
export const TAGS = Object.entries(GROUPS).map(([name, { description }]) => ({ name, description }));

/** What the document says of each endpoint. */
export const operations = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([tag, group]) =>
    Object.entries<Operation>(group.operations).map(([name, operation]) => [name, { ...operation, tag }]),
  ),
) as Record<keyof typeof routes, Operation & { readonly tag: string }>;
