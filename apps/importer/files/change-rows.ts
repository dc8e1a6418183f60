import { cellsOf, lineEndOf, QuoteError, rawCells, toCell } from "@work-items/lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import type { IdCleaning } from "../ids/clean-ids.ts";
import { mapRecords, withChanges } from "./records.ts";

/** The new cells of a row, by the indexes of their columns in the file. */
export type NewCells = ReadonlyMap<number, string>;

/** A row that is left out: it becomes a blank line, so that all other rows keep their numbers. */
const LEFT_OUT: NewCells = new Map();

/** Cells with those that replace some of them, which may be beyond the end of the row. */
export function withCells(cells: readonly string[], values: NewCells): string[] {
  const width = Math.max(cells.length, ...[...values.keys()].map((column) => column + 1));
  return Array.from({ length: width }, (_, column) => values.get(column) ?? cells[column] ?? "");
}

/**
 * Replaces cells of a CSV text that comes in pieces. Everything else stays as it is, and each row keeps its number.
 * @param valuesFor the new cells of a row, by its number as in a spreadsheet; undefined if nothing changes. Reads its cells only
 * if they are asked for
 */
export function changeRows(
  valuesFor: (row: number, cells: () => string[]) => NewCells | undefined,
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
      return withCells(rawCells(record, delimiter), new Map(cells)).join(delimiter) + lineEndOf(record);
    } catch (error) {
      // The service reports wrong quotes.
      if (error instanceof QuoteError) return record;
      throw error;
    }
  });
}

/** Leaves rows out of a CSV text that comes in pieces. */
export function leaveOut(rows: ReadonlySet<number>, delimiter: Delimiter): TransformStream<string, string> {
  return changeRows((row) => (rows.has(row) ? LEFT_OUT : undefined), delimiter);
}

/** The content of a file in UTF-8 without some rows. */
export async function withoutRows(content: Blob, rows: ReadonlySet<number>, delimiter: Delimiter): Promise<Blob> {
  return rows.size === 0 ? content : new Response(withChanges(content, leaveOut(rows, delimiter))).blob();
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
