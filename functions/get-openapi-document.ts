import document from "../docs/openapi.json" with { type: "json" };
import { addressOf } from "../lib/http/request.ts";
import { publicEndpoint } from "../lib/http/public-endpoint.ts";
import { serviceRoutes } from "./routes/service.ts";

const route = serviceRoutes.getOpenapiDocument;

/** `GET /v1/openapi.json` */
export const { create, handler } = publicEndpoint(route, {}, () => async (_, event) => {
  const address = addressOf(event, route.path);
  const servers = address === undefined ? document.servers : [{ url: address }];
  return { body: { ...document, servers }, headers: { "cache-control": "public, max-age=300" } };
});
