import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
} from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBBatchResponse, DynamoDBRecord } from "aws-lambda";
import * as z from "zod";
import type { StreamedPartition } from "../../../functions/workers.ts";
import type { Invoke } from "../functions.ts";
import { REGION } from "../platform.ts";
import type { Poller } from "./queue.ts";

/** Lambda reads a shard four times a second. */
const READ_EVERY_MS = 250;
const RETRY_AFTER_MS = 1000;
/** A closed shard's children are found within this time. */
const SHARDS_EVERY_MS = 10_000;

/** An event source mapping from a table's stream to a function. */
export interface StreamSource {
  readonly streamArn: string;
  readonly batchSize: number;
  /** How long records are gathered before they are sent. */
  readonly windowMs: number;
  /** Which records the function gets. */
  readonly partitions: readonly StreamedPartition[];
}

/** How far each shard has been handled. Streams of the same table may have the same shards. */
export interface Checkpoints {
  get(shard: string): string | undefined;
  set(shard: string, sequenceNumber: string): void;
}

const PRIVATE_FILE = 0o600;
const contentSchema = z.record(z.string(), z.string());

function read(file: string): Record<string, string> {
  try {
    return contentSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // Then the stream is handled from its beginning, which is harmless.
    return {};
  }
}

/** Keeps the checkpoints of a stream's shards in a file, so that the next start continues where this one stopped. */
export function openCheckpoints(file: string): Checkpoints {
  const positions = read(file);
  return {
    get: (shard) => positions[shard],
    set: (shard, sequenceNumber) => {
      positions[shard] = sequenceNumber;
      writeFileSync(`${file}.new`, JSON.stringify(positions), { mode: PRIVATE_FILE });
      renameSync(`${file}.new`, file);
    },
  };
}

/** All shards of a stream that the engine still knows, parents first. */
export async function shardsOf(streams: DynamoDBStreamsClient, streamArn: string): Promise<readonly Shard[]> {
  const shards: Shard[] = [];
  let after: string | undefined;
  do {
    const page = { StreamArn: streamArn, ...(after !== undefined && { ExclusiveStartShardId: after }) };
    const { StreamDescription: description } = await streams.send(new DescribeStreamCommand(page));
    shards.push(...(description?.Shards ?? []));
    after = description?.LastEvaluatedShardId;
  } while (after !== undefined);
  return shards;
}

/** @param after sequence number of the last handled record; undefined to start with the oldest one */
export async function iteratorAfter(
  streams: DynamoDBStreamsClient,
  shard: { readonly StreamArn: string; readonly ShardId: string },
  after: string | undefined,
): Promise<string | undefined> {
  const position =
    after === undefined
      ? ({ ShardIteratorType: "TRIM_HORIZON" } as const)
      : ({ ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: after } as const);
  return (await streams.send(new GetShardIteratorCommand({ ...shard, ...position }))).ShardIterator;
}

/** A page of a shard, with its records as Lambda sends them. `next` is undefined at the shard's end. */
export async function readShard(streams: DynamoDBStreamsClient, ShardIterator: string, Limit: number) {
  const { Records = [], NextShardIterator: next } = await streams.send(new GetRecordsCommand({ ShardIterator, Limit }));
  const records = Records.map(({ dynamodb, ...record }) => ({
    ...record,
    dynamodb: {
      ...dynamodb,
      ApproximateCreationDateTime: (dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1000,
    },
  })) as unknown as DynamoDBRecord[];
  return { records, next };
}

function numberOf({ dynamodb }: DynamoDBRecord): string {
  return dynamodb?.SequenceNumber ?? "";
}

/**
 * How many records of a batch are handled: those before the first that failed, or none if the response names an unknown
 * record (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html).
 */
function countHandled(
  batch: readonly DynamoDBRecord[],
  { batchItemFailures: failures }: DynamoDBBatchResponse,
): number {
  const indexes = failures.map(({ itemIdentifier }) => batch.findIndex((one) => numberOf(one) === itemIdentifier));
  return indexes.includes(-1) ? 0 : Math.min(batch.length, ...indexes);
}

/**
 * Polls a table's stream and invokes a function with its records, as Lambda's event source mapping does: one invocation
 * at a time for each shard, a shard only after its parent, and a batch again until all of its records are handled.
 */
export function pollStream(
  { streamArn, batchSize, windowMs, partitions }: StreamSource,
  invoke: Invoke,
  streams: DynamoDBStreamsClient,
  checkpoints: Checkpoints,
): Poller {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (milliseconds: number): Promise<void> => sleep(milliseconds, undefined, { signal }).catch(() => {});

  const checkpointOf = (shardId: string): string => `${streamArn} ${shardId}`;
  const save = (shardId: string, sequenceNumber: string): void =>
    checkpoints.set(checkpointOf(shardId), sequenceNumber);

  /** Invokes the function until all records are handled. */
  async function deliver(shardId: string, records: readonly DynamoDBRecord[]): Promise<void> {
    const matching = records.filter(({ dynamodb }) =>
      partitions.some(
        ({ kind, sortKey }) =>
          dynamodb?.Keys?.["pk"]?.S?.startsWith(`${kind}#`) &&
          (sortKey === undefined || dynamodb.Keys["sk"]?.S === sortKey),
      ),
    );
    const events = matching.map((record) => ({ ...record, awsRegion: REGION, eventSourceARN: streamArn }));
    for (let left = events; left.length > 0 && !signal.aborted;) {
      const handled = await invoke({ Records: left }).then(
        (result) => countHandled(left, result as DynamoDBBatchResponse),
        () => 0,
      );
      const last = left[handled - 1];
      if (last !== undefined) save(shardId, numberOf(last));
      left = left.slice(handled);
      if (left.length > 0) await pause(RETRY_AFTER_MS);
    }
    const last = records.at(-1);
    if (last !== undefined && !signal.aborted) save(shardId, numberOf(last));
  }

  /** Handles a shard to its end. An open shard has none. */
  async function pollShard(shardId: string): Promise<void> {
    const shard = { StreamArn: streamArn, ShardId: shardId };
    let iterator = await iteratorAfter(streams, shard, checkpoints.get(checkpointOf(shardId)));
    let gathered: DynamoDBRecord[] = [];
    let sendAt = Infinity;
    while (!signal.aborted && (iterator !== undefined || gathered.length > 0)) {
      const page: Awaited<ReturnType<typeof readShard>> =
        iterator === undefined
          ? { records: [], next: undefined }
          : await readShard(streams, iterator, batchSize - gathered.length);
      const { records: found } = page;
      iterator = page.next;
      gathered = gathered.concat(found);
      if (gathered.length > 0) sendAt = Math.min(sendAt, Date.now() + windowMs);
      if (gathered.length >= batchSize || Date.now() >= sendAt || iterator === undefined) {
        await deliver(shardId, gathered);
        gathered = [];
        sendAt = Infinity;
      }
      if (found.length === 0) await pause(Math.min(READ_EVERY_MS, Math.max(0, sendAt - Date.now())));
    }
  }

  /** The shards that are polled, by id. A shard that fails is read again from its checkpoint. */
  const polling = new Map<string, Promise<void>>();
  const ended = new Set<string>();
  async function keepPolling(id: string, parent: string | undefined, known: ReadonlySet<string>): Promise<void> {
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
      const shards = await shardsOf(streams, streamArn).catch(() => []);
      const known = new Set(shards.map(({ ShardId = "" }) => ShardId));
      for (const { ShardId: id = "", ParentShardId: parent } of shards) {
        if (!polling.has(id)) polling.set(id, keepPolling(id, parent, known));
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
