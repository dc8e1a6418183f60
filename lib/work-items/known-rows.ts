import { keyText } from "../store/batch-get.ts";
import type { ReadRecords, RecordStore } from "../store/record-store.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import { type KnownJobs, type KnownRows, markedRowsIn, uploadMarksOf } from "./upload-mark.ts";

/** The upload job that rows belong to. */
export interface RowSource extends Pick<KnownRows, "job" | "firstRow"> {
  /** When the job was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Whether the rows are planned only. What they would make is kept beside the items until the job is forgotten. */
  readonly dryRun?: boolean;
  /** Those of some jobs that have ended, whose marks are not needed any more. */
  readonly findEnded: (jobs: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** Rows whose events a job has written, by the events' marks. */
function rowsMarkedIn(job: string, events: Iterable<StoredRecord>): number[] {
  return [...events].flatMap((event) => markedRowsIn(event, job));
}

/** The jobs among those that have marked records that have ended. */
export async function findKnownJobs(
  { job, findEnded }: Pick<RowSource, "job" | "findEnded">,
  records: Iterable<StoredRecord>,
): Promise<KnownJobs> {
  const jobs = new Set([...records].flatMap((record) => [...uploadMarksOf(record).keys()]));
  jobs.delete(job);
  return { job, ended: jobs.size === 0 ? jobs : await findEnded([...jobs]) };
}

/** What the marks of items and events say of a job's rows. @param events keys of those among the records */
export async function findKnownRows(
  source: RowSource,
  records: ReadonlyMap<string, StoredRecord>,
  events: readonly RecordKey[],
): Promise<KnownRows> {
  return {
    ...(await findKnownJobs(source, records.values())),
    firstRow: source.firstRow,
    withEvents: new Set(
      rowsMarkedIn(
        source.job,
        events.flatMap((key) => records.get(keyText(key)) ?? []),
      ),
    ),
  };
}

/**
 * Reads items before their rows' events. Some rows leave their mark only on the event. If the item changes in between,
 * the conditional write fails and both are read again.
 */
export function readerOfItems(
  store: RecordStore,
  known: KnownRows,
  eventsOf: (item: RecordKey) => readonly RecordKey[],
): ReadRecords {
  return async (keys) => {
    const items = await store.read(keys);
    const events = await store.read(keys.flatMap(eventsOf));
    for (const row of rowsMarkedIn(known.job, events.values())) known.withEvents.add(row);
    return items;
  };
}
