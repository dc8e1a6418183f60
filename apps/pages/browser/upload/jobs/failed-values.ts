import { COMMA } from "@work-items/lib/uploads/csv/delimiter.ts";
import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { observeRows } from "@work-items/importer/files/whole-file.ts";

/** Limit of what is read of a report: about 100,000 rows. */
const REPORT_MAX_BYTES = 24 * 1024 * 1024;
/** Limit of the values that are named. Rows with others are only counted. */
const NAMED_VALUES = 1000;
/** Limit of the rows that are kept one by one. */
const KEPT_ROWS = 100;

interface FailedRow {
  readonly row: number;
  /** As in the file, without the columns of an earlier report and what is beyond the header. */
  readonly cells: readonly string[];
}

/** A value that fails every row that has it. */
export interface FailedValue {
  readonly column: string;
  readonly value: string;
  /** The service's error for it. */
  readonly message: string;
  /** Number of its rows, and the first of them. */
  readonly rows: number;
  readonly first: FailedRow;
}

/** The failed rows of a job, grouped by value. */
export interface FailedValues {
  /** The columns of the rows. */
  readonly names: readonly string[];
  /** Sorted by number of rows, most first. */
  readonly values: readonly FailedValue[];
  /** The first rows, each with its problem. */
  readonly rows: readonly (FailedRow & Pick<FailedValue, "column" | "value" | "message">)[];
  /** Number of rows that were read. `values` has only the first thousand values, so its sum can be smaller. */
  readonly count: number;
  /** Whether the report was read to its end. */
  readonly isWhole: boolean;
}

/** Reads the report of a job's failed rows. */
export async function readFailedValues(
  report: ReadableStream<Uint8Array>,
  { delimiter = COMMA, header_row: headerRow = 1 }: Pick<Mapping, "delimiter" | "header_row">,
): Promise<FailedValues> {
  const values = new Map<string, FailedValue>();
  const rows: FailedValues["rows"][number][] = [];
  let names: readonly string[] = [];
  let count = 0;
  const isWhole = await observeRows(report, { delimiter, headerRow, bytesMax: REPORT_MAX_BYTES }, (header) => {
    // The file may have columns of an earlier report, which come first.
    const rowIndex = header.lastIndexOf("_row");
    const errorIndex = header.lastIndexOf("_error");
    const columnIndex = header.lastIndexOf("_error_column");
    const valueIndex = header.lastIndexOf("_error_value");
    names = header.slice(0, rowIndex);
    const observe = ({ cells }: { readonly cells: readonly string[] }): void => {
      count += 1;
      const message = cells[errorIndex] ?? "";
      const column = cells[columnIndex] ?? "";
      const value = cells[valueIndex] ?? "";
      const row = Number(cells[rowIndex]);
      const own = (): FailedRow => ({ row, cells: cells.slice(0, rowIndex) });
      if (rows.length < KEPT_ROWS) rows.push({ ...own(), column, value, message });
      if (value === "" || column === "") return;
      const key = `${column}\n${comparable(value)}`;
      const known = values.get(key);
      if (known) values.set(key, { ...known, rows: known.rows + 1 });
      else if (values.size < NAMED_VALUES) values.set(key, { column, value, message, rows: 1, first: own() });
    };
    return [{ observe }];
  });
  return { names, values: [...values.values()].toSorted((a, b) => b.rows - a.rows), rows, count, isWhole };
}
