import { formOf } from "../ids/id-forms.ts";
import { plainWords } from "./known-headers.ts";

/** Counts of the texts of a column. */
export interface TextCounts {
  /** Rows with a text. */
  readonly filledRows: number;
  /** Rows whose text has a digit. */
  readonly numberedRows: number;
  /** Rows whose text has a space. */
  readonly spacedRows: number;
  /** The forms of its texts with digits (`formOf`); undefined if there are too many. */
  readonly forms: ReadonlySet<string> | undefined;
}

/** Nearly all means more than this many to one. */
const MOST_TO_OTHERS = 10;
function areNearlyAll(count: number, others: number): boolean {
  return count > others * MOST_TO_OTHERS;
}

function isNumbered({ filledRows, numberedRows }: TextCounts): boolean {
  return areNearlyAll(numberedRows, filledRows - numberedRows);
}

/** Whether a text differs from nearly all others of its column: by a missing digit, a space or another form. */
function isUnlike(text: string, counts: TextCounts): boolean {
  const { filledRows, numberedRows, spacedRows, forms } = counts;
  if (text === "") return true;
  if (filledRows === 0) return false;
  const hasSpace = /\s/.test(text);
  if (hasSpace && areNearlyAll(filledRows - spacedRows, spacedRows)) return true;
  if (/\d/.test(text)) return !hasSpace && isNumbered(counts) && forms !== undefined && !forms.has(formOf(text));
  // With few rows, both signs together are enough.
  const isBoth = hasSpace && numberedRows * 2 > filledRows && spacedRows * 2 < filledRows;
  return isNumbered(counts) || isBoth;
}

/** Words for sums in English, German, French and Spanish, in the spelling of `plainWords`. */
const SUMS =
  "totals?|totaux|totales|subtotal(?:es|s)?|sum|summe|gesamt|gesamtsumme|gesamtergebnis|ergebnis|zwischensumme|insgesamt|somme|suma|count|anzahl|averages?|avg|durchschnitt|mittelwert|moyennes?|promedio|media";
const BEFORE = "(?:grand|overall|report|sub|sous|page) ";
const AFTER = String.raw` (?:general(?:es)?|generaux|records?|rows|items|tickets|cases|count|\d+)`;
/** A heading without a subject, such as "Grand total: 30". */
const HEADING = new RegExp(`^(?:${BEFORE})?(?:${SUMS})(?:${AFTER})*$`);
/** A heading that may have a subject: "Subtotal for Ann", "Ann Lee Total". */
const HEADING_OF = new RegExp(`^(?:${BEFORE})?(?:${SUMS})\\b|\\b(?:${SUMS})$`);
/** A quick check before a text is compared with the words. */
const MAY_BE_SUM = /tota|sum|gesamt|ergebnis|somm|count|anzahl|av(?:era)?g|schnitt|mittel|moyenne|promedio|media/i;
/** Longer texts aren't headings. */
const HEADING_MAX_CHARACTERS = 60;
/** Only the first cells with a text can be a heading. */
const HEADING_CELLS = 3;

/** The index of a heading of sums in a row; -1 if it has none. */
export function headingIn(cells: readonly string[]): number {
  let texts = 0;
  for (const [index, cell] of cells.entries()) {
    const text = cell.trim();
    if (text === "") continue;
    if (text.length <= HEADING_MAX_CHARACTERS && MAY_BE_SUM.test(text) && HEADING_OF.test(plainWords(text))) {
      return index;
    }
    if (++texts === HEADING_CELLS) return -1;
  }
  return -1;
}

/** Names of data types, with their sizes. */
const TYPE = new RegExp(
  `^(?:${[
    String.raw`n?(?:var)?char2?|character(?: varying)?|(?:n|tiny|medium|long)?text|string|str|clob|uuid|guid|uniqueidentifier|enum`,
    String.raw`(?:tiny|small|medium|big)?(?:int|serial)\d*|uint\d+|integer|long|number|numeric|decimal|float\d*|double(?: precision)?|real|money`,
    String.raw`date|time|datetime\d?|datetimeoffset|timestamp(?:tz|_ntz|_ltz)?(?: with(?:out)? time zone)?`,
    "bool(?:ean)?|bit|jsonb?|xml|object|blob|bytea|(?:var)?binary|array|factor",
    "texto?|zahl|numero|nombre|datum|fecha|zeichenfolge|cadena",
    "not null|nullable|primary key",
    "required|optional|mandatory|pflichtfeld|obligatoire|obligatorio",
  ].join("|")})(?: ?\\([\\w ,]+\\))?(?: (?:unsigned|not null|null|primary key))*$`,
  "i",
);
/** Names of types that may also be values. */
const MAY_BE_TYPE = /^(?:id|email|phone|url|reference|lookup|picklist|category|percent|currency|checkbox|short|null)$/i;

/** A line drawn in a report, or what some surveys put below their header. */
const LINE = /^[-=_*~.+#\s|:]{3,}$|^\{"ImportId":/;
/** A part of a line that is as wide as its column. */
const SHORT_LINE = /^[-=_*~+]+$/;

/** Whether a row repeats the header, for example because files were joined. */
function isHeaderAgain(cells: readonly string[], names: readonly string[]): boolean {
  return cells.length === names.length && cells.every((cell, index) => cell.trim() === names[index]!.trim());
}

/** Whether each text of a row passes. Ignores empty cells. */
function isEach(cells: readonly string[], passes: (text: string) => boolean): boolean {
  return cells.every((cell) => cell.trim() === "" || passes(cell.trim()));
}

/** Whether a row certainly isn't an item: it repeats the header, has names of types, or is a line. */
export function isNeverItem(cells: readonly string[], names: readonly string[]): boolean {
  const at = cells.findIndex((cell) => cell.trim() !== "");
  const first = cells[at]?.trim() ?? "";
  if (first === "") return false;
  if (first === names[at]?.trim() && isHeaderAgain(cells, names)) return true;
  if (TYPE.test(first) || MAY_BE_TYPE.test(first)) {
    const types = cells.filter((cell) => TYPE.test(cell.trim())).length;
    const isFew = cells.filter((cell) => cell.trim() !== "").length < 2;
    return types > 0 && !isFew && isEach(cells, (text) => TYPE.test(text) || MAY_BE_TYPE.test(text));
  }
  if (!SHORT_LINE.test(first) && !LINE.test(first)) return false;
  const hasLine = cells.some((cell) => LINE.test(cell.trim()));
  return hasLine && isEach(cells, (text) => SHORT_LINE.test(text) || LINE.test(text));
}

/** Whether a row has one text, or texts in at most half of its cells, like notes below or in a table. */
export function isSparse(cells: readonly string[], width: number): boolean {
  const filled = cells.reduce((sum, cell) => (cell.trim() === "" ? sum : sum + 1), 0);
  return filled === 1 || filled * 2 <= width;
}

/**
 * Whether the ID of a doubtful row shows that it isn't an item, or without a column of IDs, its first text.
 * @param id index of the column of IDs
 * @param rows number of rows with items
 */
export function isWithoutItem(
  cells: readonly string[],
  id: number | undefined,
  columns: readonly TextCounts[],
  rows: number,
): boolean {
  const index = id ?? cells.findIndex((cell) => cell.trim() !== "");
  const text = (cells[index] ?? "").trim();
  const own = columns[index];
  if (own === undefined) return false;
  if (isUnlike(text, own)) return true;
  const heading = headingIn(cells);
  if (heading === -1) return false;
  // Whatever its words, a row with an ID like all others is an item. Digits alone may be a count beside a heading.
  if (own.forms?.has(formOf(text)) === true && (heading > index || /\p{L}/u.test(text))) return false;
  // An ID may be a word. Elsewhere, a heading counts if a value is missing that all items have.
  if (heading === id) return isNumbered(own) && HEADING.test(plainWords(text));
  return columns.some(({ filledRows }, column) => filledRows === rows && (cells[column] ?? "").trim() === "");
}
