import { MissingScopeError } from "../errors.ts";
import type { KeyScope } from "../organizations/key-scope.ts";
import type { Route } from "./route.ts";

/** The scope that a key needs: to read for GET and HEAD, to upload for the other calls on uploads, else to write. */
export function scopeOf({ method, path }: Pick<Route, "method" | "path">): KeyScope {
  if (method === "GET") return "read";
  return /^\/v1\/work_items\/upload(\/|$)/.test(path) ? "upload" : "write";
}

function isDryRun(body: unknown): boolean {
  return typeof body === "object" && body !== null && "dry_run" in body && body.dry_run === true;
}

/**
 * Checks what a key may do: once before the body is read, so that nothing is done for keys that may not make any such
 * call, and once when the body says whether it is a dry run.
 * @param body the validated one; undefined before it is read, and for calls without
 * @throws MissingScopeError
 */
export function assertScope(route: Route, granted: readonly KeyScope[], body?: unknown): void {
  const needed = scopeOf(route);
  const { dryRunScope = needed } = route;
  const ofCall = isDryRun(body) ? dryRunScope : needed;
  const mayBeDryRun = body === undefined && granted.includes(dryRunScope);
  if (!granted.includes(ofCall) && !mayBeDryRun) throw new MissingScopeError(ofCall);
}
