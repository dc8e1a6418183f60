import { delimiterOf, headerRowOf } from "../file-format.ts";
import { mappingOf } from "../job/job-format.ts";
import type { JobKey, ObjectRuns, UploadJob, UploadPart } from "../job/upload-record.ts";
import { createReportWriter } from "./failed-rows.ts";
import { RESULTS_HEADER } from "./results.ts";
import { objectKeys } from "./upload-objects.ts";

/** A CSV file with a line for each row of a kind. Workers write the lines of each window; they are merged at the end. */
export interface RowList {
  /** Key of the merged file. */
  readonly key: (job: JobKey) => string;
  readonly header: (job: UploadJob) => string;
  /** The objects of a part. Each holds frames with the lines of a window. */
  readonly objectsOf: (part: UploadPart) => ObjectRuns;
  /** Key of the object of a window. */
  readonly objectKey: (job: JobKey, part: number, epoch: number, index: number) => string;
}

/** The lists of a job by their names in paths. */
export const ROW_LISTS = {
  failed_rows: {
    key: objectKeys.report,
    header: (job) =>
      createReportWriter({ header: job.header, delimiter: delimiterOf(mappingOf(job)) }).header(
        headerRowOf(mappingOf(job)),
      ),
    objectsOf: ({ failures }) => failures,
    objectKey: objectKeys.failedRows,
  },
  results: {
    key: objectKeys.results,
    header: () => RESULTS_HEADER,
    objectsOf: ({ results }) => results,
    objectKey: objectKeys.windowResults,
  },
} as const satisfies Record<string, RowList>;
/** Name of a list. */
export type RowListName = keyof typeof ROW_LISTS;
