import type { Route } from "../../lib/http/route.ts";

/** Classes of functions whose concurrency and throttling can be set together. */
export const CALL_CLASSES = ["reads", "writes", "uploads", "pages"] as const;
export type CallClass = (typeof CALL_CLASSES)[number];

/** The class of an endpoint, by what its keys need; webhooks are read and written. Calls without a key are with the pages. */
export function callClassOf(route: { readonly public: true } | Pick<Route, "method" | "scopes" | "public">): CallClass {
  if (route.public === true) return "pages";
  const { method, scopes = [] } = route;
  if (scopes.includes("upload")) return "uploads";
  return scopes.includes("write") || (scopes.includes("webhooks") && method !== "GET") ? "writes" : "reads";
}
