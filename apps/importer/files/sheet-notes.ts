import { COMMA } from "@work-items/lib/uploads/csv/delimiter.ts";
import { withoutRows } from "./change-rows.ts";
import { type MergedRange, referenceTo } from "./merged-cells.ts";
import type { FormattedCells, LostCells, Sheet } from "./workbook.ts";

/** Limit of the ranges that are named. */
const SHOWN_RANGES = 5;

function referencesTo(ranges: readonly MergedRange[]): string {
  const shown = ranges.slice(0, SHOWN_RANGES).map(({ first, last }) => `${referenceTo(first)}:${referenceTo(last)}`);
  const more = ranges.length - SHOWN_RANGES;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function noteOfLost({ count, first }: LostCells, one: string, many: string, advice: string): string[] {
  if (first === undefined) return [];
  const which =
    count === 1 ? `${one} in ${referenceTo(first)}` : `${count} ${many}, the first in ${referenceTo(first)}`;
  return [`${which}: ${count === 1 ? "its value is" : "their values are"} left empty; ${advice}`];
}

function noteOfFormatted({ count, first, value, shown }: FormattedCells): string[] {
  if (first === undefined) return [];
  const which =
    count === 1 ? `a number in ${referenceTo(first)} is` : `${count} numbers, the first in ${referenceTo(first)}, are`;
  return [`${which} imported as the workbook shows ${count === 1 ? "it" : "them"}: ${shown}, not ${value}`];
}

function noteOfHidden(columns: readonly number[]): string[] {
  const [first] = columns;
  if (first === undefined) return [];
  const letters = columns.map((column) => referenceTo({ row: 1, column }).replace(/\d+$/, ""));
  const are = columns.length === 1 ? `column ${letters[0]} is` : `columns ${letters.join(", ")} are`;
  return [`${are} hidden in the workbook, but imported`];
}

/**
 * What a person may not expect of what the workbook shows, to read before they import it: sentences without their ends.
 * @param headerRow number of the header's row
 */
export function notesOf({ lost, formatted, merged, hiddenColumns }: Sheet, headerRow: number): string[] {
  const below = merged.filter(({ first }) => first.row > headerRow);
  const high = below.filter(({ first, last }) => last.row > first.row);
  const wide = below.filter(({ first, last }) => last.column > first.column);
  return [
    ...noteOfLost(
      lost.formulas,
      "there is a formula without a stored result",
      "formulas have no stored result",
      "open the workbook in a spreadsheet, save it and choose it again",
    ),
    ...noteOfLost(
      lost.errors,
      "there is an error such as #N/A",
      "cells have errors such as #N/A",
      `if ${lost.errors.count === 1 ? "it" : "they"} should have a value, correct the workbook`,
    ),
    ...noteOfLost(
      lost.damaged,
      "there is a damaged cell",
      "cells are damaged",
      `correct ${lost.damaged.count === 1 ? "it" : "them"} and save the workbook again`,
    ),
    ...noteOfFormatted(formatted),
    ...noteOfHidden(hiddenColumns),
    ...(high.length === 0 ? [] : [`merged cells: each row of ${referencesTo(high)} gets the value`]),
    ...(wide.length === 0 ? [] : [`merged cells: only the first column of ${referencesTo(wide)} gets the value`]),
  ];
}

/** The numbers of the rows below a header that a sheet hides. */
export function hiddenBelow({ hiddenRows }: Sheet, headerRow: number): number[] {
  return hiddenRows.filter((row) => row > headerRow);
}

/** Says how many rows a sheet hides, for example by a filter. */
export function shownHidden(rows: number): string {
  return `${rows === 1 ? "1 row is" : `${rows.toLocaleString("en-US")} rows are`} hidden in the workbook`;
}

/** The CSV of a sheet with blank lines for hidden rows, so that all others keep their numbers. */
export function withoutHidden(csv: Blob, hidden: readonly number[]): Promise<Blob> {
  return withoutRows(csv, new Set(hidden), COMMA);
}
