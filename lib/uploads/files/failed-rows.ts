import type { CsvFormat } from "../file-format.ts";
import { cellValue, lineEndOf, rawCells, toCell } from "../csv/csv-text.ts";
import { isReportColumn, REPORT_COLUMNS } from "../csv/header-names.ts";
import type { RowError } from "../csv/row-reader.ts";
import type { Row } from "./segment.ts";

/** Before a first header in quotes it would hide the opening quote. */
const BYTE_ORDER_MARK = "\uFEFF";
/** Longer values are cut in the report, which holds the whole cell beside them. */
const VALUE_MAX_CHARACTERS = 200;

/**
 * Writes the lines of a report of failed rows: the unchanged columns of the file, then those of the report. If the file
 * is such a report itself, the new columns replace its own.
 * @param header row 1 of the file
 */
export function createReportWriter({ header, delimiter }: Pick<CsvFormat, "header" | "delimiter">) {
  const mark = header.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const names = rawCells(header.slice(mark.length), delimiter);
  const kept = names.flatMap((name, index) => (isReportColumn(cellValue(name)) ? [] : [index]));
  return {
    header: (): string =>
      mark + [...kept.map((index) => names[index]!), ...REPORT_COLUMNS].join(delimiter) + (lineEndOf(header) || "\n"),
    /** Missing cells are added as empty ones; surplus cells follow the report's own. */
    line: ({ row, text, cells }: Row, { message, column, value, code }: RowError): string => {
      const own = kept.map((index) => cells[index] ?? "");
      const added = [String(row), message, column, value.slice(0, VALUE_MAX_CHARACTERS), code];
      const all = [...own, ...added.map((cell) => toCell(cell, delimiter)), ...cells.slice(names.length)];
      return all.join(delimiter) + (lineEndOf(text) || "\n");
    },
  };
}
