import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusyError } from "./errors.ts";

const BASE_MS = 25;
/** The longest wait after throttling, long enough for a partition to recover. */
const THROTTLED_CAP_MS = 2000;
/** The longest wait after a write conflict: each competing writer needs only tens of milliseconds. */
export const CONFLICT_CAP_MS = 250;

/** Seconds that a message waits if AWS is busy: the first time, enough for a brief spike, and at most, for an outage. */
export const BUSY_DELAY_SECONDS = { least: 2, most: 30 } as const;

/**
 * Waits before a retry: exponential backoff from 25 ms, with full jitter.
 * @param attempt number of the retry, from 1
 * @param cap the longest wait in milliseconds
 */
export async function backOff(attempt: number, cap = THROTTLED_CAP_MS): Promise<void> {
  await sleep(Math.random() * Math.min(cap, BASE_MS * 2 ** attempt));
}

/** How long to try, and the error after that. */
export interface RetryLimits {
  /** @default no limit */
  readonly attempts?: number;
  /** Whether time has run out; called before each attempt. @default never */
  readonly isOver?: () => boolean;
  /** The longest wait in milliseconds. @default the one after throttling */
  readonly cap?: number;
  /** Message of the StoreBusyError. */
  readonly message: string;
}

/**
 * Calls `attempt` until it has a result, with a wait before each retry.
 * @param attempt returns undefined to be called again; its errors end the retries
 * @throws StoreBusyError after the last attempt
 */
export async function retry<T>(
  { attempts = Infinity, isOver = () => false, cap, message }: RetryLimits,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let count = 1; count <= attempts; count++) {
    if (count > 1) await backOff(count - 1, cap);
    if (isOver()) break;
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new StoreBusyError(message);
}

/** Splits a list into chunks of at most `size` values, in order. */
export function chunksOf<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

/** Maps values with at most `concurrency` calls at a time. The results are in the order of the values. */
export async function mapConcurrently<T, R>(
  values: readonly T[],
  concurrency: number,
  map: (value: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < values.length) {
      const index = next++;
      results[index] = await map(values[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, values.length) }, work));
  return results;
}
