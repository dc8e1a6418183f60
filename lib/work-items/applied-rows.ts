import { keyText } from "../store/batch-get.ts";
import type { ReadRecords, RecordStore } from "../store/record-store.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import { type MarkedJob, uploadMarksOf } from "./upload-mark.ts";

/** The upload job that rows belong to. */
export interface RowSource {
  /** Id of the job. */
  readonly job: string;
  /** First row of the window that is applied: no earlier row is ever applied again. */
  readonly firstRow: number;
  /** Whether the rows are planned only. What they would make is kept beside the items until the job is forgotten. */
  readonly dryRun?: boolean;
  /** Those of some jobs that have ended, whose marks are not needed any more. */
  readonly findEnded: (jobs: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** What is known of the job that rows belong to. */
export interface Applied extends MarkedJob {
  /** Rows whose events the job has written, and so their items before. Grows with every read. */
  readonly rowsWithEvents: Set<number>;
}

/** Rows whose events a job has written, by the events' marks. */
function rowsMarkedIn(job: string, events: Iterable<StoredRecord>): number[] {
  return [...events].flatMap((event) => uploadMarksOf(event).get(job) ?? []).map(({ row }) => row);
}

function recordsOf(keys: readonly RecordKey[], found: ReadonlyMap<string, StoredRecord>): StoredRecord[] {
  return keys.flatMap((key) => found.get(keyText(key)) ?? []);
}

/** What the marks of items and events say of a job. */
export async function findApplied(
  { job, firstRow, findEnded }: RowSource,
  known: ReadonlyMap<string, StoredRecord>,
  events: readonly RecordKey[],
): Promise<Applied> {
  const jobs = new Set([...known.values()].flatMap((record) => [...uploadMarksOf(record).keys()]));
  jobs.delete(job);
  return {
    job,
    firstRow,
    ended: jobs.size === 0 ? jobs : await findEnded([...jobs]),
    rowsWithEvents: new Set(rowsMarkedIn(job, recordsOf(events, known))),
  };
}

/**
 * Reads items, and then the events of their rows. A row that changes nothing of its item leaves its mark in its event
 * only, so that no row is planned on an item before its events were read as well: after the item, since a change of the
 * item that follows makes the write's condition fail, and then both are read again.
 */
export function readerOfItems(
  store: RecordStore,
  applied: Applied,
  eventsOf: (item: RecordKey) => readonly RecordKey[],
): ReadRecords {
  return async (keys) => {
    const items = await store.read(keys);
    const ofRows = await store.read(keys.flatMap(eventsOf));
    for (const row of rowsMarkedIn(applied.job, ofRows.values())) applied.rowsWithEvents.add(row);
    return items;
  };
}
