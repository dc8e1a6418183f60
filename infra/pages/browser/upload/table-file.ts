import { COMMA, type Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";
import { delimiterIn } from "../../../../lib/uploads/mapping/propose-mapping.ts";
import { asUtf8, decode, type Encoding, encodingOf, firstRows, HEAD_BYTES } from "./read-text.ts";
import type { Sheet } from "./workbook.ts";

/** Rows that are shown and checked before anything is sent. */
const SAMPLE_ROWS = 200;

/** A file with a table that was chosen, as it is read now. */
export interface TableFile {
  readonly name: string;
  readonly size: number;
  /** How it is read as text; undefined for a workbook. */
  readonly text: { readonly encoding: Encoding; readonly file: File } | undefined;
  /** The sheets of a workbook, and the one that is read; undefined for text. */
  readonly workbook: { readonly sheets: readonly Sheet[]; readonly sheet: string } | undefined;
  readonly delimiter: Delimiter;
  /** Cells of the header. */
  readonly names: readonly string[];
  /** Cells of the first rows after it. */
  readonly rows: readonly (readonly string[])[];
}

const tableOf = (text: string, delimiter: Delimiter, isWhole: boolean): Pick<TableFile, "names" | "rows"> => {
  const [names = [], ...rows] = firstRows(text, delimiter, SAMPLE_ROWS + 1, isWhole);
  return { names, rows };
};

/** Reads the head of a text file. @param choice what the person chose in place of what was found */
export const readTextFile = async (
  file: File,
  choice: { readonly encoding?: Encoding; readonly delimiter?: Delimiter } = {},
): Promise<TableFile> => {
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const isWhole = file.size <= HEAD_BYTES;
  const encoding = choice.encoding ?? encodingOf(head);
  const text = decode(head, encoding);
  const delimiter = choice.delimiter ?? delimiterIn(text.split("\n", 1)[0] ?? "");
  return {
    name: file.name,
    size: file.size,
    text: { encoding, file },
    workbook: undefined,
    delimiter,
    ...tableOf(text, delimiter, isWhole),
  };
};

const withSheet = (file: File, sheets: readonly Sheet[], name: string): TableFile => ({
  name: file.name,
  size: file.size,
  text: undefined,
  workbook: { sheets, sheet: name },
  delimiter: COMMA,
  ...tableOf(sheets.find((sheet) => sheet.name === name)?.csv ?? "", COMMA, true),
});

/** The same workbook with another sheet. */
export const chooseSheet = (table: TableFile, sheet: string): TableFile => {
  const sheets = table.workbook?.sheets ?? [];
  return {
    ...table,
    workbook: { sheets, sheet },
    ...tableOf(sheets.find(({ name }) => name === sheet)?.csv ?? "", COMMA, true),
  };
};

const ZIP = [0x50, 0x4b];
const OLD_WORKBOOK = [0xd0, 0xcf, 0x11, 0xe0];

/** Reads a file that was chosen. The reader of workbooks is loaded when one comes. @throws Error with a sentence for people */
export const readFile = async (file: File): Promise<TableFile> => {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (file.size === 0) throw new Error("This file is empty.");
  if (OLD_WORKBOOK.every((byte, at) => start[at] === byte)) {
    throw new Error("This is a workbook of the old kind (.xls) or with a password. Save it as .xlsx or CSV.");
  }
  if (!ZIP.every((byte, at) => start[at] === byte)) return readTextFile(file);
  const { readSheets } = await import("./workbook.ts");
  const sheets = await readSheets(file).catch(() => {
    throw new Error("This workbook cannot be read. Save it as .xlsx or CSV.");
  });
  const [first] = sheets;
  if (first === undefined) throw new Error("This workbook has no rows.");
  return withSheet(file, sheets, first.name);
};

/** What is sent of a file: CSV in UTF-8. */
export const contentOf = async ({ text, workbook }: TableFile): Promise<Blob> =>
  text
    ? asUtf8(text.file, text.encoding)
    : new Blob([workbook?.sheets.find(({ name }) => name === workbook.sheet)?.csv ?? ""]);
