import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { createAppend } from "@work-items/lib/changes/append-to-log.ts";
import { type ChangeLog, createChangeLog, newestFirst } from "@work-items/lib/changes/segment-store.ts";
import { createDueGaps } from "@work-items/lib/changes/due-gaps.ts";
import { createHeartbeatNotes } from "@work-items/lib/changes/heartbeats.ts";
import { isKept } from "@work-items/lib/changes/segment.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { readFirstNumber } from "@work-items/lib/organizations/access-store.ts";

/** How long appending may take. */
const APPEND_WITHIN_MS = 30_000;

/** What an operator sees of an organization's change feed. */
export interface FeedState {
  readonly organization: string;
  /** The positions from which the feed can be read. */
  readonly oldest_position: number;
  readonly newest_position: number;
  /** When the newest change was logged; null if there is none. */
  readonly newest_at: string | null;
  /** The feed has all changes written before this time; null while that isn't known. */
  readonly complete_until: string | null;
  /** Since when changes of this organization can't be appended and wait; null if they can. */
  readonly failing_since: string | null;
  /** Whether changes of this organization are lost, and their gap isn't in the log yet. */
  readonly is_gap_due: boolean;
  /** About how many messages of all organizations wait to be appended to their logs. */
  readonly waiting_messages: number;
}

/** What reading and resetting change feeds requires of a runtime. */
export type FeedRuntime = RuntimeWith<"changes" | "access" | "changesQueue">;

/** About how many messages are in the queue of change logs: SQS's counts are seconds behind. */
async function countWaiting({ sqs, environment }: FeedRuntime): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: environment.CHANGES_QUEUE_URL,
      AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}

/** The position before the oldest changes that readers can still get. */
async function oldestPosition(log: ChangeLog, organization: string, from: number, now: number): Promise<number> {
  let oldest: number | undefined;
  for await (const segment of newestFirst(log, organization, from)) {
    if (!isKept(segment, now)) return (oldest ?? segment.next) - 1;
    if (segment.isGap) return segment.next - 1;
    oldest = segment.first;
  }
  return (oldest ?? from) - 1;
}

/** Reads the state of an organization's change feed; undefined if it doesn't exist or is being erased. */
export async function readFeedState(runtime: FeedRuntime, organization: string): Promise<FeedState | undefined> {
  const log = createChangeLog(runtime);
  const first = await readFirstNumber(runtime, organization);
  if (first === undefined) return undefined;
  // In the order in which changes get into the log: a heartbeat is noted when all earlier changes are in the queue, and what left
  // the queue is in the log, or its gap is due.
  const queuedUntil = await createHeartbeatNotes(runtime).readComplete();
  const waiting = await countWaiting(runtime);
  const gap = await createDueGaps(runtime).readOne(organization);
  const isGapDue = gap !== undefined && !gap.isWaiting;
  const complete = isGapDue || waiting > 0 ? undefined : queuedUntil;
  const { segments } = await log.read(organization, { from: first, limit: 1, first: "newest" });
  const [newest] = segments;
  return {
    organization,
    oldest_position: await oldestPosition(log, organization, first, runtime.clock()),
    newest_position: (newest?.next ?? first) - 1,
    newest_at: newest === undefined ? null : isoTime(newest.time),
    complete_until: complete === undefined ? null : isoTime(complete),
    failing_since: gap?.isWaiting === true ? isoTime(gap.since) : null,
    is_gap_due: isGapDue,
    waiting_messages: waiting,
  };
}

/** Makes all readers of an organization's feed start over: their cursors are answered with 410. */
export async function resyncFeed(runtime: RuntimeWith<"changes" | "access">, organization: string): Promise<void> {
  await createAppend(runtime)(organization, "gap", runtime.clock() + APPEND_WITHIN_MS);
}
