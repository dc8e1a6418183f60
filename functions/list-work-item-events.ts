import { endpoint } from "../lib/http/endpoint.ts";
import { toPage } from "../lib/http/pagination.ts";
import { eventsScope } from "../lib/work-items/single-work-item.ts";
import { decodeCursor, encodeCursor } from "../lib/store/lists/cursor.ts";
import { countFitting } from "../lib/http/response.ts";
import { createListWorkItemEvents } from "../lib/work-items/read-work-item.ts";
import { toEventResponse } from "../lib/work-items/work-item-response.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `GET /v1/work_items/{id}/events` */
export const { create, handler } = endpoint(workItemRoutes.listWorkItemEvents, {}, (runtime) => {
  const listEvents = createListWorkItemEvents(runtime);
  return async ({ organization, id, query }) => {
    const scope = eventsScope(organization, id);
    const after = query.cursor === undefined ? undefined : decodeCursor(scope, query.cursor);
    const { events, eventsAfter } = await listEvents(organization.id, id, after, query.limit);
    const data = events.map(toEventResponse);
    const fitting = countFitting(data);
    const last = fitting < events.length ? events[fitting - 1]?.sk : eventsAfter;
    const next = last === undefined ? undefined : encodeCursor(scope, last);
    return { body: toPage(data.slice(0, fitting), next, query.limit) };
  };
});
