import { COMMA, type Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import {
  HEAD_BYTES,
  isWorkbook,
  problemOfBinary,
  problemOfOtherText,
  utf16Of,
} from "@work-items/lib/uploads/csv/file-kind.ts";
import { HEADER_MAX_BYTES, HEADER_TOO_LONG } from "@work-items/lib/uploads/csv/header-names.ts";
import { RowSurvey, type Survey } from "@work-items/importer/proposals/survey.ts";
import { findHeaderRow } from "@work-items/importer/proposals/find-header.ts";
import { HEADER_ROW_MAX } from "@work-items/lib/uploads/mapping/mapping.ts";
import {
  type EncodingDoubt,
  EncodingError,
  findTextFormat,
  type TextFormat,
  toUtf8,
} from "@work-items/importer/files/text-file.ts";
import { type Filling, fillRows } from "@work-items/importer/files/fill-down.ts";
import { cleanIds } from "@work-items/importer/files/change-rows.ts";
import type { IdCleaning } from "@work-items/importer/ids/clean-ids.ts";
import { hiddenBelow, withoutHidden } from "@work-items/importer/files/sheet-notes.ts";
import { withChanges } from "@work-items/importer/files/records.ts";
import type { Sheet } from "@work-items/importer/files/workbook.ts";
import { observeRows, readFirstRows, type RowObserver } from "@work-items/importer/files/whole-file.ts";
import { NO_CONNECTION } from "../parts/api.ts";
import { inTypographicQuotes } from "../parts/field-names.ts";

/** What the service says about a file, as a sentence. */
export function asSentence(problem: string): string {
  return inTypographicQuotes(`${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`);
}

export const GONE = "This file has changed or is gone. Choose it again.";

/** Whether a file has changed on the disk since it was chosen, or is gone. */
export async function isGone(file: Blob): Promise<boolean> {
  const [read] = await Promise.allSettled([file.slice(0, 1).arrayBuffer()]);
  return read.status === "rejected";
}

/** Whether a row is a blank line. The service counts it and leaves it out. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === "";
}

/** How many rows are shown and checked before anything is sent. */
const SAMPLE_ROWS = 200;
/** How many rows are read, since the header may be below others. */
const LINES_MAX = SAMPLE_ROWS + HEADER_ROW_MAX;

/** What to do with the hidden rows of a sheet. */
export type HiddenRows = "import" | "leave out";

/** A chosen file with a table, as it is read now. */
export interface TableFile {
  readonly name: string;
  readonly size: number;
  /** Its rows as CSV in UTF-8, to be read and sent: the file itself, unless it is converted. */
  readonly content: Blob;
  /** How it is read as text; undefined for a workbook. */
  readonly text:
    | {
        readonly format: TextFormat;
        readonly file: File;
        /** What was asked about its encoding, if anything. */
        readonly asked: EncodingDoubt | undefined;
      }
    | undefined;
  /** The sheets of a workbook, the one that is read, and whether with its hidden rows; undefined for text. */
  readonly workbook:
    | {
        readonly sheets: readonly Sheet[];
        readonly sheet: string;
        /** The sheets that have rows, with their columns, until a person has chosen one; undefined if it is the only one. */
        readonly asked: readonly { readonly sheet: string; readonly names: readonly string[] }[] | undefined;
        /** Undefined until a person has chosen. */
        readonly hidden: HiddenRows | undefined;
      }
    | undefined;
  readonly delimiter: Delimiter;
  /** Cells of the first rows of the file, titles and blank rows included. */
  readonly lines: readonly (readonly string[])[];
  readonly headerRow: number;
  readonly names: readonly string[];
  /** Cells of the first rows after it. */
  readonly rows: readonly (readonly string[])[];
  /** Numbers of the rows below the header that aren't imported. */
  readonly leftOut?: ReadonlySet<number>;
  /** Why the row after them can't be read; undefined if it can. */
  readonly problem: string | undefined;
  /** What was filled down in its content, and the table before; undefined if nothing was. */
  readonly filled?: Omit<Filling, "headerRow"> & { readonly of: SurveyedTable };
  /** What was removed from the IDs in its content, and the table before; undefined if nothing was. */
  readonly cleaned?: IdCleaning & { readonly of: SurveyedTable };
}

/** A file all of whose rows were read. */
export interface SurveyedTable extends TableFile {
  /** What all rows say about the columns. */
  readonly survey: Survey;
}

/** The table before it was filled down. */
export function unfilled<T extends TableFile>(table: T): T | SurveyedTable {
  return table.filled?.of ?? table;
}

/** The table as it was read from its file. */
export function asRead<T extends TableFile>(table: T): T | SurveyedTable {
  const own = unfilled(table);
  return own.cleaned?.of ?? own;
}

/** The sheet that is read of a workbook. */
function sheetOf({ workbook }: Pick<TableFile, "workbook">): Sheet | undefined {
  return workbook?.sheets.find(({ name }) => name === workbook.sheet);
}

/** The numbers of the rows that the sheet that is read hides. */
export function hiddenIn({ workbook, headerRow }: Pick<TableFile, "workbook" | "headerRow">): number[] {
  const sheet = sheetOf({ workbook });
  return sheet ? hiddenBelow(sheet, headerRow) : [];
}

/** Whether a person must choose the encoding, the delimiter or the sheet of a file, or whether to import its hidden rows. */
export function isAsked(table: Pick<TableFile, "text" | "workbook" | "headerRow">): boolean {
  const { text, workbook } = table;
  if (workbook) return workbook.asked !== undefined || (workbook.hidden === undefined && hiddenIn(table).length > 0);
  return text !== undefined && (text.format.doubt !== undefined || text.format.delimiters.length > 0);
}

function belowHeader(lines: TableFile["lines"], headerRow: number) {
  return { lines, headerRow, names: lines[headerRow - 1] ?? [], rows: lines.slice(headerRow, headerRow + SAMPLE_ROWS) };
}

/** The same rows with other content. */
async function withContent<T extends TableFile>(table: T, content: Blob): Promise<T> {
  const { rows, problem } = await readFirstRows(content.stream(), table.delimiter, LINES_MAX);
  return { ...table, content, problem, ...belowHeader(rows, table.headerRow) };
}

/** The same workbook with its hidden rows, or without them. */
export async function withHidden(table: TableFile, hidden: HiddenRows | undefined): Promise<TableFile> {
  const own = asRead(table);
  const { workbook } = own;
  const rows = hiddenIn(own);
  if (!workbook || rows.length === 0) return own;
  const whole = new Blob([sheetOf(own)?.csv ?? ""]);
  const content = hidden === "leave out" ? await withoutHidden(whole, rows) : whole;
  return withContent({ ...own, workbook: { ...workbook, hidden } }, content);
}

/** The same file with its header in another row. */
export function withHeaderRow(table: TableFile, headerRow: number): Promise<TableFile> {
  const own = asRead(table);
  return withHidden({ ...own, ...belowHeader(own.lines, headerRow) }, own.workbook?.hidden);
}

/**
 * The same file with columns filled down.
 * @param columns their indexes; none to take the file as it is
 * @param others numbers of rows that aren't items
 */
export async function withFilledColumns(
  table: SurveyedTable,
  columns: readonly number[],
  others: ReadonlySet<number>,
): Promise<TableFile> {
  const of = unfilled(table);
  if (columns.length === 0) return of;
  const { headerRow, delimiter } = of;
  const content = await new Response(
    withChanges(of.content, fillRows({ headerRow, columns, others }, delimiter)),
  ).blob();
  return withContent({ ...of, filled: { of, columns, others } }, content);
}

/** The same file with other IDs, without filled columns. @param cleaning undefined to take the IDs as they are */
export async function withCleanIds(table: SurveyedTable, cleaning: IdCleaning | undefined): Promise<TableFile> {
  const of = asRead(table);
  if (cleaning === undefined) return of;
  const { headerRow, delimiter } = of;
  const content = await new Response(withChanges(of.content, cleanIds({ ...cleaning, headerRow }, delimiter))).blob();
  return withContent({ ...of, cleaned: { ...cleaning, of } }, content);
}

/** The first rows of a table. @param content CSV in UTF-8 */
async function tableOf(content: Blob, delimiter: Delimiter) {
  const { rows, problem } = await readFirstRows(content.stream(), delimiter, LINES_MAX);
  const headerRow = findHeaderRow(rows);
  const table = { content, delimiter, problem, ...belowHeader(rows, headerRow) };
  if (table.names.join(delimiter).length <= HEADER_MAX_BYTES) return table;
  return { ...table, names: [], rows: [], problem: `row ${headerRow}: ${HEADER_TOO_LONG}` };
}

/** Rejects a file that has nothing to import. @throws Error with a sentence for people */
function assertRows(table: TableFile): TableFile {
  if (isAsked(table)) return table;
  const isFilled = (cells: readonly string[]): boolean => cells.some((cell) => cell.trim() !== "");
  const isCut = table.lines.length === LINES_MAX;
  if (table.problem !== undefined || isCut || table.rows.some(isFilled)) return table;
  throw new Error(table.lines.some(isFilled) ? "This file has no rows." : "This file is empty.");
}

/**
 * Reads a text file.
 * @param choice what the person chose instead of what was found
 * @param asked the question that they answered by choosing the encoding
 * @throws Error with a sentence for people if the file isn't text in its encoding
 */
export async function readTextFile(
  file: File,
  choice: { readonly encoding?: string; readonly delimiter?: Delimiter } = {},
  asked?: EncodingDoubt,
): Promise<TableFile> {
  const format = await findTextFormat(file, choice).catch((error: unknown) => {
    throw error instanceof EncodingError ? new Error(asSentence(error.message), { cause: error }) : error;
  });
  // While its encoding is in doubt, a file isn't converted.
  const converted = format.doubt ? undefined : toUtf8(file, format);
  const { name, size } = file;
  const text = { format, file, asked: asked ?? format.doubt };
  const content = converted ? await new Response(converted).blob() : file;
  return { name, size, text, workbook: undefined, ...(await tableOf(content, format.delimiter)) };
}

export async function withSheet(
  { name, size }: Pick<TableFile, "name" | "size">,
  sheets: readonly Sheet[],
  sheet: string,
): Promise<TableFile> {
  const content = new Blob([sheets.find((each) => each.name === sheet)?.csv ?? ""]);
  return {
    name,
    size,
    text: undefined,
    workbook: { sheets, sheet, asked: undefined, hidden: undefined },
    ...(await tableOf(content, COMMA)),
  };
}

/** Reads a chosen file. Loads the reader of workbooks only for a workbook. @throws Error with a sentence for people */
export async function readFile(file: File): Promise<TableFile> {
  if (file.size === 0) throw new Error("This file is empty.");
  const start = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  if (isWorkbook(start)) {
    const { readSheets } = await import("@work-items/importer/files/workbook.ts").catch((cause: unknown) => {
      throw new Error(NO_CONNECTION, { cause });
    });
    const sheets = await readSheets(file);
    const shown = sheets.filter(({ isHidden }) => !isHidden);
    const tables = await Promise.all(shown.map(({ name }) => withSheet(file, sheets, name)));
    const filled = tables.filter(({ rows }) => rows.length > 0);
    const table = assertRows(filled[0] ?? tables[0]!);
    if (filled.length < 2) return table;
    const asked = filled.map(({ workbook, names }) => ({ sheet: workbook!.sheet, names }));
    return { ...table, workbook: { ...table.workbook!, asked } };
  }
  const text = new TextDecoder(utf16Of(start)).decode(start);
  const problem = problemOfBinary(start) ?? problemOfOtherText(text);
  if (problem !== undefined) throw new Error(asSentence(problem));
  return assertRows(await readTextFile(file));
}

/** The part of a file between two reports of progress. */
const PROGRESS_STEP = 0.01;

/**
 * Passes all imported rows below the header to observers, as the service will read them.
 * @param begin makes the observers for the header's cells
 * @param options `onPart` is called with the part that was read, 0 to 1; the signal ends the reading with its reason
 * @returns whether the file was read to its end
 */
export function observeTable(
  table: TableFile,
  begin: (names: readonly string[]) => readonly RowObserver[],
  { signal, onPart }: { readonly signal?: AbortSignal; readonly onPart?: (part: number) => void } = {},
): Promise<boolean> {
  const { content, delimiter, headerRow, leftOut } = table;
  let reported = 0;
  const onProgress = (bytes: number): void => {
    const part = bytes / content.size;
    if (part < reported + PROGRESS_STEP) return;
    reported = part;
    onPart?.(part);
  };
  return observeRows(content.stream(), { delimiter, headerRow, leftOut, onProgress, ...(signal && { signal }) }, begin);
}

/**
 * Reads all rows of a file. An early signal ends the reading; the rows read by then count.
 * @param options those of `observeTable`
 */
export async function surveyFile(
  table: TableFile,
  options: Parameters<typeof observeTable>[2] = {},
): Promise<SurveyedTable> {
  const survey = new RowSurvey(table.names, table.rows, table.delimiter, sheetOf(table)?.cut);
  const isWhole = await observeTable(table, () => [survey], options).catch((error: unknown) => {
    if (options.signal?.aborted !== true) throw error;
    return false;
  });
  return { ...table, survey: survey.result(isWhole) };
}

/** The file without some rows. They become blank lines, so that the others keep their numbers. */
export function withoutRows<T extends TableFile>(table: T, rows: ReadonlySet<number>): T {
  const first = table.headerRow + 1;
  return { ...table, leftOut: rows, rows: table.rows.map((cells, index) => (rows.has(first + index) ? [""] : cells)) };
}
