import { createReadStream, createWriteStream, openAsBlob } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { nearestTo } from "@work-items/lib/nearest.ts";
import { COMMA, type Delimiter, DELIMITERS } from "@work-items/lib/uploads/csv/delimiter.ts";
import { HEADER_ROW_MAX } from "@work-items/lib/uploads/mapping/mapping.ts";
import { HEAD_BYTES, isWorkbook, problemOfBinary, problemOfOtherText } from "@work-items/lib/uploads/csv/file-kind.ts";
import type { DelimiterReading } from "@work-items/importer/proposals/find-delimiter.ts";
import { findHeaderRow } from "@work-items/importer/proposals/find-header.ts";
import { UTF_8 } from "@work-items/importer/letters/encodings.ts";
import { type EncodingDoubt, EncodingError, findTextFormat, toUtf8 } from "@work-items/importer/files/text-file.ts";
import { hiddenBelow, notesOf, shownHidden, withoutHidden } from "@work-items/importer/files/sheet-notes.ts";
import { readFirstRows } from "@work-items/importer/files/whole-file.ts";
import { readSheets, type Sheet, WorkbookError } from "@work-items/importer/files/workbook.ts";
import { CommandError, UsageError } from "@work-items/terminal/command-line.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";

/** The path of the standard input, by convention. */
export const STANDARD_INPUT = "-";

/** A table as CSV in UTF-8. */
export interface CsvFile {
  readonly blob: Blob;
  /** The delimiter that was given or found. */
  readonly delimiter: Delimiter;
  readonly isWorkbook: boolean;
  /** How the file was read, unless it is CSV in UTF-8. */
  readonly readAs: string | undefined;
  /** What differs from what a workbook shows. */
  readonly notes: readonly string[];
  /** The columns of whose numbers a workbook doesn't show all digits. */
  readonly cut: Sheet["cut"];
  /** Deletes its temporary files. */
  readonly close: () => Promise<void>;
}

/** What is known about a file. */
export interface OpenOptions {
  /** A label of the Encoding Standard. @default detected */
  readonly encoding: string | undefined;
  readonly delimiter: Delimiter | undefined;
  /** Name of a workbook's sheet. @default the first with rows */
  readonly sheet: string | undefined;
  /** Whether rows that the sheet hides are left out. @default false */
  readonly withoutHidden?: boolean;
}

function sheetOf(sheets: readonly [Sheet, ...Sheet[]], name: string | undefined): Sheet {
  if (name === undefined) return sheets[0];
  const found = sheets.find((sheet) => sheet.name.trim().toLowerCase() === name.trim().toLowerCase());
  if (found) return found;
  const names = sheets.map((sheet) => sheet.name);
  throw new CommandError(
    `there is no sheet "${name}" with rows; the nearest is "${nearestTo(name, names)}" of: ${names.join(", ")}`,
  );
}

async function openWorkbook(file: Blob, { sheet: name, withoutHidden: leavesOut }: OpenOptions): Promise<CsvFile> {
  const sheets = await readSheets(file).catch((error: unknown) => {
    throw error instanceof WorkbookError ? new CommandError(error.message, { cause: error }) : error;
  });
  const sheet = sheetOf(sheets, name);
  const others = sheets.filter((each) => each !== sheet).map((each) => each.name);
  const whole = new Blob([sheet.csv]);
  const { rows } = await readFirstRows(whole.stream(), COMMA, HEADER_ROW_MAX);
  const headerRow = findHeaderRow(rows);
  const hidden = hiddenBelow(sheet, headerRow);
  const note = shownHidden(hidden.length);
  const hiddenNote =
    leavesOut === true ? `${note}, and left out` : `${note}, but imported; --without-hidden leaves out hidden rows`;
  return {
    blob: leavesOut === true ? await withoutHidden(whole, hidden) : whole,
    delimiter: COMMA,
    isWorkbook: true,
    readAs: `the sheet ${sheet.name}${others.length > 0 ? `; others are ${others.join(", ")}` : ""}`,
    cut: sheet.cut,
    notes: [...notesOf(sheet, headerRow), ...(hidden.length === 0 ? [] : [hiddenNote])],
    close: async () => undefined,
  };
}

/** A file that has to be closed. */
export type KeptFile = Pick<CsvFile, "blob" | "close">;

/** Writes a stream to a temporary folder, because it may be larger than the memory. */
export async function keep(source: Readable): Promise<KeptFile> {
  const folder = await mkdtemp(join(tmpdir(), "work-items-"));
  const close = (): Promise<void> => rm(folder, { recursive: true });
  try {
    const path = join(folder, "file.csv");
    await pipeline(source, createWriteStream(path));
    return { blob: await openAsBlob(path), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a file, a pipe, or the standard input as `-`. */
async function openFile(path: string, stdin: Readable): Promise<KeptFile> {
  if (path === STANDARD_INPUT) return keep(stdin);
  const isFile = (await stat(path)).isFile();
  if (!isFile) return keep(createReadStream(path));
  return { blob: await openAsBlob(path), close: async () => undefined };
}

/** Asks for the encoding of a file. */
function questionOf({ problem, likely }: EncodingDoubt): string {
  if (likely.length === 0) return `${problem}. Save the file as UTF-8.`;
  const width = Math.max(...likely.map(({ encoding }) => encoding.length));
  const readings = likely.map(
    ({ encoding, values }) =>
      `  --encoding ${encoding.padEnd(width)}  ${values.map((value) => `"${value}"`).join(", ")}`,
  );
  return [
    `${problem}. Add the encoding in which these values are right:`,
    ...readings,
    "If none is right, save the file as UTF-8.",
  ].join("\n");
}

/** Asks for the delimiter of a file, with the header as each one reads it. */
function delimiterQuestion(readings: readonly DelimiterReading[]): string {
  const lines = readings.map(({ delimiter, names }) => {
    const option = `--delimiter ${delimiter === "\t" ? "tab" : `"${delimiter}"`}`.padEnd("--delimiter tab".length);
    return `  ${option}  ${names.map((name) => `"${name}"`).join(" ")}`;
  });
  const by = readings.map(({ delimiter }) => DELIMITERS[delimiter]).join(" or ");
  const question = `the columns may be separated by ${by}. Add the delimiter by which the header is right:`;
  return [question, ...lines].join("\n");
}

async function openText(file: Blob, { encoding, delimiter }: OpenOptions): Promise<CsvFile> {
  const format = await findTextFormat(file, { encoding: encoding?.toLowerCase(), delimiter }).catch(
    (error: unknown) => {
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError(
        `unknown encoding ${encoding}; try utf-8, windows-1252, shift_jis or another name of the Encoding Standard`,
      );
    },
  );
  if (format.doubt) throw new EncodingError(questionOf(format.doubt));
  if (format.delimiters.length > 0) throw new CommandError(delimiterQuestion(format.delimiters));
  const converted = toUtf8(file, format);
  return {
    ...(converted ? await keep(Readable.fromWeb(converted as never)) : { blob: file, close: async () => undefined }),
    delimiter: format.delimiter,
    isWorkbook: false,
    readAs: format.encoding === UTF_8 ? undefined : format.encoding,
    notes: [],
    cut: [],
  };
}

async function openTable(path: string, file: Blob, head: Buffer, options: OpenOptions): Promise<CsvFile> {
  if (isWorkbook(head)) return openWorkbook(file, options);
  const stray = options.sheet === undefined ? options.withoutHidden === true && "--without-hidden" : "--sheet";
  if (stray !== false) throw new UsageError(`${stray} only works with workbooks, and ${path} isn't one`);
  const problem = problemOfBinary(head) ?? problemOfOtherText(head.toString());
  if (problem !== undefined) throw new CommandError(`${path}: ${problem}`);
  return openText(file, options).catch((error: unknown) => {
    throw error instanceof EncodingError ? new CommandError(`${path}: ${error.message}`, { cause: error }) : error;
  });
}

/**
 * Opens a table: CSV in any common encoding, or a sheet of a workbook.
 * @throws CommandError if it is neither
 */
export async function openCsv(path: string, options: OpenOptions, stdin: Readable = process.stdin): Promise<CsvFile> {
  let opened: KeptFile;
  let head: Buffer;
  try {
    opened = await openFile(path, stdin);
    head = Buffer.from(await opened.blob.slice(0, HEAD_BYTES).arrayBuffer());
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${plainReason(error)}`);
  }
  try {
    const table = await openTable(path, opened.blob, head, options);
    return { ...table, close: async () => void (await Promise.all([table.close(), opened.close()])) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The header of a file, the number of its row, and the first rows below it. @throws CommandError */
export async function readSample({ blob, delimiter }: Pick<CsvFile, "blob" | "delimiter">, rowsMax: number) {
  const { rows, problem } = await readFirstRows(blob.stream(), delimiter, HEADER_ROW_MAX + rowsMax);
  if (problem !== undefined) throw new CommandError(problem);
  if (!rows.some((cells) => cells.some((cell) => cell.trim() !== ""))) throw new CommandError("the file is empty");
  const headerRow = findHeaderRow(rows);
  return { names: rows[headerRow - 1] ?? [], headerRow, rows: rows.slice(headerRow, headerRow + rowsMax), delimiter };
}
