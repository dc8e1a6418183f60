import type { Attributes } from "../dynamodb/versioned-record.ts";

/** Which row of which upload job wrote the item last, so that a replay of the job skips what it has done. */
export interface UploadMark {
  readonly job: string;
  /** Number of the last row of that job that was applied to the item. */
  readonly row: number;
  /** Rows before it that could not be applied. */
  readonly failed: readonly number[];
}

/** As it is stored: job, row and failed rows with spaces between them. */
export const formatUploadMark = ({ job, row, failed }: UploadMark): string => [job, row, ...failed].join(" ");

export const uploadMarkOf = (record: Attributes | undefined): UploadMark | undefined => {
  const stored = record?.["upload_mark"];
  if (typeof stored !== "string") return undefined;
  const [job = "", ...rows] = stored.split(" ");
  const [row = 0, ...failed] = rows.map(Number);
  return { job, row, failed };
};
