import { endpoint } from "../lib/http/endpoint.ts";
import { createDeleteWorkItemEvent } from "../lib/work-items/change-work-item-event.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `DELETE /v1/work_items/{id}/events/{event_id}` */
export const { create, handler } = endpoint(workItemRoutes.deleteWorkItemEvent, {}, (runtime) => {
  const deleteEvent = createDeleteWorkItemEvent(runtime);
  return async ({ organization, id, eventId, deadline, written }) => {
    written.set(id, "unknown");
    written.set(id, await deleteEvent(organization, id, eventId, deadline));
    return { body: { data: { id: eventId, deleted: true } } };
  };
});
