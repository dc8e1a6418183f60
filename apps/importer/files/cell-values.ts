import { cellValue, endOfQuoted, lineEndOf, QuoteError, rawCells, toCell } from "../../../lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "../../../lib/uploads/csv/delimiter.ts";
import { isReportColumn } from "../../../lib/uploads/csv/header-names.ts";
import { mapRecords } from "./records.ts";

/** Spaces beside the equals sign of a formula are few. */
const SIGN_MAX_CHARACTERS = 16;
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

/** A text that its program wrote as a formula, so that a spreadsheet keeps its zeros: `="00123"`. */
const TEXT_FORMULA = /^= ?"((?:[^"]|"")*)"\s*$/;

/** What a spreadsheet shows for the value of a cell: the text of a formula that is one, a value without its prefix. */
function shownValue(value: string): string {
  const [, text] = TEXT_FORMULA.exec(value) ?? [];
  return text === undefined ? withoutPrefix(value) : text.replaceAll('""', '"');
}

/** Whether a text may hold a cell with a prefix, or a text as a formula. */
export function mayNeedRepair(text: string): boolean {
  return /'[=@＝＠＋－\t\r\n+-]|= ?"/.test(text);
}

/**
 * Whether the cells are the header of a list that the service writes, of results or failed rows. Its cells have no
 * prefixes: an apostrophe is part of the value.
 */
export function isReportHeader(cells: readonly string[]): boolean {
  return cells.some(isReportColumn);
}

/** A cell as it is in the file, with the value that a spreadsheet shows. */
function repairedCell(raw: string, delimiter: Delimiter): string {
  const value = cellValue(raw);
  const shown = shownValue(value);
  if (shown === value) return raw;
  const open = raw.startsWith('"') ? '"' : "";
  return value.startsWith(PREFIX) ? open + raw.slice(open.length + PREFIX.length) : toCell(shown, delimiter);
}

/** The cells of a record with their quotes. Those of `="00123"`, which has quotes and doesn't begin with one, are `"00123"`. */
function cellsIn(record: string, delimiter: Delimiter): string[] {
  return rawCells(withQuotedFormulas(record, delimiter), delimiter);
}

/** A record in which texts as formulas without quotes around them are quoted cells. @throws QuoteError */
function withQuotedFormulas(record: string, delimiter: Delimiter): string {
  if (!/= ?"/.test(record)) return record;
  const text = record.slice(0, record.length - lineEndOf(record).length);
  let repaired = "";
  let start = 0;
  while (start <= text.length) {
    const [sign = ""] = /^ *= ?(?=")/.exec(text.slice(start, start + SIGN_MAX_CHARACTERS)) ?? [];
    const isQuoted = sign !== "" || text[start] === '"';
    const from = isQuoted ? endOfQuoted(text, start + sign.length) : start;
    const next = text.indexOf(delimiter, from);
    const end = next === -1 ? text.length : next;
    // What follows the quotes isn't part of a text.
    const isText = sign !== "" && text.slice(from, end).trim() === "";
    repaired += (isText ? text.slice(start + sign.length, from) : text.slice(start, end)) + text.slice(end, end + 1);
    start = end + 1;
  }
  return repaired + lineEndOf(record);
}

/** A record with the values that a spreadsheet shows. One with wrong quotes stays as it is: the service says what is wrong. */
function repairedRecord(record: string, delimiter: Delimiter): string {
  if (!mayNeedRepair(record)) return record;
  try {
    return (
      cellsIn(record, delimiter)
        .map((raw) => repairedCell(raw, delimiter))
        .join(delimiter) + lineEndOf(record)
    );
  } catch (error) {
    if (error instanceof QuoteError) return record;
    throw error;
  }
}

/** Gives the cells of a CSV text the values that a spreadsheet shows, unless it is a report, and changes nothing else of it. */
export function createCellRepair(delimiter: Delimiter): TransformStream<string, string> {
  let isReport: boolean | undefined;
  return mapRecords((record) => {
    // Blank lines stand in place of those above the header of the file that a report is about.
    if (isReport === undefined && record.trim() !== "") isReport = isReportHeader(record.split(delimiter));
    return isReport ? record : repairedRecord(record, delimiter);
  });
}
