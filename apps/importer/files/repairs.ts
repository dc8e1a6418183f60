import { cellsOf, lineEndOf, QuoteError, rawCells, toCell } from "@work-items/lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { isReportColumn, REPORT_COLUMNS } from "@work-items/lib/uploads/csv/header-names.ts";
import type { IdCleaning } from "../ids/clean-ids.ts";
import { mapRecords, withChanges } from "./records.ts";

/** The corrected cells of a row, by the indexes of their columns in the file. */
export type RowRepairs = ReadonlyMap<number, string>;

/** A row that is left out: it becomes a blank line, so that all other rows keep their numbers. */
export const LEFT_OUT: RowRepairs = new Map();

/** Corrected rows, by their numbers as in a spreadsheet: blank lines count. */
export type Repairs = ReadonlyMap<number, RowRepairs>;

/** Corrections as a text, to compare them. */
export function textOfRepairs(repairs: Repairs): string {
  return JSON.stringify([...repairs].toSorted(([a], [b]) => a - b).map(([row, cells]) => [row, ...cells]));
}

/** The same rows with another value of a cell. @param original its value in the file, which needs no correction */
export function withRepair(
  repairs: Repairs,
  { row, column, original }: { readonly row: number; readonly column: number; readonly original: string },
  value: string,
): Repairs {
  const cells = new Map(repairs.get(row));
  if (value === original) cells.delete(column);
  else cells.set(column, value);
  const rows = new Map(repairs);
  if (cells.size === 0) rows.delete(row);
  else rows.set(row, cells);
  return rows;
}

/** Cells with their corrections, which may be beyond the end of the row. */
export function repairedCells(cells: readonly string[], repairs: RowRepairs | undefined): string[] {
  if (repairs === undefined) return [...cells];
  const width = Math.max(cells.length, ...[...repairs.keys()].map((column) => column + 1));
  return Array.from({ length: width }, (_, column) => repairs.get(column) ?? cells[column] ?? "");
}

/**
 * The cells of a row of a report as in the file. A report has the file's columns without those of an earlier report,
 * then its own columns, then the cells of the row beyond the header.
 * @param names the header of the file
 */
export function cellsInFile(names: readonly string[], reported: readonly string[]): string[] {
  const kept = [...names.keys()].filter((index) => !isReportColumn(names[index]!));
  const cells = Array.from(names, () => "");
  for (const [position, index] of kept.entries()) cells[index] = reported[position] ?? "";
  return [...cells, ...reported.slice(kept.length + REPORT_COLUMNS.length)];
}

/**
 * Replaces cells of a CSV text that comes in pieces. Everything else stays as it is, and each row keeps its number.
 * @param valuesFor the new cells of a row, by its number as in a spreadsheet; undefined if nothing changes. Reads its cells only
 * if they are asked for
 */
export function changeRows(
  valuesFor: (row: number, cells: () => string[]) => RowRepairs | undefined,
  delimiter: Delimiter,
): TransformStream<string, string> {
  let row = 0;
  return mapRecords((record) => {
    row += 1;
    try {
      const values = valuesFor(row, () => cellsOf(record, delimiter));
      if (values === undefined) return record;
      if (values.size === 0) return lineEndOf(record);
      const cells = [...values].map(([column, value]) => [column, toCell(value, delimiter)] as const);
      return repairedCells(rawCells(record, delimiter), new Map(cells)).join(delimiter) + lineEndOf(record);
    } catch (error) {
      // The service reports wrong quotes.
      if (error instanceof QuoteError) return record;
      throw error;
    }
  });
}

/** Replaces the corrected cells of a CSV text that comes in pieces. Everything else stays as it is. */
export function repairRows(repairs: Repairs, delimiter: Delimiter): TransformStream<string, string> {
  return changeRows((row) => repairs.get(row), delimiter);
}

/** The content of a file in UTF-8 with its corrected rows. */
export async function withRepairs(content: Blob, repairs: Repairs, delimiter: Delimiter): Promise<Blob> {
  return repairs.size === 0 ? content : new Response(withChanges(content, repairRows(repairs, delimiter))).blob();
}

/** Removes what a program put around IDs from a CSV text that comes in pieces. */
export function cleanIds(
  { column, wrapping, headerRow }: IdCleaning & { /** Number of the header's row. */ readonly headerRow: number },
  delimiter: Delimiter,
): TransformStream<string, string> {
  return changeRows((row, cells) => {
    const id = row > headerRow ? wrapping.inside((cells()[column] ?? "").trim()) : undefined;
    return id === undefined ? undefined : new Map([[column, id]]);
  }, delimiter);
}
