import { Readable } from "node:stream";
import { filledDown } from "@work-items/importer/files/fill-down.ts";
import { LEFT_OUT, withRepairs } from "@work-items/importer/files/repairs.ts";
import { observeRows } from "@work-items/importer/files/whole-file.ts";
import { GroupedColumns } from "@work-items/importer/proposals/grouped-columns.ts";
import { type NumberedRow, RowSurvey, type Survey, totalsIn } from "@work-items/importer/proposals/survey.ts";
import { COMMA } from "../../../lib/uploads/csv/delimiter.ts";
import { comparable, numberedNames } from "../../../lib/uploads/csv/header-names.ts";
import { columnsOf, singlesOf } from "../../../lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import { nearestTo } from "../../../lib/nearest.ts";
import { CommandError } from "../../../infra/command-line.ts";
import type { Terminal } from "../../../infra/terminal.ts";
import { type CsvFile, keep, type KeptFile } from "./open-csv.ts";
import { totalsLines } from "./proposal-lines.ts";

/** How to read the rows of a file with a mapping. */
export function layoutOf({ header_row: headerRow = 1, delimiter = COMMA }: Mapping) {
  return { headerRow, delimiter };
}

/** The index of the first column of the items' IDs; undefined without one. */
function idColumn({ fields = {} }: Mapping, names: readonly string[]): number | undefined {
  const source = fields["external_id"] ?? {};
  const used = singlesOf({ source, path: [] }).flatMap((single) => columnsOf(single.source).map(comparable));
  const index = numberedNames(names).findIndex((name) => used.includes(comparable(name)));
  return index === -1 ? undefined : index;
}

/** What all rows of a file show about its columns. */
export interface SurveyedFile {
  /** Cells of the header. */
  readonly names: readonly string[];
  readonly survey: Survey;
  /** The rows that don't look like items with its mapping. */
  readonly totals: readonly NumberedRow[];
  /** The names of columns that have a value only in the first row of each group. */
  readonly grouped: readonly string[];
}

/** Reads a file to its end. */
async function surveyFile({ blob }: Pick<CsvFile, "blob">, mapping: Mapping): Promise<SurveyedFile> {
  let header: readonly string[] = [];
  let rows = new RowSurvey(header);
  let groups = new GroupedColumns(header);
  await observeRows(blob.stream(), layoutOf(mapping), (names) => {
    header = names;
    rows = new RowSurvey(names);
    groups = new GroupedColumns(names);
    return [rows, groups];
  });
  const survey = rows.result();
  const totals = totalsIn(survey, header, idColumn(mapping, header));
  return { names: header, survey, totals, grouped: namesOf(groups, header) };
}

/** The names of grouped columns. */
export function namesOf(groups: GroupedColumns, names: readonly string[]): string[] {
  const numbered = numberedNames(names);
  return groups.result().map((index) => numbered[index]!);
}

/** Says how to fill columns down, if some have a value only in the first row of each group. */
export function noteGroups(terminal: Terminal, grouped: readonly string[]): void {
  if (grouped.length === 0) return;
  const shown = grouped.map((name) => `"${name}"`);
  const [have, columns] = grouped.length === 1 ? ["has", "it"] : ["have", "them"];
  terminal.note(
    `${shown.join(" and ")} ${have} a value only in the first row of each group; fill ${columns} down with --fill ${shown.join(" ")}`,
  );
}

/** The indexes of columns. @throws CommandError if the file has no such column */
function indexesOf(columns: readonly string[], names: readonly string[]): number[] {
  const numbered = numberedNames(names);
  return columns.map((column) => {
    const index = numbered.findIndex((name) => comparable(name) === comparable(column));
    if (index !== -1) return index;
    throw new CommandError(`--fill: there is no column "${column}"; the nearest is "${nearestTo(column, numbered)}"`);
  });
}

/** A file with blank lines for rows that aren't items, so that all rows keep their numbers. Prints those rows. */
async function withoutTotals(
  terminal: Terminal,
  { blob }: Pick<CsvFile, "blob">,
  mapping: Mapping,
  { totals }: SurveyedFile,
): Promise<Blob> {
  for (const { row, cells } of totals) terminal.note(`left out: row ${row} (${cells.filter(Boolean).join(", ")})`);
  return withRepairs(blob, new Map(totals.map(({ row }) => [row, LEFT_OUT])), layoutOf(mapping).delimiter);
}

/** What is changed in a file before it is sent. */
export interface FileChanges {
  /** Names of columns whose empty cells take the value above. */
  readonly fill: readonly string[];
  /** Whether rows that don't look like items are left out. */
  readonly leavesOutTotals: boolean;
}

/** A file as it is sent, and what its rows show. */
export interface PreparedFile extends KeptFile {
  readonly surveyed: SurveyedFile;
}

/**
 * Reads a file to its end and prints what is odd about its rows, then changes it. All rows keep their numbers.
 * @throws CommandError if it has no column to fill
 */
export async function prepareFile(
  terminal: Terminal,
  file: CsvFile,
  mapping: Mapping,
  { fill, leavesOutTotals }: FileChanges,
): Promise<PreparedFile> {
  const surveyed = await surveyFile(file, mapping);
  const { names, totals, grouped } = surveyed;
  const { headerRow, delimiter } = layoutOf(mapping);
  if (!leavesOutTotals) for (const line of totalsLines(totals)) terminal.note(line);
  const columns = indexesOf(fill, names);
  if (columns.length === 0) noteGroups(terminal, grouped);
  const others = new Set(totals.map(({ row }) => row));
  const filled =
    columns.length === 0
      ? { blob: file.blob, close: async () => undefined }
      : await keep(Readable.fromWeb(filledDown(file.blob, { headerRow, columns, others }, delimiter) as never));
  return {
    // Filled columns have fewer empty cells.
    surveyed: columns.length === 0 ? surveyed : await surveyFile(filled, mapping),
    blob: leavesOutTotals ? await withoutTotals(terminal, filled, mapping, surveyed) : filled.blob,
    close: filled.close,
  };
}
