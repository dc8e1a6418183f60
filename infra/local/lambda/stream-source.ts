import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBRecord } from "aws-lambda";
import * as z from "zod";
import type { Poller } from "./event-source.ts";
import { type FilterPattern, matchesPattern } from "./filter-pattern.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import type { Shard, ShardPage, StreamApi } from "./stream-api.ts";

/** Lambda reads a shard four times a second. */
const READ_EVERY_MS = 250;
const RETRY_AFTER_MS = 1000;
/** A closed shard's children are found within this time. */
const SHARDS_EVERY_MS = 10_000;

/** An event source mapping from a table's stream to a function. */
export interface StreamSource {
  readonly streamArn: string;
  readonly region: string;
  readonly batchSize: number;
  /** How long records are gathered before they are sent. */
  readonly windowMs: number;
  /** A record must match one of them. */
  readonly filters: readonly FilterPattern[];
}

/** Keeps how far each shard has been handled, as Lambda does. Streams of the same table may have the same shards. */
export interface Checkpoints {
  get(shard: string): string | undefined;
  set(shard: string, sequenceNumber: string): void;
}

const batchResponseSchema = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string().nullish() })).nullish() })
  .nullish();

function numberOf({ dynamodb }: DynamoDBRecord): string {
  return dynamodb?.SequenceNumber ?? "";
}

/**
 * How many records of a batch, from the first on, are done with, by Lambda's rules: those before the first one that
 * failed; none if the response names something else
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html).
 */
function doneOf(batch: readonly DynamoDBRecord[], payload: string): number {
  const parsed = batchResponseSchema.safeParse(JSON.parse(payload));
  if (!parsed.success) return 0;
  const failures = parsed.data?.batchItemFailures ?? [];
  const places = failures.map(({ itemIdentifier }) => batch.findIndex((one) => numberOf(one) === itemIdentifier));
  return places.includes(-1) ? 0 : Math.min(batch.length, ...places);
}

/**
 * Polls a table's stream and invokes a function with its records, as Lambda's event source mapping does: one invocation
 * at a time for each shard, a shard only after its parent, and a batch again until all of its records are done with.
 */
export function pollStream(
  { streamArn, region, batchSize, windowMs, filters }: StreamSource,
  target: LambdaFunction,
  streams: StreamApi,
  checkpoints: Checkpoints,
): Poller {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (milliseconds: number): Promise<void> => sleep(milliseconds, undefined, { signal }).catch(() => {});

  const placeOf = (shardId: string): string => `${streamArn} ${shardId}`;
  const keep = (shardId: string, sequenceNumber: string): void => checkpoints.set(placeOf(shardId), sequenceNumber);

  /** Invokes the function until all records are done with. */
  async function deliver(shardId: string, records: readonly DynamoDBRecord[]): Promise<void> {
    const matching = records.filter((record) => filters.some((pattern) => matchesPattern(pattern, record)));
    const events = matching.map((record) => ({ ...record, awsRegion: region, eventSourceARN: streamArn }));
    for (let left = events; left.length > 0 && !signal.aborted;) {
      const invocation = await target.invoke(JSON.stringify({ Records: left })).catch(() => ({ ok: false }) as const);
      const done = invocation.ok ? doneOf(left, invocation.payload) : 0;
      const last = left[done - 1];
      if (last !== undefined) keep(shardId, numberOf(last));
      left = left.slice(done);
      if (left.length > 0) await pause(RETRY_AFTER_MS);
    }
    const last = records.at(-1);
    if (last !== undefined && !signal.aborted) keep(shardId, numberOf(last));
  }

  /** Handles a shard to its end, which an open one has not. */
  async function pollShard(shardId: string): Promise<void> {
    let iterator: string | undefined = await streams.iterator(streamArn, shardId, checkpoints.get(placeOf(shardId)));
    let gathered: DynamoDBRecord[] = [];
    let sendAt = Infinity;
    while (!signal.aborted && (iterator !== undefined || gathered.length > 0)) {
      const { Records: found, NextShardIterator: next }: ShardPage =
        iterator === undefined ? { Records: [] } : await streams.records(iterator, batchSize - gathered.length);
      iterator = next;
      gathered = gathered.concat(found);
      if (gathered.length > 0) sendAt = Math.min(sendAt, Date.now() + windowMs);
      if (gathered.length >= batchSize || Date.now() >= sendAt || iterator === undefined) {
        await deliver(shardId, gathered);
        [gathered, sendAt] = [[], Infinity];
      }
      if (found.length === 0) await pause(Math.min(READ_EVERY_MS, Math.max(0, sendAt - Date.now())));
    }
  }

  /** The shards that are polled, by id. One that fails is read again from its checkpoint. */
  const polling = new Map<string, Promise<void>>();
  const ended = new Set<string>();
  async function keepPolling({ ShardId: id, ParentShardId: parent }: Shard, known: ReadonlySet<string>): Promise<void> {
    const isParentOpen = (): boolean => parent !== undefined && known.has(parent) && !ended.has(parent);
    while (isParentOpen() && !signal.aborted) await pause(READ_EVERY_MS);
    while (!signal.aborted && !ended.has(id)) {
      try {
        await pollShard(id);
        if (!signal.aborted) ended.add(id);
      } catch {
        await pause(RETRY_AFTER_MS);
      }
    }
  }
  async function poll(): Promise<void> {
    while (!signal.aborted) {
      const shards = await streams.shards(streamArn).catch(() => []);
      const known = new Set(shards.map(({ ShardId }) => ShardId));
      for (const shard of shards) {
        if (!polling.has(shard.ShardId)) polling.set(shard.ShardId, keepPolling(shard, known));
      }
      await pause(shards.length === 0 ? RETRY_AFTER_MS : SHARDS_EVERY_MS);
    }
  }

  const running = poll();
  return {
    stop: async () => {
      stopping.abort();
      await running;
      await Promise.all(polling.values());
    },
  };
}
