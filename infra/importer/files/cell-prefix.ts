import { cellValue, lineEndOf, QuoteError, rawCells } from "../../../lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "../../../lib/uploads/csv/delimiter.ts";
import { isReportColumn } from "../../../lib/uploads/csv/header-names.ts";
import { mapRecords } from "./records.ts";

/** Stands before a cell that a spreadsheet would otherwise run as a formula. */
const PREFIX = "'";

/**
 * What spreadsheets take for the start of a formula, full-width characters, tab and line ends included
 * (https://owasp.org/www-community/attacks/CSV_Injection).
 */
const FORMULA_START = /^[=@＝＠＋－\t\r\n+-]/;
/** Numbers, telephone numbers and a lone sign: without letters nothing can be called or referred to. */
const NUMBER = /^[+-][\d .,()/-]*(?:e[+-]?\d+)?%?$/i;

function isFormula(value: string): boolean {
  return FORMULA_START.test(value) && !NUMBER.test(value);
}

/** Whether a value is a formula behind any number of prefixes, as an export can be exported again. */
function isFormulaWithin(value: string): boolean {
  return isFormula(value.replace(/^'+/, ""));
}

/**
 * A value that a spreadsheet shows as text: `=1+1` becomes `'=1+1`. A value that looks as if it had got a prefix gets
 * another, so that `withoutPrefix` is its exact inverse.
 */
export function withPrefix(value: string): string {
  return isFormulaWithin(value) ? PREFIX + value : value;
}

/** The value that `withPrefix` was given. Other values that begin with an apostrophe stay as they are. */
export function withoutPrefix(value: string): string {
  return value.startsWith(PREFIX) && isFormulaWithin(value) ? value.slice(PREFIX.length) : value;
}

/** Whether a text may hold a cell with a prefix. */
export function mayHavePrefix(text: string): boolean {
  return /'[=@＝＠＋－\t\r\n+-]/.test(text);
}

/**
 * Whether the cells are the header of a list that the service writes, of results or failed rows. Its cells have no
 * prefixes: an apostrophe is part of the value.
 */
export function isReportHeader(cells: readonly string[]): boolean {
  return cells.some(isReportColumn);
}

/** A cell as it is in the file, without the prefix of its value. */
function rawWithoutPrefix(raw: string): string {
  const open = raw.startsWith('"') ? '"' : "";
  if (raw[open.length] !== PREFIX) return raw;
  const value = cellValue(raw);
  return withoutPrefix(value) === value ? raw : open + raw.slice(open.length + PREFIX.length);
}

/** A record without the prefixes of its cells. One with wrong quotes stays as it is: the service says what is wrong. */
function recordWithoutPrefixes(record: string, delimiter: Delimiter): string {
  if (!mayHavePrefix(record)) return record;
  try {
    return rawCells(record, delimiter).map(rawWithoutPrefix).join(delimiter) + lineEndOf(record);
  } catch (error) {
    if (error instanceof QuoteError) return record;
    throw error;
  }
}

/** Removes the prefixes of the cells of a CSV text, unless it is a report, and changes nothing else of it. */
export function createPrefixRemoval(delimiter: Delimiter): TransformStream<string, string> {
  let isReport: boolean | undefined;
  return mapRecords((record) => {
    // Blank lines stand in place of those above the header of the file that a report is about.
    if (isReport === undefined && record.trim() !== "") isReport = isReportHeader(record.split(delimiter));
    return isReport ? record : recordWithoutPrefixes(record, delimiter);
  });
}
