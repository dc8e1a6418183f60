import { columnsIn, columnsOf, singlesOf, targetsOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import { createAliases } from "@work-items/lib/uploads/mapping/conversion.ts";
import { columnIndex, comparable, isReportColumn, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { isClearable } from "@work-items/lib/uploads/csv/target.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { Survey, SurveyedColumn } from "../proposals/survey.ts";

/** A column with cells that a mapping reads as empty, or several columns that become one field. */
export interface EmptyCells {
  readonly columns: readonly string[];
  /** Number of rows in which it is empty. */
  readonly rows: number;
  /** Whether there may be fewer rows, because others of the columns may have a value. */
  readonly isMost?: boolean;
  /** Whether they have the completion date. */
  readonly isCompletion?: boolean;
}

/** The rows in which a source reads a column as empty. */
function emptyRows(column: SurveyedColumn, rows: number, source: Source, { empty = [] }: Mapping): number {
  const listed = new Set(empty.map(comparable));
  const aliases = createAliases(source);
  const isEmpty = (text: string): boolean => listed.has(comparable(text)) || aliases.find(comparable(text)) === "";
  // Of a column with too many texts, only those that often mean an empty value are counted.
  const texts = column.words ?? new Map([...column.emptyWords, ...column.noDates]);
  return [...texts].reduce((sum, [text, count]) => (isEmpty(text) ? sum + count : sum), rows - column.filledRows);
}

/**
 * The columns with empty cells for which a mapping doesn't say whether such a cell clears its field, those with the most
 * first.
 * @param names cells of the header
 */
export function undecidedEmptyCells(mapping: Mapping, names: readonly string[], survey: Survey): EmptyCells[] {
  if (mapping.blank !== undefined) return [];
  const rowsOf = (source: Source): number[] =>
    columnsOf(source).map((name) => {
      const column = survey.columns[columnIndex(names, name)];
      return column === undefined ? 0 : emptyRows(column, survey.rows, source, mapping);
    });
  const named = targetsOf(mapping).flatMap(({ target, ...given }): EmptyCells[] => {
    if (!isClearable(target) || given.source.blank !== undefined) return [];
    const sources = singlesOf(given).map(({ source }) => source);
    // A constant is never empty.
    if (sources.some(({ value }) => value !== undefined)) return [];
    const columns = sources.flatMap(columnsOf);
    const isCompletion = target.kind === "field" && target.name === "completed_at";
    return [{ columns, rows: Math.min(...sources.flatMap(rowsOf)), isMost: columns.length > 1, isCompletion }];
  });
  const used = columnsIn(mapping);
  const others = mapping.others === "custom_attributes" ? numberedNames(names) : [];
  const unnamed = others
    .filter((name) => name.trim() !== "" && !used.has(comparable(name)) && !isReportColumn(name))
    .map((name): EmptyCells => ({ columns: [name.trim()], rows: Math.min(...rowsOf({ column: name })) }));
  // A column of which two fields are made, such as a name and an email, is one.
  const all = new Map([...named, ...unnamed].map((cells) => [JSON.stringify(cells), cells]));
  return [...all.values()].filter(({ rows }) => rows > 0).toSorted((a, b) => b.rows - a.rows);
}

/** Limit of the columns that are named. */
const SHOWN_COLUMNS = 8;

/** Names columns with the numbers of their empty cells: "Owner (120), Closed (44)". */
export function shownEmptyCells(cells: readonly EmptyCells[]): string {
  const shown = cells
    .slice(0, SHOWN_COLUMNS)
    .map(
      ({ columns, rows, isMost }) =>
        `${columns.join(" or ")} (${isMost ? "at most " : ""}${rows.toLocaleString("en-US")})`,
    );
  const more = cells.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
