import { COMMA, type Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";
import {
  HEAD_BYTES as KIND_BYTES,
  isWorkbook,
  NUL_BYTE,
  problemOfBinary,
  problemOfOtherText,
  utf16Of,
} from "../../../../lib/uploads/csv/file-kind.ts";
import { HEADER_MAX_BYTES, HEADER_TOO_LONG } from "../../../../lib/uploads/csv/header-names.ts";
import { RowSurvey, type Survey } from "@work-items/importer/proposals/survey.ts";
import { findHeaderRow } from "@work-items/importer/proposals/find-header.ts";
import { HEADER_ROW_MAX } from "../../../../lib/uploads/mapping/mapping.ts";
import {
  type EncodingDoubt,
  EncodingError,
  findTextFormat,
  HEAD_BYTES,
  type TextFormat,
  toUtf8,
} from "@work-items/importer/files/text-file.ts";
import type { Sheet } from "@work-items/importer/files/workbook.ts";
import { asSentence, firstRows } from "./read-text.ts";
import { observeRows, type RowObserver } from "@work-items/importer/files/whole-file.ts";

/** Rows that are shown and checked before anything is sent. */
const SAMPLE_ROWS = 200;

/** A file with a table that was chosen, as it is read now. */
export interface TableFile {
  readonly name: string;
  readonly size: number;
  /** How it is read as text; undefined for a workbook. */
  readonly text:
    | {
        readonly format: TextFormat;
        readonly file: File;
        /** What was asked about its encoding, if anything. */
        readonly asked: EncodingDoubt | undefined;
      }
    | undefined;
  /** The sheets of a workbook, and the one that is read; undefined for text. */
  readonly workbook: { readonly sheets: readonly Sheet[]; readonly sheet: string } | undefined;
  readonly delimiter: Delimiter;
  /** Cells of the first rows of the file, titles and blank rows included. */
  readonly lines: readonly (readonly string[])[];
  /** Number of the header's row. */
  readonly headerRow: number;
  /** Cells of the header. */
  readonly names: readonly string[];
  /** Cells of the first rows after it. */
  readonly rows: readonly (readonly string[])[];
  /** Numbers of the rows below the header that aren't imported. */
  readonly leftOut?: ReadonlySet<number>;
  /** Why the row after them cannot be read; undefined if it can. */
  readonly problem: string | undefined;
}

/** A file that was looked through. */
export interface SurveyedTable extends TableFile {
  /** What all rows say of the columns. */
  readonly survey: Survey;
}

function belowHeader(lines: TableFile["lines"], headerRow: number) {
  return { lines, headerRow, names: lines[headerRow - 1] ?? [], rows: lines.slice(headerRow, headerRow + SAMPLE_ROWS) };
}

/** The same file whose header is in another row. */
export function withHeaderRow(table: TableFile, headerRow: number): TableFile {
  return { ...table, ...belowHeader(table.lines, headerRow) };
}

function tableOf(text: string, delimiter: Delimiter, isWhole: boolean) {
  const { rows: lines, problem } = firstRows(text, delimiter, SAMPLE_ROWS + HEADER_ROW_MAX, isWhole);
  const headerRow = findHeaderRow(lines);
  const table = belowHeader(lines, headerRow);
  if (table.names.join(delimiter).length > HEADER_MAX_BYTES) {
    return { ...table, names: [], rows: [], problem: `row ${headerRow}: ${HEADER_TOO_LONG}` };
  }
  return { ...table, problem: text.includes("\0") ? NUL_BYTE : problem };
}

/** Rejects a file that has nothing to import. @throws Error with a sentence for people */
function assertRows(table: TableFile): TableFile {
  if (table.text?.format.doubt) return table;
  const isFilled = (cells: readonly string[]): boolean => cells.some((cell) => cell.trim() !== "");
  if (table.problem !== undefined || table.rows.some(isFilled)) return table;
  // One row may be longer than what is read of the file here.
  const isCut = table.text !== undefined && table.size > HEAD_BYTES;
  if (isCut) return table;
  throw new Error(table.lines.some(isFilled) ? "This file has no rows." : "This file is empty.");
}

/**
 * Reads the head of a text file.
 * @param choice what the person chose in place of what was found
 * @param asked what was asked about the encoding that they chose
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
  const head = file.slice(0, HEAD_BYTES);
  const text = await new Response(toUtf8(head, format, { isCut: file.size > HEAD_BYTES }) ?? head).text();
  return {
    name: file.name,
    size: file.size,
    text: { format, file, asked: asked ?? format.doubt },
    workbook: undefined,
    delimiter: format.delimiter,
    ...tableOf(text, format.delimiter, file.size <= HEAD_BYTES),
  };
}

function csvOf(sheets: readonly Sheet[], name: string): string {
  return sheets.find((sheet) => sheet.name === name)?.csv ?? "";
}

function withSheet({ name, size }: Pick<TableFile, "name" | "size">, sheets: readonly Sheet[], sheet: string) {
  return {
    name,
    size,
    text: undefined,
    workbook: { sheets, sheet },
    delimiter: COMMA,
    ...tableOf(csvOf(sheets, sheet), COMMA, true),
  };
}

/** The same workbook with another sheet. */
export function chooseSheet(table: TableFile, sheet: string): TableFile {
  return withSheet(table, table.workbook?.sheets ?? [], sheet);
}

/** Reads a file that was chosen. The reader of workbooks is loaded when one comes. @throws Error with a sentence for people */
export async function readFile(file: File): Promise<TableFile> {
  if (file.size === 0) throw new Error("This file is empty.");
  const start = new Uint8Array(await file.slice(0, KIND_BYTES).arrayBuffer());
  if (isWorkbook(start)) {
    const { readSheets } = await import("@work-items/importer/files/workbook.ts");
    const sheets = await readSheets(file);
    const tables = sheets.filter(({ isHidden }) => !isHidden).map(({ name }) => withSheet(file, sheets, name));
    return assertRows(tables.find(({ rows }) => rows.length > 0) ?? tables[0]!);
  }
  const text = new TextDecoder(utf16Of(start)).decode(start);
  const problem = problemOfBinary(start) ?? problemOfOtherText(text);
  if (problem !== undefined) throw new Error(asSentence(problem));
  return assertRows(await readTextFile(file));
}

/** The rows of a file as they are sent, to be read once. */
function streamOf({ text, workbook }: TableFile): ReadableStream<Uint8Array> {
  if (!text) return new Blob([csvOf(workbook?.sheets ?? [], workbook?.sheet ?? "")]).stream();
  return toUtf8(text.file, text.format) ?? text.file.stream();
}

/** Progress is told in steps of this part. */
const PROGRESS_STEP = 0.01;

/**
 * Shows all rows below the header that are imported to observers, as the service will read them.
 * @param begin makes the observers for the header's cells
 * @param options `onPart` is called with the part that was read, 0 to 1; the signal ends the reading with its reason
 * @returns whether the file was read to its end
 */
export function observeTable(
  table: TableFile,
  begin: (names: readonly string[]) => readonly RowObserver[],
  { signal, onPart }: { readonly signal?: AbortSignal; readonly onPart?: (part: number) => void } = {},
): Promise<boolean> {
  const { delimiter, headerRow, leftOut, size } = table;
  let told = 0;
  const onProgress = (bytes: number): void => {
    const part = Math.min(1, bytes / size);
    if (part < told + PROGRESS_STEP) return;
    told = part;
    onPart?.(part);
  };
  return observeRows(streamOf(table), { delimiter, headerRow, leftOut, onProgress, ...(signal && { signal }) }, begin);
}

/** What is sent of a file: CSV in UTF-8. */
export async function contentOf({ text, workbook }: TableFile): Promise<Blob> {
  if (!text) return new Blob([csvOf(workbook?.sheets ?? [], workbook?.sheet ?? "")]);
  const converted = toUtf8(text.file, text.format);
  return converted ? new Response(converted).blob() : text.file;
}

/**
 * What all rows of a file say of its columns; of those before the signal, if it comes first.
 * @param options `onPart` is called with the part that was read, 0 to 1
 */
export async function surveyFile(
  table: TableFile,
  options: { readonly signal?: AbortSignal; readonly onPart?: (part: number) => void } = {},
): Promise<Survey> {
  const survey = new RowSurvey(table.names.length);
  try {
    await observeTable(table, () => [survey], options);
  } catch (error) {
    if (options.signal?.aborted !== true) throw error;
  }
  return survey.result();
}

/** The file without some rows, which become blank lines: all others keep their numbers. */
export function withoutRows<T extends TableFile>(table: T, rows: ReadonlySet<number>): T {
  const first = table.headerRow + 1;
  return { ...table, leftOut: rows, rows: table.rows.map((cells, index) => (rows.has(first + index) ? [""] : cells)) };
}
