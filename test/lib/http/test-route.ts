import * as z from "zod";
import { EDGE_PERMISSIONS, type Route } from "../../../lib/http/route.ts";

/** A route with a query, a body and an id. */
export const route = {
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
} as const satisfies Route;
