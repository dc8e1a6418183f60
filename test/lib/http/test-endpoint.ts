import * as z from "zod";
import { endpoint as endpointOf } from "../../../lib/http/endpoint.ts";
import { readJsonBody } from "../../../lib/http/request-body.ts";
import { EDGE_PERMISSIONS, type Route } from "../../../lib/http/route.ts";
import { type call, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";

/** A route with a query, a body and an id. */
const route = {
  name: "test",
  method: "POST",
  path: "/v1/tests/{id}",
  summary: "",
  bodyKind: "json",
  query: z.strictObject({ limit: z.coerce.number().max(100, "must be at most 100").default(50) }),
  body: z.strictObject({
    items: z.array(z.strictObject({ name: z.string().min(1, "must not be empty"), size: z.number().optional() })),
    extra: z.record(z.string(), z.string()).optional(),
  }),
  response: z.strictObject({ data: z.unknown() }),
  status: 201,
  permissions: EDGE_PERMISSIONS,
  document: () => ({ description: "", response: "", example: {} }),
} as const satisfies Route;

export const runtime = await createTestRuntime();
export const { key, organization } = await createTestOrganization(runtime);

/** A body that the route takes. */
export const body = { items: [{ name: "a" }] };
/** A request that the route takes, but for these changes. */
export const request = (changes: Parameters<typeof call>[1] = {}) => ({
  method: "POST",
  resource: route.path,
  params: { id: "00000000-0000-4000-8000-000000000000" },
  key,
  body,
  ...changes,
});
/** The route's endpoint. */
export const endpoint = (handle: ReturnType<Parameters<typeof endpointOf<typeof route>>[2]>, from = runtime) =>
  endpointOf(route, { readBody: readJsonBody }, () => handle).create(from);
/** An endpoint that responds with what it got. */
export const echo = () =>
  endpoint(async ({ organization: { id: caller }, id, query, body: parsed, headers }) => ({
    body: { data: { organization: caller, id, query, parsed, header: headers["x-test"] } },
  }));
