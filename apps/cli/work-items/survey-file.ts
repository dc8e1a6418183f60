import { Readable } from "node:stream";
import type { TriedFile } from "@work-items/importer/checks/resulting-items.ts";
import { ResultingValues } from "@work-items/importer/checks/resulting-values.ts";
import { fillRows } from "@work-items/importer/files/fill-down.ts";
import { withChanges } from "@work-items/importer/files/records.ts";
import { cleanIds, leaveOut } from "@work-items/importer/files/change-rows.ts";
import { observeRows } from "@work-items/importer/files/whole-file.ts";
import { cleaningFor, type IdCleaning, idColumn, noteOfCleaning } from "@work-items/importer/ids/clean-ids.ts";
import { type FileRow, readIds } from "@work-items/importer/ids/repeated-ids.ts";
import { doubtOfJoined } from "@work-items/importer/proposals/joined-rows.ts";
import { RowSurvey, totalsIn } from "@work-items/importer/proposals/survey.ts";
import { COMMA } from "@work-items/lib/uploads/csv/delimiter.ts";
import { columnIndex, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { InvalidFileError } from "@work-items/lib/uploads/csv/invalid-file-error.ts";
import type { RowReader } from "@work-items/lib/uploads/csv/row-reader.ts";
import { problemsOfMapping } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import { readerOf } from "@work-items/lib/uploads/mapping/file-format.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { nearestTo } from "@work-items/lib/nearest.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { withBar } from "../progress-bar.ts";
import { keep, type KeptFile } from "./open-csv.ts";
import { shownRow, totalsLines } from "./proposal-lines.ts";

/** The source of the IDs in a file whose columns are named after the fields. */
export const BY_NAMES: Mapping = { fields: { external_id: { column: "external_id" } } };

/** The reader of a file's rows; undefined if the mapping doesn't fit, which the service reports. */
function readerFor(names: readonly string[], mapping: Mapping): RowReader | undefined {
  if (problemsOfMapping(mapping).length > 0) return undefined;
  try {
    return readerOf(names, mapping === BY_NAMES ? undefined : mapping);
  } catch (error) {
    if (error instanceof InvalidFileError) return undefined;
    throw error;
  }
}

/** What is looked for in the rows of a file, besides repeated IDs. */
interface Wanted {
  /** Whether the columns are surveyed. */
  readonly survey: boolean;
  /** Whether the values that the rows become are counted. */
  readonly values: boolean;
}

/** Reads a file to its end, once for all that is wanted. */
export async function lookThrough(terminal: Terminal, content: Blob, mapping: Mapping, wanted: Wanted) {
  const { header_row: headerRow = 1, delimiter = COMMA } = mapping;
  const layout = { headerRow, delimiter };
  let names: readonly string[] = [];
  let survey: RowSurvey | undefined;
  let reader: RowReader | undefined;
  let values: ResultingValues | undefined;
  const begin = (header: readonly string[]) => {
    names = header;
    survey = wanted.survey ? new RowSurvey(header, [], delimiter) : undefined;
    reader = wanted.values ? readerFor(header, mapping) : undefined;
    values = reader && new ResultingValues(reader, new Date().toISOString());
    return [survey, values].filter((each) => each !== undefined);
  };
  const found = await withBar(terminal, "reading the file [{bar}] {percentage} %", {}, (update) => {
    const options = { ...layout, onProgress: (bytes: number) => update(bytes, content.size) };
    return readIds(
      (beginIds) => observeRows(content.stream(), options, (header) => [...beginIds(header), ...begin(header)]),
      mapping,
    );
  });
  const read: TriedFile["read"] = (observer) => observeRows(content.stream(), layout, () => [observer]);
  return {
    mapping,
    /** Cells of the header. */
    names,
    /** Undefined where rows are events, which repeat IDs. */
    ids: mapping.event === undefined ? found : undefined,
    cleaning: cleaningFor(idColumn(mapping, names), found),
    survey: survey?.result(),
    tried: reader && values && { reader, read, findings: values.findings },
  };
}

/** What one look at all rows of a file showed. */
export type SeenFile = Awaited<ReturnType<typeof lookThrough>>;

/** Says how to fill columns down, if some have a value only in the first row of each group. */
export function noteGroups(terminal: Terminal, { names, survey }: Pick<SeenFile, "names" | "survey">): void {
  const numbered = numberedNames(names);
  const shown = (survey?.grouped ?? []).map((index) => `"${numbered[index]}"`);
  if (shown.length === 0) return;
  const [have, columns] = shown.length === 1 ? ["has", "it"] : ["have", "them"];
  terminal.note(
    `${shown.join(" and ")} ${have} a value only in the first row of each group; fill ${columns} down with --fill ${shown.join(" ")}`,
  );
}

/** The indexes of columns. @throws CommandError if the file has no such column */
function indexesOf(columns: readonly string[], names: readonly string[]): number[] {
  return columns.map((column) => {
    const index = columnIndex(names, column);
    if (index !== -1) return index;
    const nearest = nearestTo(column, numberedNames(names));
    throw new CommandError(`--fill: there is no column "${column}"; the nearest is "${nearest}"`);
  });
}

/** Says what isn't imported of the IDs. */
export function noteCleaning(terminal: Terminal, cleaning: IdCleaning, names: readonly string[]): void {
  terminal.note(noteOfCleaning(cleaning, numberedNames(names)[cleaning.column] ?? ""));
}

/** The rows that don't look like items. */
export function totalsOf({
  mapping,
  names,
  survey,
}: Pick<SeenFile, "mapping" | "names" | "survey">): readonly FileRow[] {
  return survey ? totalsIn(survey, names, mapping) : [];
}

/** What is changed in a file before it is sent. */
export interface FileChanges {
  /** Names of columns whose empty cells take the value above. */
  readonly fill: readonly string[];
  /** Whether rows that don't look like items are left out. */
  readonly leavesOutTotals: boolean;
}

/**
 * Prints what is odd about the rows of a file, and changes it. All rows keep their numbers.
 * @param seen with its survey
 * @returns undefined if nothing changes
 * @throws CommandError if it has no column to fill
 */
export async function changedFile(
  terminal: Terminal,
  content: Blob,
  { mapping, names, survey, cleaning }: Pick<SeenFile, "mapping" | "names" | "survey" | "cleaning">,
  { fill, leavesOutTotals }: FileChanges,
): Promise<KeptFile | undefined> {
  const { header_row: headerRow = 1, delimiter = COMMA } = mapping;
  const totals = totalsOf({ mapping, names, survey });
  if (!leavesOutTotals) for (const line of totalsLines(totals)) terminal.note(line);
  const doubt = doubtOfJoined(survey?.joined ?? []);
  if (doubt !== undefined) terminal.note(`please check: ${doubt}`);
  const columns = indexesOf(fill, names);
  if (columns.length === 0) noteGroups(terminal, { names, survey });
  const left = leavesOutTotals ? totals : [];
  for (const row of left) terminal.note(`left out: ${shownRow(row)}`);
  if (cleaning) noteCleaning(terminal, cleaning, names);
  if (columns.length + left.length === 0 && !cleaning) return undefined;
  const others = new Set(totals.map(({ row }) => row));
  const changed = withChanges(
    content,
    ...(cleaning ? [cleanIds({ ...cleaning, headerRow }, delimiter)] : []),
    fillRows({ headerRow, columns, others }, delimiter),
    leaveOut(new Set(left.map(({ row }) => row)), delimiter),
  );
  return keep(Readable.fromWeb(changed as never));
}
