import { type Route, scopeOf } from "../../lib/http/route.ts";

/** Classes of functions whose concurrency and throttling can be set together. */
export const CALL_CLASSES = ["reads", "writes", "uploads", "pages"] as const;
export type CallClass = (typeof CALL_CLASSES)[number];

const CLASS_OF_SCOPE = { any: "reads", read: "reads", write: "writes", upload: "uploads" } as const;

/** The class of an endpoint: that of the scope that it needs; webhooks are read and written. Calls without a key are with the pages. */
export function callClassOf(
  route: { readonly public: true } | Pick<Route, "method" | "path" | "scope" | "public">,
): CallClass {
  if (route.public === true) return "pages";
  const scope = scopeOf(route);
  if (scope === "webhooks") return route.method === "GET" ? "reads" : "writes";
  return CLASS_OF_SCOPE[scope];
}
