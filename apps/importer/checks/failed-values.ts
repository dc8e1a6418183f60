import { COMMA } from "../../../lib/uploads/csv/delimiter.ts";
import { comparable } from "../../../lib/uploads/csv/header-names.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import { cellsInFile } from "../files/repairs.ts";
import { observeRows } from "../files/whole-file.ts";

/** So much of a report is read: some 100,000 rows. */
const REPORT_MAX_BYTES = 24 * 1024 * 1024;
/** More different values are counted, but not named. */
const NAMED_VALUES = 1000;
/** So many rows are kept of those whose problem is no value. */
const KEPT_ROWS = 100;

/** A row that failed. */
export interface FailedRow {
  readonly row: number;
  /** As they stand in the file. */
  readonly cells: readonly string[];
}

/** A value that fails all rows in which it stands. */
export interface FailedValue {
  readonly column: string;
  readonly value: string;
  /** What the service says of it. */
  readonly message: string;
  /** Number of its rows, and the first of them. */
  readonly rows: number;
  readonly first: FailedRow;
}

/** The failed rows of a job, by what is wrong. */
export interface FailedValues {
  /** Those that fail the most rows first. */
  readonly values: readonly FailedValue[];
  /** The first rows, with what is wrong with each. */
  readonly rows: readonly (FailedRow & Pick<FailedValue, "column" | "value" | "message">)[];
  /** Number of rows that were read, of which those with too many different values aren't in a group. */
  readonly count: number;
  readonly isWhole: boolean;
}

/** Reads the report of a job's failed rows. @param names the header of its file, where that is known */
export async function readFailedValues(
  report: ReadableStream<Uint8Array>,
  { delimiter = COMMA, header_row: headerRow = 1 }: Pick<Mapping, "delimiter" | "header_row">,
  names?: readonly string[],
): Promise<FailedValues> {
  const values = new Map<string, FailedValue>();
  const rows: FailedValues["rows"][number][] = [];
  let count = 0;
  const isWhole = await observeRows(report, { delimiter, headerRow, bytesMax: REPORT_MAX_BYTES }, (header) => {
    // The file may have columns of an earlier report, which come first.
    const place = (name: string): number => header.lastIndexOf(name);
    const [rowAt, errorAt] = [place("_row"), place("_error")];
    const [columnAt, valueAt] = [place("_error_column"), place("_error_value")];
    const observe = ({ cells }: { readonly cells: readonly string[] }): void => {
      count += 1;
      const [message = "", column = "", value = ""] = [cells[errorAt], cells[columnAt], cells[valueAt]];
      const row = Number(cells[rowAt]);
      const own = (): FailedRow => ({ row, cells: cellsInFile(names ?? header.slice(0, rowAt), cells) });
      if (rows.length < KEPT_ROWS) rows.push({ ...own(), column, value, message });
      if (value === "" || column === "") return;
      const key = `${column}\n${comparable(value)}`;
      const known = values.get(key);
      if (known) values.set(key, { ...known, rows: known.rows + 1 });
      else if (values.size < NAMED_VALUES) values.set(key, { column, value, message, rows: 1, first: own() });
    };
    return [{ observe }];
  });
  return { values: [...values.values()].toSorted((a, b) => b.rows - a.rows), rows, count, isWhole };
}

/** The mapping in which a text of a column becomes another one; undefined if no source is made of that column alone. */
export function withValue(mapping: Mapping, column: string, text: string, instead: string): Mapping | undefined {
  let isFound = false;
  const changed = (source: NonNullable<Mapping["fields"]>[string]): typeof source => {
    if (source.first_of) return { ...source, first_of: source.first_of.map(changed) };
    if (source.column === undefined || comparable(source.column) !== comparable(column)) return source;
    isFound = true;
    const others = Object.entries(source.values ?? {}).filter(([each]) => comparable(each) !== comparable(text));
    return { ...source, values: Object.fromEntries([...others, [text, instead]]) };
  };
  const changedIn = (sources: Mapping["fields"]) =>
    sources && Object.fromEntries(Object.entries(sources).map(([target, source]) => [target, changed(source)]));
  const [fields, event] = [changedIn(mapping.fields), changedIn(mapping.event)];
  return isFound ? { ...mapping, ...(fields && { fields }), ...(event && { event }) } : undefined;
}
