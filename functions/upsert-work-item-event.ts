import { endpoint } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createUpsertWorkItemEvent } from "../lib/work-items/change-work-item-event.ts";
import { toEventResponse } from "../lib/work-items/work-item-response.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `POST /v1/work_items/{id}/events` */
export const { create, handler } = endpoint(
  workItemRoutes.upsertWorkItemEvent,
  { readBody: readJsonBody },
  (runtime) => {
    const upsertEvent = createUpsertWorkItemEvent(runtime);
    return async ({ organization, id, body, deadline, written }) => {
      written.set(id, "unknown");
      const { outcome, event } = await upsertEvent(organization, id, body.event, deadline);
      written.set(id, outcome === "unchanged" ? outcome : "updated");
      return { status: outcome === "created" ? 201 : 200, body: { data: toEventResponse(event) } };
    };
  },
);
