import * as z from "zod";

/**
 * What a key may do: read everything but webhooks, write work items and events, start and cancel uploads, or manage
 * webhooks.
 */
export const keyScopeSchema = z
  .enum(["read", "write", "upload", "webhooks"])
  .meta({ id: "KeyScope", description: "What a key may do. More may be added." });
/** One of the scopes of a key. */
export type KeyScope = z.output<typeof keyScopeSchema>;
/** All scopes. A key whose record names none has all of them. */
export const KEY_SCOPES = keyScopeSchema.options;
