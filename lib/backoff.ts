import { setTimeout as sleep } from "node:timers/promises";

const BASE_MS = 25;
const CAP_MS = 2000;

/** Waits before attempt `attempt` (1 = the second try): exponential with full jitter, 25 ms to 2 s. */
export const backOff = async (attempt: number): Promise<void> => {
  await sleep(Math.random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
};
