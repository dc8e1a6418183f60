import { endpoint } from "../lib/http/endpoint.ts";
import { countFitting } from "../lib/http/response.ts";
import { parseIdempotencyKey } from "../lib/http/request.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { assertScopes } from "../lib/http/scopes.ts";
import { workItemId } from "../lib/identity.ts";
import { respondWithWorkItem } from "../lib/work-items/single-work-item.ts";
import { createCreateWorkItem } from "../lib/work-items/work-item-creation.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `POST /v1/work_items` */
export const { create, handler } = endpoint(workItemRoutes.createWorkItem, { readBody: readJsonBody }, (runtime) => {
  const createWorkItem = createCreateWorkItem(runtime);
  return async ({ organization, scopes, body, headers, written }) => {
    const key = parseIdempotencyKey(headers);
    const input = body.work_item;
    const createKey = key === undefined ? undefined : { key, content: input };
    const id = workItemId(organization.id, input.external_id);
    written.set(id, "unknown");
    const { outcome, isUntouched, ...created } = await createWorkItem(organization, input, createKey);
    written.set(id, outcome);
    // The response then shows what others have written since.
    if (!isUntouched) assertScopes(["read", "write"], scopes);
    return respondWithWorkItem(organization, created, countFitting);
  };
});
