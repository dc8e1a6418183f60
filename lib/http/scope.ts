import type { KeyScope } from "../organizations/key-scope.ts";
import type { Route } from "./route.ts";

/** The scope that a key needs: to read for GET and HEAD, to upload for the other calls on uploads, else to write. */
export function scopeOf({ method, path }: Pick<Route, "method" | "path">): KeyScope {
  if (method === "GET") return "read";
  return /^\/v1\/work_items\/upload(\/|$)/.test(path) ? "upload" : "write";
}
