import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { assertMatches, parseIfMatch } from "../lib/http/etag.ts";
import { createWorkItemStore } from "../lib/work-items/work-item-store.ts";
import { routes } from "./routes.ts";

const route = routes.deleteWorkItem;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createWorkItemStore(runtime);
  return endpoint(route, runtime, async ({ organization, params, headers, deadline }) => {
    const id = params["id"] ?? "";
    const ifMatch = parseIfMatch(headers["if-match"]);
    const assertVersion = (version: number) => assertMatches(ifMatch, version);
    await store.remove(organization, id, { assertVersion, deadline });
    return { body: { data: { id, deleted: true } } };
  });
};

export const handler = lambda(route.touches, create);
