import { sendMessages } from "../aws/send-messages.ts";
import type { WrittenKey } from "../aws/stream-worker.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { mapConcurrently } from "../retry.ts";
import { bodyOf } from "./change-messages.ts";
import { createDueGaps } from "./due-gaps.ts";
import { createHeartbeatNotes, STREAM_KEEPS_MS } from "./heartbeats.ts";

const CONCURRENT_NOTES = 16;

interface Change {
  readonly kind: "ITEM" | "UPLOAD";
  readonly organization: string;
  readonly id: string;
  readonly record: WrittenKey;
}

const CHANGED = /^(ITEM|UPLOAD)#([a-z0-9-]+)#([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;
const HEARTBEAT = /^HEARTBEAT#(\d+)$/;

function changeIn(record: WrittenKey): Change | undefined {
  const [, kind, organization, id] = CHANGED.exec(record.partitionKey) ?? [];
  if ((kind !== "ITEM" && kind !== "UPLOAD") || organization === undefined || id === undefined) return undefined;
  return { kind, organization, id, record };
}

/** The newest heartbeat of each key. */
function heartbeatsIn(records: readonly WrittenKey[]): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { partitionKey, createdAt } of records) {
    const number = HEARTBEAT.exec(partitionKey)?.[1];
    if (number !== undefined) newest.set(number, Math.max(createdAt, newest.get(number) ?? 0));
  }
  return newest;
}

/** One message with all changes of an organization. It names each item and each job once. */
function entryOf(organization: string, changes: readonly Change[], Id: string) {
  const idsOf = (wanted: Change["kind"]) => {
    const ids = changes.filter(({ kind }) => kind === wanted).map(({ id }) => id);
    return [...new Set(ids)];
  };
  return {
    Id,
    MessageGroupId: organization,
    // Names the last record, not the content: the same items may change again within the five minutes for which SQS
    // remembers it. A repeated batch starts no later, so a message with the same id has all records of this one.
    MessageDeduplicationId: changes.at(-1)?.record.eventId,
    MessageBody: bodyOf({
      organization,
      ids: idsOf("ITEM"),
      jobs: idsOf("UPLOAD"),
      writtenAt: Math.min(...changes.map(({ record }) => record.createdAt)),
    }),
  };
}

/**
 * Makes the function that sends a batch of the stream's records to the queue of the change logs. It does nothing else, so
 * that no organization's data can hold up a shard of the stream. Repeated records are sent again, which is harmless: an
 * entry names an item, not a value.
 * @returns a function that returns how many of the first records are done; the others must be delivered again
 */
export function createRecordChanges(runtime: RuntimeWith<"changes" | "changesQueue">) {
  const { clock, log, sqs, environment } = runtime;
  const notes = createHeartbeatNotes(runtime);
  const dueGaps = createDueGaps(runtime);

  /** @returns errors by organization, for those whose changes may not be in the queue */
  async function sendAll(changes: readonly Change[]): Promise<ReadonlyMap<string, unknown>> {
    const groups = [...Map.groupBy(changes, ({ organization }) => organization)];
    const entries = groups.map(([organization, own], index) => entryOf(organization, own, String(index)));
    const failed = await sendMessages(sqs, environment.CHANGES_QUEUE_URL, entries);
    return new Map([...failed].map(([Id, error]) => [groups[Number(Id)]?.[0] ?? "", error]));
  }

  /**
   * Notes the heartbeats. If a record, or the last noted heartbeat of a key, is so old that the stream may have dropped
   * records since, changes may be missing.
   */
  async function noteHeartbeats(records: readonly WrittenKey[], now: number): Promise<void> {
    const heartbeats = heartbeatsIn(records);
    const noted = heartbeats.size === 0 ? new Map<string, number>() : await notes.read([...heartbeats.keys()]);
    const times = [...records.map(({ createdAt }) => createdAt), ...noted.values()];
    if (times.some((time) => now - time > STREAM_KEEPS_MS)) await dueGaps.noteAll();
    await mapConcurrently([...heartbeats], CONCURRENT_NOTES, ([number, created]) => notes.note(number, created));
  }

  return async (records: readonly WrittenKey[]): Promise<number> => {
    const changes = records.map(changeIn);
    const failed = await sendAll(changes.filter((change) => change !== undefined));
    const firstFailed = changes.findIndex((change) => change !== undefined && failed.has(change.organization));
    const done = firstFailed === -1 ? records.length : firstFailed;
    for (const [organization, error] of failed) {
      log.error("changes are not in the queue yet", { organization, error: error as Error });
    }
    try {
      // A heartbeat covers all records before it, so only those before the first failure count.
      await noteHeartbeats(records.slice(0, done), clock());
      return done;
    } catch (error) {
      log.error("heartbeats are not noted yet", { error: error as Error });
      return 0;
    }
  };
}
