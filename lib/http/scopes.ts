import { MissingScopeError } from "../errors.ts";
import type { KeyScope } from "../organizations/api-key.ts";

/** What the body of a call can ask for: of a batch by itself, of a file or an undo in a member. */
interface Asked {
  readonly dry_run?: boolean;
  readonly mapping?: { readonly from?: string };
  readonly upload?: Asked;
  readonly undo?: Asked;
}

/**
 * Acts that need the scope `read` at every endpoint, because they show stored data that the caller hasn't sent. Each has
 * the name of what asks for it.
 */
const ACTS = {
  /** Shows what would change: whoever repeats it with guesses finds what is stored, and nothing is written. */
  dry_run: ({ dry_run: dryRun }: Asked) => dryRun === true,
  /** Errors can name columns of the upload whose mapping it is. */
  "mapping.from": ({ mapping }: Asked) => mapping?.from !== undefined,
};

/** What the calls of an endpoint need. */
export interface Guard {
  /** All scopes that a key needs. Empty if every key may call it, absent only from public rows. */
  readonly scopes?: readonly KeyScope[];
  /** Acts that its calls can be. @default none */
  readonly acts?: readonly (keyof typeof ACTS)[];
}

/** The scopes that an act needs: none of them writes items. */
export function scopesOfAct({ scopes = [] }: Guard): readonly KeyScope[] {
  return ["read", ...scopes.filter((scope) => scope !== "write")];
}

/** @throws MissingScopeError unless a key has all the scopes */
export function assertScopes(needed: readonly KeyScope[], granted: readonly KeyScope[]): void {
  const lacking = needed.filter((scope) => !granted.includes(scope));
  if (lacking.length > 0) throw new MissingScopeError(needed, lacking);
}

/** Checks a key's scopes before the body is read, unless it says what the call needs. @throws MissingScopeError */
export function assertMayBegin({ scopes = [], acts = [] }: Guard, granted: readonly KeyScope[]): void {
  if (acts.length === 0) assertScopes(scopes, granted);
}

/** Checks a key's scopes for a call. @param body the validated body @throws MissingScopeError */
export function assertMayCall(guard: Guard, granted: readonly KeyScope[], body: unknown): void {
  const { upload, undo, ...others } = (body ?? {}) as Asked;
  const isAct = Object.values(ACTS).some((isIn) => isIn(upload ?? undo ?? others));
  assertScopes(isAct ? scopesOfAct(guard) : (guard.scopes ?? []), granted);
}
