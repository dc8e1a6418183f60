import type { Trigger } from "../functions/workers.ts";
import { type QueueResource, resources } from "../lib/resources.ts";

/** What the stack sets for functions, queues and the gateway, and the local service keeps: it doesn't load the CDK. */

/** One second less than the gateway waits (29 s, its quota for regional APIs), so that the function times out first. */
export const API_TIMEOUT_SECONDS = 28;
/** A worker hands over after 90 s; the remaining 30 s are for the window that it is applying. */
const WORKER_TIMEOUT_SECONDS = 120;
/** Of a function that keeps all messages: after a crash its messages, and those of their groups, wait six times as long. */
const KEEPER_TIMEOUT_SECONDS = 30;
/** Lambda ends a frozen invocation then: one that an erasure of an organization has to wait for. */
const STREAM_WORKER_TIMEOUT_SECONDS = 60;
/** Six, as Lambda recommends, so that a message stays hidden while Lambda is throttled. */
const TIMEOUTS_HIDDEN = 6;

function takerTimeoutSeconds({ keepsAll }: QueueResource): number {
  return keepsAll === true ? KEEPER_TIMEOUT_SECONDS : WORKER_TIMEOUT_SECONDS;
}

/** How long an invocation of a function that is not behind the gateway may take. */
export function workerTimeoutSeconds(trigger: Trigger): number {
  if (trigger.kind === "stream") return STREAM_WORKER_TIMEOUT_SECONDS;
  return trigger.kind === "queue" ? takerTimeoutSeconds(resources[trigger.queue]) : WORKER_TIMEOUT_SECONDS;
}

/** How long a message of a queue, or a dead letter of it, stays hidden while a function works on it. */
export function visibilityTimeoutSeconds(queue: QueueResource): number {
  return TIMEOUTS_HIDDEN * takerTimeoutSeconds(queue);
}
/** Lambda recommends at least five. A receive also counts if another worker holds the lease. */
export const MAX_RECEIVE_COUNT = 5;
/** How long dead letters and messages of a queue that keeps all are kept: the longest that SQS keeps one. */
export const KEPT_SECONDS = 14 * 24 * 60 * 60;
/** The most invocations at the same time for dead letters and held messages: the smallest number that Lambda allows. */
export const LEAST_CONCURRENCY = 2;
/** How long Lambda gathers the records of a shard. */
export const STREAM_WINDOW_SECONDS = 1;

/** A smaller response would hardly shrink: it travels in one packet either way. */
export const COMPRESSED_FROM_BYTES = 1024;
