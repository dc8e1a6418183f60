import { COMMA, type Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";
import {
  HEAD_BYTES as KIND_BYTES,
  isWorkbook,
  NUL_BYTE,
  problemOfBinary,
  problemOfOtherText,
} from "../../../../lib/uploads/csv/file-kind.ts";
import { HEADER_MAX_BYTES, HEADER_TOO_LONG } from "../../../../lib/uploads/csv/header-names.ts";
import { findTextFormat, HEAD_BYTES, type TextFormat, toUtf8 } from "../../../table-files/text-file.ts";
import type { Sheet } from "../../../table-files/workbook.ts";
import { asSentence, firstRows } from "./read-text.ts";

/** Rows that are shown and checked before anything is sent. */
const SAMPLE_ROWS = 200;

/** A file with a table that was chosen, as it is read now. */
export interface TableFile {
  readonly name: string;
  readonly size: number;
  /** How it is read as text; undefined for a workbook. */
  readonly text: { readonly format: TextFormat; readonly file: File } | undefined;
  /** The sheets of a workbook, and the one that is read; undefined for text. */
  readonly workbook: { readonly sheets: readonly Sheet[]; readonly sheet: string } | undefined;
  readonly delimiter: Delimiter;
  /** Cells of the header. */
  readonly names: readonly string[];
  /** Cells of the first rows after it. */
  readonly rows: readonly (readonly string[])[];
  /** Why the row after them cannot be read; undefined if it can. */
  readonly problem: string | undefined;
}

const tableOf = (text: string, delimiter: Delimiter, isWhole: boolean) => {
  const { rows: all, problem } = firstRows(text, delimiter, SAMPLE_ROWS + 1, isWhole);
  const [names = [], ...rows] = all;
  if (names.join(delimiter).length > HEADER_MAX_BYTES) {
    return { names: [], rows: [], problem: `row 1: ${HEADER_TOO_LONG}` };
  }
  return { names, rows, problem: text.includes("\0") ? NUL_BYTE : (problemOfOtherText(text) ?? problem) };
};

/** Reads the head of a text file. @param choice what the person chose in place of what was found */
export const readTextFile = async (
  file: File,
  choice: { readonly encoding?: string; readonly delimiter?: Delimiter } = {},
): Promise<TableFile> => {
  const format = await findTextFormat(file, choice);
  const head = file.slice(0, HEAD_BYTES);
  const text = await new Response(toUtf8(head, format) ?? head).text();
  return {
    name: file.name,
    size: file.size,
    text: { format, file },
    workbook: undefined,
    delimiter: format.delimiter,
    ...tableOf(text, format.delimiter, file.size <= HEAD_BYTES),
  };
};

const csvOf = (sheets: readonly Sheet[], name: string): string =>
  sheets.find((sheet) => sheet.name === name)?.csv ?? "";

const withSheet = ({ name, size }: Pick<TableFile, "name" | "size">, sheets: readonly Sheet[], sheet: string) => ({
  name,
  size,
  text: undefined,
  workbook: { sheets, sheet },
  delimiter: COMMA,
  ...tableOf(csvOf(sheets, sheet), COMMA, true),
});

/** The same workbook with another sheet. */
export const chooseSheet = (table: TableFile, sheet: string): TableFile =>
  withSheet(table, table.workbook?.sheets ?? [], sheet);

/** Reads a file that was chosen. The reader of workbooks is loaded when one comes. @throws Error with a sentence for people */
export const readFile = async (file: File): Promise<TableFile> => {
  if (file.size === 0) throw new Error("This file is empty.");
  const start = new Uint8Array(await file.slice(0, KIND_BYTES).arrayBuffer());
  if (isWorkbook(start)) {
    const { readSheets } = await import("../../../table-files/workbook.ts");
    const sheets = await readSheets(file);
    return withSheet(file, sheets, sheets[0].name);
  }
  const problem = problemOfBinary(start);
  if (problem !== undefined) throw new Error(asSentence(problem));
  return readTextFile(file);
};

/** What is sent of a file: CSV in UTF-8. */
export const contentOf = async ({ text, workbook }: TableFile): Promise<Blob> => {
  if (!text) return new Blob([csvOf(workbook?.sheets ?? [], workbook?.sheet ?? "")]);
  const converted = toUtf8(text.file, text.format);
  return converted ? new Response(converted).blob() : text.file;
};
