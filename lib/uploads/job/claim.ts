import * as z from "zod";

/** Refusals of the store aren't failures of workers, but a job doesn't wait longer than this. */
const WAITS_MAX_MS = 24 * 60 * 60 * 1000;

/** A claim expires if its worker doesn't renew it for this long. */
export const CLAIM_MS = 40_000;

/** A worker's claim on a shard, or on a job to read its file or merge its lists. */
export const claimShape = {
  /**
   * Until when its worker may work or, if the store refused, until when the next worker waits. In milliseconds since the
   * epoch; 0 after a release without a wait.
   */
  busy_until: z.number().default(0),
  /** Since when the store has refused all progress, in milliseconds since the epoch; 0 if it hasn't. */
  refused_since: z.number().default(0),
  /** When a worker last changed the record, in milliseconds since the epoch. */
  changed_at: z.number().default(0),
  /** How often the sweep has sent a message since the last claim, and when it last did, in milliseconds since the epoch. */
  resent: z.int().default(0),
  resent_at: z.number().default(0),
};
type ClaimFields = { readonly [N in keyof typeof claimShape]: number };

/** Whether a worker may be at work, or the next one must wait. @param now milliseconds since the epoch */
export function isBusy({ busy_until: until }: Pick<ClaimFields, "busy_until">, now: number): boolean {
  return until >= now;
}

/** Whether a job has waited long enough to give up. @param since milliseconds since the epoch; 0 if it doesn't wait */
export function hasWaitedEnough(since: number, now: number): boolean {
  return since > 0 && now - since > WAITS_MAX_MS;
}

/** Whether a store has refused for so long that the job fails. @param now milliseconds since the epoch */
export function isRefusedForGood({ refused_since: since }: Pick<ClaimFields, "refused_since">, now: number): boolean {
  return hasWaitedEnough(since, now);
}
