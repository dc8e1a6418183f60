import type { RuntimeWith } from "../aws/runtime.ts";
import { mapConcurrently } from "../retry.ts";
import { createAppend } from "./append.ts";
import { createHeartbeatNotes, STREAM_KEEPS_MS } from "./heartbeats.ts";

/** Logs that are appended to at the same time. */
const CONCURRENT_LOGS = 16;

/** A record of the stream of the WorkItems table. */
export interface StreamRecord {
  /** Partition key of the record that was written. */
  readonly partitionKey: string;
  /** When it was written, in milliseconds since the epoch. */
  readonly createdAt: number;
}

interface Change {
  readonly organization: string;
  readonly id: string;
}

const ITEM = /^ITEM#([a-z0-9-]+)#([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;
const HEARTBEAT = /^HEARTBEAT#(\d+)$/;

function changeIn({ partitionKey }: StreamRecord): Change | undefined {
  const [, organization, id] = ITEM.exec(partitionKey) ?? [];
  return organization === undefined || id === undefined ? undefined : { organization, id };
}

/** The newest heartbeat of each key. */
function heartbeatsIn(records: readonly StreamRecord[]): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { partitionKey, createdAt } of records) {
    const number = HEARTBEAT.exec(partitionKey)?.[1];
    if (number !== undefined) newest.set(number, Math.max(createdAt, newest.get(number) ?? 0));
  }
  return newest;
}

/**
 * Makes the function that puts a batch of the stream's records into the logs of their organizations. Records that come
 * again are logged again, which is harmless: an entry names an item, not a value.
 * @returns a function that returns how many records, from the first on, are done with; the others must come again
 */
export function createRecordChanges(runtime: RuntimeWith<"changes" | "access">) {
  const { clock, log } = runtime;
  const append = createAppend(runtime);
  const notes = createHeartbeatNotes(runtime);

  /** Appends the changes of every organization, each item once. @returns the organizations whose changes failed */
  async function appendAll(changes: readonly Change[], until: number): Promise<ReadonlySet<string>> {
    const failed = new Set<string>();
    const byOrganization = Map.groupBy(changes, ({ organization }) => organization);
    await mapConcurrently([...byOrganization], CONCURRENT_LOGS, async ([organization, own]) => {
      try {
        await append(organization, [...new Set(own.map(({ id }) => id))], until);
      } catch (error) {
        failed.add(organization);
        log.error("changes are not in the log yet", { organization, error: error as Error });
      }
    });
    return failed;
  }

  /**
   * Notes the heartbeats. If one comes so long after the last one of its key that the stream has dropped records between
   * them, or if a record is that old itself, changes may be missing.
   */
  async function noteHeartbeats(records: readonly StreamRecord[], now: number): Promise<void> {
    const heartbeats = heartbeatsIn(records);
    const noted = heartbeats.size === 0 ? new Map<string, number>() : await notes.read([...heartbeats.keys()]);
    const known = [...records.map(({ createdAt }) => createdAt), ...noted.values()];
    if (known.some((time) => now - time > STREAM_KEEPS_MS)) await notes.noteDueHoles();
    await mapConcurrently([...heartbeats], CONCURRENT_LOGS, ([number, created]) => notes.note(number, created));
  }

  return async (records: readonly StreamRecord[], until: number): Promise<number> => {
    const changes = records.map(changeIn);
    const failed = await appendAll(
      changes.filter((change) => change !== undefined),
      until,
    );
    const firstFailed = changes.findIndex((change) => change !== undefined && failed.has(change.organization));
    const done = firstFailed === -1 ? records.length : firstFailed;
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
