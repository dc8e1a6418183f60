import { cellValue, lineEndOf, rawCells, toCell } from "../csv/csv-text.ts";
import { COMMA, type Delimiter } from "../csv/delimiter.ts";
import { BYTE_ORDER_MARK, isReportColumn, REPORT_COLUMNS } from "../csv/header-names.ts";
import type { RowError } from "../csv/row-reader.ts";
import { type CsvFormat, delimiterOf, headerRowOf } from "../mapping/file-format.ts";
import { mappingOf, type UploadJob } from "../job/upload-record.ts";
import type { Row } from "./frames.ts";

/** Longer values are cut in the report, which also has the whole cell. */
export const VALUE_MAX_CHARACTERS = 200;

/** A cell as in the file, but quoted if it contains a CR, which other readers take for the end of a row. */
function quotedReturns(cell: string, delimiter: Delimiter): string {
  return cell.includes("\r") && !cell.startsWith('"') ? toCell(cell, delimiter) : cell;
}

/**
 * Makes the lines of a report of failed rows: the unchanged columns of the file, then those of the report. If the file is
 * such a report itself, the new columns replace its own.
 * @param header the file's header row
 */
export function createReportWriter({ header, delimiter }: Pick<CsvFormat, "header" | "delimiter">) {
  const names = rawCells(header.replace(BYTE_ORDER_MARK, ""), delimiter);
  const kept = names.flatMap((name, index) => (isReportColumn(cellValue(name)) ? [] : [index]));
  const lineEnd = lineEndOf(header) || "\n";
  return {
    /** @param row number of the header row. Blank lines above it let the report be imported with the file's mapping */
    header: (row: number): string =>
      BYTE_ORDER_MARK +
      lineEnd.repeat(row - 1) +
      [...kept.map((index) => names[index]!), ...REPORT_COLUMNS].join(delimiter) +
      lineEnd,
    /** Missing cells are added as empty ones; surplus cells come after the report's own. */
    line: ({ row, text }: Pick<Row, "row" | "text">, { message, column, value, code }: RowError): string => {
      const cells = rawCells(text, delimiter);
      const own = kept.map((index) => quotedReturns(cells[index] ?? "", delimiter));
      const added = [String(row), message, column, value.slice(0, VALUE_MAX_CHARACTERS), code];
      const all = [...own, ...added.map((cell) => toCell(cell, delimiter)), ...cells.slice(names.length)];
      return all.join(delimiter) + (lineEndOf(text) || "\n");
    },
  };
}

/** The header of a list of results. */
export const RESULTS_HEADER = `${BYTE_ORDER_MARK}_row,external_id,id,outcome\n`;

/** What a list of results says besides: what stays, and what changes, both as JSON. */
type FurtherColumn = "kept" | "changes";

/** The further columns of a job's results: what an undo keeps, and what a dry run changes. */
export function furtherColumnsOf({ undo_of: undone, dry_run: isTrial = false }: UploadJob): FurtherColumn[] {
  return [...(undone === undefined ? [] : ["kept" as const]), ...(isTrial ? ["changes" as const] : [])];
}

interface ListedResult extends Partial<Readonly<Record<FurtherColumn, string>>> {
  readonly externalId: string;
  /** Empty if the row failed. */
  readonly id: string;
  readonly outcome: string;
}

/** The line of a row in a list of results. */
export function resultLine(
  { row }: { readonly row: number },
  result: ListedResult,
  further: readonly FurtherColumn[],
): string {
  const { externalId, id, outcome } = result;
  const more = further.map((column) => `,${toCell(result[column] ?? "", COMMA)}`);
  return `${row},${toCell(externalId, COMMA)},${id},${outcome}${more.join("")}\n`;
}

/**
 * The lists of a job by their names in paths, with the functions that make their headers. They are CSV files with a line for
 * each row. Workers write the lines of each window, which are merged at the end.
 */
export const ROW_LISTS = {
  failed_rows: (job: UploadJob): string =>
    createReportWriter({ header: job.header, delimiter: delimiterOf(mappingOf(job)) }).header(
      headerRowOf(mappingOf(job)),
    ),
  results: (job: UploadJob): string =>
    RESULTS_HEADER.replace(
      "\n",
      `${furtherColumnsOf(job)
        .map((column) => `,${column}`)
        .join("")}\n`,
    ),
};
/** Name of a list. */
export type RowListName = keyof typeof ROW_LISTS;
