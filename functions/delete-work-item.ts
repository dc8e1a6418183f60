import { endpoint } from "../lib/http/endpoint.ts";
import { createAssertVersion } from "../lib/http/etag.ts";
import { createDeleteWorkItem } from "../lib/work-items/change-work-item.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `DELETE /v1/work_items/{id}` */
export const { create, handler } = endpoint(workItemRoutes.deleteWorkItem, {}, (runtime) => {
  const deleteWorkItem = createDeleteWorkItem(runtime);
  return async ({ organization, id, headers, deadline, written }) => {
    const assertVersion = createAssertVersion(headers["if-match"]);
    written.set(id, "unknown");
    written.set(id, (await deleteWorkItem(organization, id, { assertVersion, deadline })).status);
    return { body: { data: { id, deleted: true } } };
  };
});
