import { allWorkers, type Trigger } from "../functions/workers.ts";
import { type QueueResource, resources } from "../lib/resources.ts";

/** Limits of functions, queues and the gateway, for the stack and the local service, which doesn't load the CDK. */

/** One second less than the gateway waits (29 s, its quota for regional APIs), so that the function times out first. */
export const API_TIMEOUT_SECONDS = 28;
/** A worker takes on nothing new after 90 s; the remaining 30 s are for the window that it is applying. */
const WORKER_TIMEOUT_SECONDS = 120;
/** The longest that Lambda allows, for files of 5 GiB, long lists and expired items. */
const LONG_WORKER_TIMEOUT_SECONDS = 900;
/** For queues that keep all messages. After a crash, messages and their groups wait six times as long. */
const KEEPER_TIMEOUT_SECONDS = 30;
/** Lambda then ends a frozen invocation, which the erasure of an organization must wait for. */
const STREAM_WORKER_TIMEOUT_SECONDS = 60;
/** Six, as Lambda recommends, so that a message stays hidden while Lambda is throttled. */
const TIMEOUTS_HIDDEN = 6;

/** How long an invocation of a function that isn't behind the gateway may take. */
export function workerTimeoutSeconds(trigger: Trigger): number {
  if (trigger.kind === "stream") return STREAM_WORKER_TIMEOUT_SECONDS;
  if (trigger.kind === "direct") return WORKER_TIMEOUT_SECONDS;
  if (trigger.timeoutMinutes !== undefined) return LONG_WORKER_TIMEOUT_SECONDS;
  if (trigger.kind === "schedule") return WORKER_TIMEOUT_SECONDS;
  const { keepsAll }: QueueResource = resources[trigger.queue];
  return keepsAll === true ? KEEPER_TIMEOUT_SECONDS : WORKER_TIMEOUT_SECONDS;
}

/** How long a message of a queue stays hidden while a function works on it. */
export function visibilityTimeoutSeconds(queue: QueueResource): number {
  const readers = allWorkers.filter(({ trigger }) => trigger.kind === "queue" && resources[trigger.queue] === queue);
  return TIMEOUTS_HIDDEN * Math.max(...readers.map(({ trigger }) => workerTimeoutSeconds(trigger)));
}
/** Lambda recommends at least five. */
export const MAX_RECEIVE_COUNT = 5;
/** How long messages and dead letters are kept: as long as SQS allows. */
export const KEPT_SECONDS = 14 * 24 * 60 * 60;
/** The lowest concurrency that Lambda allows for a queue. */
export const LEAST_CONCURRENCY = 2;
/** How long Lambda gathers the records of a shard. */
export const STREAM_WINDOW_SECONDS = 1;

/** A smaller response would hardly shrink: it travels in one packet either way. */
export const COMPRESSED_FROM_BYTES = 1024;

/**
 * Lambda gives CPU in proportion to memory. Functions that only read mostly wait for DynamoDB; those that parse and
 * validate megabytes get 1,769 MB, which is one whole vCPU. A single thread cannot use more.
 */
export const MEMORY_MB = { reads: 1024, computes: 1769 } as const;

/** Lambda's default, 5 % of the memory, makes a worker use a hundred megabytes more for the same CPU time. */
const SEMI_SPACE_MB = 16;
/** `NODE_OPTIONS` of a function. They set both limits, because Lambda sets neither if one is given. */
export function nodeOptionsFor(memoryMb: number): string {
  return `--max-semi-space-size=${SEMI_SPACE_MB} --max-old-space-size=${Math.floor(memoryMb * 0.9)}`;
}
