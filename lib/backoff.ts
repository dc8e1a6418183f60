import { setTimeout as sleep } from "node:timers/promises";

const BASE_MS = 25;
/** The longest wait after throttling: long enough for a throttled partition to recover. */
const THROTTLED_CAP_MS = 2000;
/** The longest wait after a write conflict: each of the competing writers needs only a few tens of milliseconds. */
export const CONFLICT_CAP_MS = 250;

/**
 * Seconds that a message waits if AWS is busy: the first time, which is enough after a single refusal, and at the most,
 * as in an outage.
 */
export const BUSY_DELAY_SECONDS = { least: 2, most: 30 } as const;

/**
 * Waits before a retry: exponential backoff from 25 ms, with full jitter.
 * @param attempt number of the retry, from 1
 * @param cap the longest wait in milliseconds
 */
export const backOff = async (attempt: number, cap = THROTTLED_CAP_MS): Promise<void> => {
  await sleep(Math.random() * Math.min(cap, BASE_MS * 2 ** attempt));
};
