import { InvalidInputError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { assertMatches, parseIfMatch } from "../lib/http/etag.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { respondWithWorkItem } from "../lib/work-items/single-work-item.ts";
import { workItemId } from "../lib/identity.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createUpdateWorkItem } from "../lib/work-items/change-work-item.ts";
import { routes } from "./routes.ts";

const route = routes.updateWorkItem;

/** `PATCH /v1/work_items/{id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const updateWorkItem = createUpdateWorkItem(runtime);
  return endpointWithBody(route, runtime, readJsonBody, async (call) => {
    const { organization, id, body, headers, deadline, written } = call;
    const { external_id: externalId, ...changes } = body.work_item;
    if (externalId !== undefined && workItemId(organization.id, externalId) !== id) {
      const message = "can't be changed; send the work item's own external_id or omit it";
      throw new InvalidInputError([{ path: ["work_item", "external_id"], code: "immutable", message }]);
    }
    const ifMatch = parseIfMatch(headers["if-match"]);
    const assertVersion = (version: number) => assertMatches(ifMatch, version);
    written.set(id, "unknown");
    const { outcome, ...updated } = await updateWorkItem(organization, id, changes, { assertVersion, deadline });
    written.set(id, outcome);
    return respondWithWorkItem(organization, updated);
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
