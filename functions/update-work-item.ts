import { InvalidInputError } from "../lib/errors.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { countFitting } from "../lib/http/response.ts";
import { createAssertVersion } from "../lib/http/etag.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { respondWithWorkItem } from "../lib/work-items/single-work-item.ts";
import { workItemId } from "../lib/identity.ts";
import { createUpdateWorkItem } from "../lib/work-items/change-work-item.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `PATCH /v1/work_items/{id}` */
export const { create, handler } = endpoint(workItemRoutes.updateWorkItem, { readBody: readJsonBody }, (runtime) => {
  const updateWorkItem = createUpdateWorkItem(runtime);
  return async (call) => {
    const { organization, id, body, headers, deadline, written } = call;
    const { external_id: externalId, ...changes } = body.work_item;
    if (externalId !== undefined && workItemId(organization.id, externalId) !== id) {
      const message = "can't be changed; send the work item's own external_id or omit it";
      throw new InvalidInputError([{ path: ["work_item", "external_id"], code: "immutable", message }]);
    }
    const assertVersion = createAssertVersion(headers["if-match"]);
    written.set(id, "unknown");
    const { outcome, ...updated } = await updateWorkItem(organization, id, changes, { assertVersion, deadline });
    written.set(id, outcome);
    return respondWithWorkItem(organization, updated, countFitting);
  };
});
