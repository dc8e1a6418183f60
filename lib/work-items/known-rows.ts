import type { StoredRecord } from "../store/versioned-record.ts";
import { type KnownJobs, type KnownRows, uploadMarksOf } from "./upload-mark.ts";

/** The upload job that rows belong to. */
export interface RowSource extends Pick<KnownRows, "job" | "firstRow"> {
  /** When the job was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Whether the rows are planned only. What they would make is kept beside the items until the job is forgotten. */
  readonly dryRun?: boolean;
  /** Those of some jobs that have ended, whose marks are not needed any more. */
  readonly findEnded: (jobs: readonly string[]) => Promise<ReadonlySet<string>>;
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
