import type { RowOutcome } from "../../work-items/upload-mark.ts";
import { toCell } from "../csv/csv-row.ts";
import { COMMA } from "../csv/delimiter.ts";

/** The header of a list of results. */
export const RESULTS_HEADER = "_row,external_id,id,outcome\n";

/** What became of a row. */
export interface RowResultLine {
  readonly row: number;
  /** As in the row; empty if it has none. */
  readonly externalId: string;
  /** The item's id; empty if the row failed. */
  readonly id: string;
  readonly outcome: RowOutcome;
}

/** The line of a row in a list of results. */
export const resultLine = ({ row, externalId, id, outcome }: RowResultLine): string =>
  `${row},${toCell(externalId, COMMA)},${id},${outcome}\n`;
