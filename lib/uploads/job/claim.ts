import * as z from "zod";

/** What a store refuses is no failure of a worker, but a job doesn't wait for it forever. */
const WAITS_MAX_MS = 24 * 60 * 60 * 1000;

/** A worker's claim on a job, to read its file or to merge its lists, or on a shard. */
export const claimShape = {
  /**
   * Until when its worker may work or, after the store refused it, until when the next one waits, in milliseconds since the
   * epoch; 0 if it gave the claim back at once.
   */
  busy_until: z.number().default(0),
  /** Milliseconds since the epoch since when the store has refused all progress; 0 if it has not. */
  refused_since: z.number().default(0),
  /** Milliseconds since the epoch of the last claim, or of what its worker noted last. */
  changed_at: z.number().default(0),
  /** How often the sweep has sent a message since the last claim, and when it did last, in milliseconds since the epoch. */
  resent: z.int().default(0),
  resent_at: z.number().default(0),
};
type ClaimFields = { readonly [N in keyof typeof claimShape]: number };

/** Whether a worker may be at work, or the next one waits. @param now milliseconds since the epoch */
export function isBusy({ busy_until: until }: Pick<ClaimFields, "busy_until">, now: number): boolean {
  return until >= now;
}

/** Whether a job has waited so long that it doesn't wait any more. @param since milliseconds since the epoch; 0 if it doesn't wait */
export function hasWaitedEnough(since: number, now: number): boolean {
  return since > 0 && now - since > WAITS_MAX_MS;
}

/** Whether a store has refused for so long that the job fails. @param now milliseconds since the epoch */
export function isRefusedForGood({ refused_since: since }: Pick<ClaimFields, "refused_since">, now: number): boolean {
  return hasWaitedEnough(since, now);
}
