import * as z from "zod";

/** What a key may do: read everything, write work items and events, or start and cancel uploads. */
export const keyScopeSchema = z
  .enum(["read", "write", "upload"])
  .meta({ id: "KeyScope", description: "What a key may do. More may be added." });
/** One of the scopes of a key. */
export type KeyScope = z.output<typeof keyScopeSchema>;
/** All scopes. A key whose record names none has all of them. */
export const KEY_SCOPES = keyScopeSchema.options;
