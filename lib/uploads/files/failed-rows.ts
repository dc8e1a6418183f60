import type { CsvFormat } from "../file-format.ts";
import { cellValue, lineEndOf, rawCells, toCell } from "../csv/csv-text.ts";
import { BYTE_ORDER_MARK, isReportColumn, REPORT_COLUMNS } from "../csv/header-names.ts";
import type { RowError } from "../csv/row-reader.ts";
import type { Row } from "./segment.ts";

/** Longer values are cut in the report, which holds the whole cell beside them. */
const VALUE_MAX_CHARACTERS = 200;

/**
 * Writes the lines of a report of failed rows: the unchanged columns of the file, then those of the report. If the file
 * is such a report itself, the new columns replace its own.
 * @param header the header's row of the file
 */
export function createReportWriter({ header, delimiter }: Pick<CsvFormat, "header" | "delimiter">) {
  const names = rawCells(header.replace(BYTE_ORDER_MARK, ""), delimiter);
  const kept = names.flatMap((name, index) => (isReportColumn(cellValue(name)) ? [] : [index]));
  const lineEnd = lineEndOf(header) || "\n";
  return {
    /** @param row number of the header's row: lines above it let the report be imported with the file's mapping */
    header: (row: number): string =>
      BYTE_ORDER_MARK +
      lineEnd.repeat(row - 1) +
      [...kept.map((index) => names[index]!), ...REPORT_COLUMNS].join(delimiter) +
      lineEnd,
    /** Missing cells are added as empty ones; surplus cells follow the report's own. */
    line: ({ row, text, cells }: Row, { message, column, value, code }: RowError): string => {
      const own = kept.map((index) => cells[index] ?? "");
      const added = [String(row), message, column, value.slice(0, VALUE_MAX_CHARACTERS), code];
      const all = [...own, ...added.map((cell) => toCell(cell, delimiter)), ...cells.slice(names.length)];
      return all.join(delimiter) + (lineEndOf(text) || "\n");
    },
  };
}
