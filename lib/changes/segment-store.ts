import { PutCommand, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../aws/runtime.ts";
import { TIME_TO_LIVE } from "../resources.ts";
import { partitionPages } from "../store/all-items.ts";
import { toUpdate } from "../store/conditional-update.ts";
import { tryWrite } from "../store/conditional-write.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { logPartition, numberKey, packIds, type Segment, segmentFrom, segmentKey } from "./segment.ts";

const SEGMENTS_PER_READ = 1000;

/** The segments to read: those whose first number is in a range, both ends included. */
export interface SegmentRange {
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  /** @default the oldest */
  readonly first?: "oldest" | "newest";
}

/** What the change log requires of a runtime. */
export type LogRuntime = Pick<RuntimeWith<"changes">, "dynamodb" | "environment">;

/** Reads and writes the segments of change logs. */
export function createChangeLog({ dynamodb, environment }: LogRuntime) {
  const table = environment.CHANGES_TABLE;
  return {
    /** Reads segments, strongly consistent. It may return fewer than `limit` although there are more. */
    read: async (
      organization: string,
      { from = 0, to = Number.MAX_SAFE_INTEGER, limit, first = "oldest" }: SegmentRange,
    ): Promise<{ readonly segments: readonly Segment[]; readonly hasMore: boolean }> => {
      // DynamoDB rejects a range that ends before it begins.
      if (to < from) return { segments: [], hasMore: false };
      const { Items = [], LastEvaluatedKey } = await dynamodb.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
          ExpressionAttributeValues: {
            ":pk": logPartition(organization),
            ":from": numberKey(from),
            ":to": numberKey(to),
          },
          ScanIndexForward: first === "oldest",
          ConsistentRead: true,
          Limit: limit,
        }),
      );
      return { segments: Items.map(segmentFrom), hasMore: LastEvaluatedKey !== undefined };
    },
    /** @returns whether it was appended; false if another segment begins with the same number */
    put: async (organization: string, segment: Segment): Promise<boolean> => {
      const { first, next, time, ids, isGap } = segment;
      const Item = { ...segmentKey(organization, first), next, time, ...(!isGap && { ids: packIds(ids) }) };
      const ConditionExpression = "attribute_not_exists(pk)";
      return (await tryWrite(dynamodb, new PutCommand({ TableName: table, Item, ConditionExpression }))) !== undefined;
    },
    /** Sets the expiry of a segment unless it has one or doesn't exist. @param expiresAt seconds since the epoch */
    expire: async (organization: string, first: number, expiresAt: number): Promise<void> => {
      const key = segmentKey(organization, first);
      const condition = `attribute_exists(#pk) AND attribute_not_exists(#${TIME_TO_LIVE})`;
      const update = toUpdate(table, { key, set: { [TIME_TO_LIVE]: expiresAt }, condition });
      await tryWrite(dynamodb, new UpdateCommand(update));
    },
  };
}
/** Reads and writes the segments of change logs. */
export type ChangeLog = ReturnType<typeof createChangeLog>;

/** An organization's segments from a number on, the newest first. */
export async function* newestFirst(log: ChangeLog, organization: string, from: number): AsyncGenerator<Segment> {
  for (let to = Number.MAX_SAFE_INTEGER; ;) {
    const { segments, hasMore } = await log.read(organization, { from, to, limit: SEGMENTS_PER_READ, first: "newest" });
    yield* segments;
    const oldest = segments.at(-1);
    if (!hasMore || oldest === undefined) return;
    to = oldest.first - 1;
  }
}

/** The keys of all segments of an organization's log, in pages. */
export function segmentKeys({ dynamodb, environment }: LogRuntime, organization: string) {
  const pages = partitionPages(dynamodb, environment.CHANGES_TABLE, logPartition(organization), "pk, sk");
  return pages as AsyncGenerator<RecordKey[]>;
}
