import { delimiterOf, headerRowOf } from "../file-format.ts";
import { mappingOf } from "../job/job-format.ts";
import type { UploadJob } from "../job/upload-record.ts";
import { createReportWriter } from "./failed-rows.ts";
import { RESULTS_HEADER } from "./results.ts";

/**
 * The lists of a job by their names in paths: CSV files with a line for each row of a kind, and how each begins. Workers write
 * the lines of each window; they are merged at the end.
 */
export const ROW_LISTS = {
  failed_rows: (job: UploadJob): string =>
    createReportWriter({ header: job.header, delimiter: delimiterOf(mappingOf(job)) }).header(
      headerRowOf(mappingOf(job)),
    ),
  results: (_job: UploadJob): string => RESULTS_HEADER,
};
/** Name of a list. */
export type RowListName = keyof typeof ROW_LISTS;
