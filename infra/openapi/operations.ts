import { routes } from "../../functions/routes.ts";
import { conversationUploadRoutes } from "../../functions/routes/conversation-uploads.ts";
import { serviceRoutes } from "../../functions/routes/service.ts";
import { uploadRoutes } from "../../functions/routes/uploads.ts";
import { webhookRoutes } from "../../functions/routes/webhooks.ts";
import { workItemRoutes } from "../../functions/routes/work-items.ts";
import type { Operation } from "../../lib/http/route.ts";

/** Groups of endpoints in the order of the document: one for each file of rows. */
const GROUPS = {
  "Work items": {
    description: "Units of work done by agents, each with the events of its source system.",
    rows: workItemRoutes,
  },
  Uploads: { description: "Imports of CSV files. Each upload is a job.", rows: uploadRoutes },
  "Conversation uploads": {
    description: "Conversations that another system processes. You can read them.",
    rows: conversationUploadRoutes,
  },
  Webhooks: {
    description: "Your endpoints, which are notified when there is something to fetch.",
    rows: webhookRoutes,
  },
  Service: { description: "The service itself.", rows: serviceRoutes },
} as const;

/** The groups as the document's tags. */
export const TAGS = Object.entries(GROUPS).map(([name, { description }]) => ({ name, description }));

type RouteName = keyof typeof routes;

/** What the document says about an endpoint. @throws Error for a link to an operation that doesn't exist */
function operationOf(name: RouteName): Operation {
  const operation: Operation = routes[name].document();
  for (const { operationId } of Object.values(operation.links ?? {})) {
    if (!Object.hasOwn(routes, operationId)) throw new Error(`${name} has a link to ${operationId}, which isn't a row`);
  }
  return operation;
}

/** What the document says about each endpoint. */
export const operations = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([tag, { rows }]) =>
    (Object.keys(rows) as RouteName[]).map((name) => [name, { ...operationOf(name), tag }]),
  ),
) as Record<RouteName, Operation & { readonly tag: string }>;
