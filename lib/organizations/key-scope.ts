import * as z from "zod";
import { MissingScopeError } from "../errors.ts";

/** What a key may do: read everything, write work items and events, or start and cancel uploads. */
export const keyScopeSchema = z.enum(["read", "write", "upload"]);
/** One of the scopes of a key. */
export type KeyScope = z.output<typeof keyScopeSchema>;
/** All scopes. A key whose record names none has all of them. */
export const KEY_SCOPES = keyScopeSchema.options;

/** Checks that a key has a scope. @throws MissingScopeError */
export function assertScope(granted: readonly KeyScope[], needed: KeyScope): void {
  if (!granted.includes(needed)) throw new MissingScopeError(needed);
}
