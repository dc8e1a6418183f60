import type { Attributes } from "../dynamodb/versioned-record.ts";

/** The upload job and row that wrote an item last, so that the job skips rows that it has applied before. */
export interface UploadMark {
  readonly job: string;
  /** Number of the last row of that job that was applied to the item. */
  readonly row: number;
  /** Numbers of earlier rows that could not be applied. */
  readonly failed: readonly number[];
}

/** The stored form: job, row and failed rows, separated by spaces. */
export const formatUploadMark = ({ job, row, failed }: UploadMark): string => [job, row, ...failed].join(" ");

/** The upload mark in an item's record. */
export const uploadMarkOf = (record: Attributes | undefined): UploadMark | undefined => {
  const stored = record?.["upload_mark"];
  if (typeof stored !== "string") return undefined;
  const [job = "", ...rows] = stored.split(" ");
  const [row = 0, ...failed] = rows.map(Number);
  return { job, row, failed };
};
