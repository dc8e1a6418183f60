import {
  cellValue,
  endOfQuoted,
  lineEndOf,
  QuoteError,
  rawCells,
  toCell,
} from "@work-items/lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { isReportColumn } from "@work-items/lib/uploads/csv/header-names.ts";
import { mapRecords } from "./records.ts";

/** Limit of the spaces around the equals sign of a formula. */
const SIGN_MAX_CHARACTERS = 16;
/** Put before a cell that a spreadsheet would otherwise run as a formula. */
const PREFIX = "'";

/** Characters that can start a formula (https://owasp.org/www-community/attacks/CSV_Injection). */
const FORMULA_START = /^[=@＝＠＋－\t\r\n+-]/;
/** Numbers, telephone numbers and a lone sign: without letters, a formula can't call or refer to anything. */
const NUMBER = /^[+-][\d .,()/-]*(?:e[+-]?\d+)?%?$/i;

function isFormula(value: string): boolean {
  return FORMULA_START.test(value) && !NUMBER.test(value);
}

/** Whether a value is a formula after any number of prefixes: an export can be exported again. */
function isFormulaWithin(value: string): boolean {
  return isFormula(value.replace(/^'+/, ""));
}

/**
 * A value that a spreadsheet shows as text: `=1+1` becomes `'=1+1`. A value that looks prefixed gets another prefix, so
 * that `withoutPrefix` is the exact inverse.
 */
export function withPrefix(value: string): string {
  return isFormulaWithin(value) ? PREFIX + value : value;
}

/** Inverse of `withPrefix`. Keeps the apostrophe of any other value. */
export function withoutPrefix(value: string): string {
  return value.startsWith(PREFIX) && isFormulaWithin(value) ? value.slice(PREFIX.length) : value;
}

/** A text written as a formula, so that a spreadsheet keeps its zeros: `="00123"`. */
const TEXT_FORMULA = /^= ?"((?:[^"]|"")*)"\s*$/;

/** What a spreadsheet shows for the value of a cell: `00123` for `="00123"`, other values without their prefix. */
function shownValue(value: string): string {
  const [, text] = TEXT_FORMULA.exec(value) ?? [];
  return text === undefined ? withoutPrefix(value) : text.replaceAll('""', '"');
}

/** Whether a text may contain a cell with a prefix, a text written as a formula, or a row that ends with CR CR LF. */
export function mayNeedRepair(text: string): boolean {
  return /'[=@＝＠＋－\t\r\n+-]|= ?"|\r\r\n/.test(text);
}

/**
 * Whether the cells are the header of a list that the service writes (results or failed rows). Such a list has no
 * prefixes: an apostrophe is part of the value.
 */
export function isReportHeader(cells: readonly string[]): boolean {
  return cells.some(isReportColumn);
}

/** The raw cell with the value that a spreadsheet shows. */
function repairedCell(raw: string, delimiter: Delimiter): string {
  const value = cellValue(raw);
  const shown = shownValue(value);
  if (shown === value) return raw;
  const open = raw.startsWith('"') ? '"' : "";
  return value.startsWith(PREFIX) ? open + raw.slice(open.length + PREFIX.length) : toCell(shown, delimiter);
}

/** The raw cells of a record, in which `="00123"` is `"00123"`. @throws QuoteError */
function cellsIn(record: string, delimiter: Delimiter): string[] {
  return rawCells(withQuotedFormulas(record, delimiter), delimiter);
}

/** A record in which unquoted texts written as formulas are quoted cells. @throws QuoteError */
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
    // With anything else after the quotes, it is another formula.
    const isText = sign !== "" && text.slice(from, end).trim() === "";
    repaired += (isText ? text.slice(start + sign.length, from) : text.slice(start, end)) + text.slice(end, end + 1);
    start = end + 1;
  }
  return repaired + lineEndOf(record);
}

/** A record with the values that a spreadsheet shows. Wrong quotes stay: the service reports them. */
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

/**
 * Gives the cells of a CSV text the values that a spreadsheet shows, unless it is a report, and rows one CR at their end.
 * Changes nothing else.
 */
export function createCellRepair(delimiter: Delimiter): TransformStream<string, string> {
  let isReport: boolean | undefined;
  return mapRecords((whole) => {
    const record = whole.replace(/\r{2,}\n$/, "\r\n");
    // A report begins with a blank line for each line above its file's header.
    if (isReport === undefined && record.trim() !== "") isReport = isReportHeader(record.split(delimiter));
    return isReport ? record : repairedRecord(record, delimiter);
  });
}
