import { createHash } from "node:crypto";
import type { DynamoDBRecord } from "aws-lambda";
import type { openStream } from "../../support/stream.ts";
import type { World } from "./world.ts";

const DAY_MS = 24 * 3_600_000;
const SMALL_BATCH_MAX = 8;
export const INVOCATION_MS = 60_000;
const REPEATED_SHARE = 0.2;

interface Shard {
  readonly low: number;
  readonly high: number;
  readonly records: DynamoDBRecord[];
  /** It must be handled first. */
  readonly parent: Shard | undefined;
  isOpen: boolean;
  /** Those that have not ended. Lambda ends each at its timeout. */
  invocations: { readonly until: number }[];
  /** Nothing of it is handled before this time, in milliseconds since the epoch. */
  stuckUntil: number;
}

const shardOf = (low: number, high: number, parent?: Shard): Shard => ({
  low,
  high,
  parent,
  records: [],
  isOpen: true,
  invocations: [],
  stuckUntil: 0,
});

/** A number from 0 to 1 that a key always has. They are spread evenly, so that heartbeats reach each shard. */
const hashOf = (key: string): number => createHash("sha256").update(key).digest().readUInt32BE() / 2 ** 32;
const keyOf = ({ dynamodb }: DynamoDBRecord): string => dynamodb?.Keys?.["pk"]?.S ?? "";
const createdAt = ({ dynamodb }: DynamoDBRecord): number => (dynamodb?.ApproximateCreationDateTime ?? 0) * 1000;

/**
 * The stream of the engine's only shard as one of several: keys are spread over two shards, and one may split. Batches
 * are of any size, some are sent again while another invocation has them, and records are dropped after a day.
 */
export function createFaultyStream(
  stream: Awaited<ReturnType<typeof openStream>>,
  { clock, random, hostilities }: Pick<World, "clock" | "random" | "hostilities">,
) {
  const shards = [shardOf(0, 0.5), shardOf(0.5, 1)];
  const counts = { dropped: 0 };

  const readable = (shard: Shard): boolean =>
    shard.records.length > 0 && shard.stuckUntil <= clock() && (shard.parent?.records.length ?? 0) === 0;

  return {
    counts,
    /** Whether records are left that can be handled now. */
    isReadable: (): boolean => shards.some(readable),
    /** Whether changes are left. There may be heartbeats. */
    hasChanges: (): boolean => shards.some(({ records }) => records.some((one) => keyOf(one).startsWith("ITEM#"))),
    /** Takes what was written since the last call, which is as old as the clock says now; drops what is older than a day. */
    pull: async (): Promise<void> => {
      for (const record of await stream.take()) {
        const hash = hashOf(keyOf(record));
        const shard = shards.find(({ isOpen, low, high }) => isOpen && hash >= low && hash < high);
        const time = Math.floor(clock() / 1000);
        shard?.records.push({ ...record, dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: time } });
      }
      for (const { records } of shards) {
        while (records[0] !== undefined && clock() - createdAt(records[0]) > DAY_MS) {
          if (keyOf(records.shift()!).startsWith("ITEM")) counts.dropped += 1;
        }
      }
    },
    split: (): void => {
      const open = shards.filter(({ isOpen }) => isOpen);
      const shard = open[Math.floor(random() * open.length)]!;
      const middle = (shard.low + shard.high) / 2;
      shard.isOpen = false;
      shards.push(shardOf(shard.low, middle, shard), shardOf(middle, shard.high, shard));
      hostilities.count("standstills", "a shard splits");
    },
    /** Keeps one of the shards from being handled. */
    hold: (milliseconds: number): void => {
      shards[Math.floor(random() * shards.length)]!.stuckUntil = clock() + milliseconds;
      hostilities.count("standstills", "a shard is held");
    },
    /**
     * Gives the next batch of each shard to the recorder.
     * @param invoke resolves with the number of the first record that failed, or never
     */
    deliver: (
      invoke: (batch: readonly DynamoDBRecord[], done: (failed: string | undefined) => void, ended: () => void) => void,
    ): void => {
      for (const shard of shards.filter(readable)) {
        shard.invocations = shard.invocations.filter(({ until }) => until > clock());
        const isRepeated = shard.invocations.length > 0;
        if (isRepeated && (!hostilities.has("messages") || random() > REPEATED_SHARE)) continue;
        if (isRepeated) hostilities.count("messages", "a batch of the stream is sent again");
        // Small ones cut between the records of one write; large ones keep up with the heartbeats.
        const isSmall = random() < 0.5;
        const size = isSmall ? 1 + Math.floor(random() * SMALL_BATCH_MAX) : shard.records.length;
        const batch = shard.records.slice(0, size);
        const invocation = { until: clock() + INVOCATION_MS };
        shard.invocations.push(invocation);
        invoke(
          batch,
          (failed) => {
            const end = batch.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failed);
            for (const record of end === -1 ? batch : batch.slice(0, end)) {
              const place = shard.records.indexOf(record);
              if (place !== -1) shard.records.splice(place, 1);
            }
          },
          () => void shard.invocations.splice(shard.invocations.indexOf(invocation), 1),
        );
      }
    },
  };
}
