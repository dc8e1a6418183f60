import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { InvalidInputError } from "../lib/errors.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { assertMatches, parseIfMatch } from "../lib/http/etag.ts";
import { workItemId } from "../lib/identity.ts";
import { itemWithEventsAnswer } from "../lib/work-items/item-with-events-answer.ts";
import { createWorkItemStore } from "../lib/work-items/work-item-store.ts";
import { routes } from "./routes.ts";

const route = routes.updateWorkItem;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createWorkItemStore(runtime);
  return endpoint(route, runtime, async ({ organization, params, body, headers, deadline }) => {
    const id = params["id"] ?? "";
    const { external_id: externalId, ...changes } = body.work_item;
    if (externalId !== undefined && workItemId(organization.id, externalId) !== id) {
      throw new InvalidInputError("work_item.external_id: must be that of the work item; it cannot be changed");
    }
    const ifMatch = parseIfMatch(headers["if-match"]);
    const assertVersion = (version: number) => assertMatches(ifMatch, version);
    return itemWithEventsAnswer(
      organization,
      await store.update(organization, id, changes, { assertVersion, deadline }),
    );
  });
};

export const handler = lambda(route.touches, create);
