import { plainWords } from "./known-headers.ts";

/** What is known of the texts of a column. */
export interface TextCounts {
  /** Rows with a text, those of them whose text has a digit, and those with a space in it. */
  readonly filledRows: number;
  readonly numberedRows: number;
  readonly spacedRows: number;
  /** How its texts with digits look, whatever the digits and letters are; undefined if in too many ways. */
  readonly forms: ReadonlySet<string> | undefined;
}

/** Of so many rows, one may be another way. */
const MOST_TO_OTHERS = 10;
function isMost(count: number, others: number): boolean {
  return count > others * MOST_TO_OTHERS;
}

/** How a text looks, whatever its digits and letters are: `a-#` for `T-17`. */
export function formOf(text: string): string {
  return text.replaceAll(/\d+/g, "#").replaceAll(/\p{L}+/gu, "a");
}

/** Whether nearly all texts of a column have digits. */
function isNumbered({ filledRows, numberedRows }: TextCounts): boolean {
  return isMost(numberedRows, filledRows - numberedRows);
}

/** Whether a text is unlike nearly all others of its column: it has no digit, a space, or another form. */
function isUnlike(text: string, counts: TextCounts): boolean {
  const { filledRows, numberedRows, spacedRows, forms } = counts;
  if (text === "") return true;
  if (filledRows === 0) return false;
  const hasSpace = /\s/.test(text);
  if (hasSpace && isMost(filledRows - spacedRows, spacedRows)) return true;
  if (/\d/.test(text)) return !hasSpace && isNumbered(counts) && forms !== undefined && !forms.has(formOf(text));
  // Of a few rows, two signs say as much as one of many.
  const isBoth = hasSpace && numberedRows * 2 > filledRows && spacedRows * 2 < filledRows;
  return isNumbered(counts) || isBoth;
}

/** Words before or after what is summed up in English, German, French and Spanish, as `plainWords` makes them. */
const SUMS =
  "totals?|totaux|totales|subtotal(?:es|s)?|sum|summe|gesamt|gesamtsumme|gesamtergebnis|ergebnis|zwischensumme|insgesamt|somme|suma|count|anzahl|averages?|avg|durchschnitt|mittelwert|moyennes?|promedio|media";
const BEFORE = "(?:grand|overall|report|sub|sous|page) ";
const AFTER = String.raw` (?:general(?:es)?|generaux|records?|rows|items|tickets|cases|count|\d+)`;
/** A heading of sums alone, such as "Grand total: 30". */
const HEADING = new RegExp(`^(?:${BEFORE})?(?:${SUMS})(?:${AFTER})*$`);
/** Or with what they are of: "Subtotal for Ann", "Ann Lee Total". */
const HEADING_OF = new RegExp(`^(?:${BEFORE})?(?:${SUMS})\\b|\\b(?:${SUMS})$`);
/** Only texts with it are compared with the words. */
const MAY_BE_SUM = /tota|sum|gesamt|ergebnis|somm|count|anzahl|av(?:era)?g|schnitt|mittel|moyenne|promedio|media/i;
/** Longer texts are no headings. */
const HEADING_MAX_CHARACTERS = 60;
/** A heading is in one of the first cells with a text. */
const HEADING_CELLS = 3;

/** The place of a heading of sums in a row; -1 if it has none. */
export function headingIn(cells: readonly string[]): number {
  let seen = 0;
  for (const [place, cell] of cells.entries()) {
    const text = cell.trim();
    if (text === "") continue;
    if (text.length <= HEADING_MAX_CHARACTERS && MAY_BE_SUM.test(text) && HEADING_OF.test(plainWords(text))) {
      return place;
    }
    if (++seen === HEADING_CELLS) return -1;
  }
  return -1;
}

/** Names of types, with their sizes. */
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
/** What some systems call types as well, and what may be a value. */
const MAY_BE_TYPE = /^(?:id|email|phone|url|reference|lookup|picklist|category|percent|currency|checkbox|short|null)$/i;

/** A line of a report, or what some surveys put below their header. */
const LINE = /^[-=_*~.+#\s|:]{3,}$|^\{"ImportId":/;
/** Of a line, as wide as its column. */
const SHORT_LINE = /^[-=_*~+]+$/;

/** Whether a row is the header once more, as where several files were put together. */
function isHeaderAgain(cells: readonly string[], names: readonly string[]): boolean {
  return cells.length === names.length && cells.every((cell, index) => cell.trim() === names[index]!.trim());
}

/** Whether each text of a row passes. */
function isEach(cells: readonly string[], passes: (text: string) => boolean): boolean {
  return cells.every((cell) => cell.trim() === "" || passes(cell.trim()));
}

/** Whether a row is surely no item, whatever its column of IDs is: the header once more, names of types, or a line. */
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

/** Whether a row has no more than half of its cells: there may be notes below or within a table. */
export function isSparse(cells: readonly string[], width: number): boolean {
  const filled = cells.reduce((sum, cell) => (cell.trim() === "" ? sum : sum + 1), 0);
  return filled === 1 || filled * 2 <= width;
}

/**
 * Whether the ID of a doubtful row shows that it isn't an item; without a column of IDs, its first text does.
 * @param columns what is known of the columns
 * @param rows number of the rows with items
 */
export function isWithoutItem(
  cells: readonly string[],
  id: number | undefined,
  columns: readonly TextCounts[],
  rows: number,
): boolean {
  const place = id ?? cells.findIndex((cell) => cell.trim() !== "");
  const text = (cells[place] ?? "").trim();
  const own = columns[place];
  if (own === undefined) return false;
  if (isUnlike(text, own)) return true;
  const heading = headingIn(cells);
  if (heading === -1) return false;
  // A word may be an ID. Beside an ID, or where none is known, sums lack a value that all items have.
  if (heading === id) return isNumbered(own) && HEADING.test(plainWords(text));
  return columns.some(({ filledRows }, index) => filledRows === rows && (cells[index] ?? "").trim() === "");
}
