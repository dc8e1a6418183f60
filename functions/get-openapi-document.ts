import document from "../docs/openapi.json" with { type: "json" };
import { addressOf } from "../lib/http/request.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { publicEndpoint } from "../lib/http/public-endpoint.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { routes } from "./routes.ts";

const route = routes.getOpenapiDocument;

/** `GET /v1/openapi.json` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  return publicEndpoint(route, runtime, async (_, event) => {
    const address = addressOf(event, route.path);
    const servers = address === undefined ? document.servers : [{ url: address }];
    return { body: { ...document, servers }, headers: { "cache-control": "public, max-age=300" } };
  });
}

export const handler = lambda(route.permissions, {}, create);
