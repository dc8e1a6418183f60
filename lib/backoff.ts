import { setTimeout as sleep } from "node:timers/promises";

const BASE_MS = 25;
/** Long enough for a throttled partition to recover. */
const THROTTLED_CAP_MS = 2000;
/** Writers that meet at one record each need a few tens of milliseconds: waiting longer than all of them gains nothing. */
export const CONFLICT_CAP_MS = 250;

/** Waits before attempt `attempt` (1 = the second try): exponential from 25 ms on, with full jitter. @param cap milliseconds */
export const backOff = async (attempt: number, cap = THROTTLED_CAP_MS): Promise<void> => {
  await sleep(Math.random() * Math.min(cap, BASE_MS * 2 ** attempt));
};
