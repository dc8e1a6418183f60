import { comparable } from "../../../lib/uploads/csv/header-names.ts";
import { digitFormatsOf, isDigits } from "./digit-dates.ts";
import { isNoDate } from "./no-dates.ts";
import { formOf, headingIn, isNeverItem, isSparse, isWithoutItem, type TextCounts } from "./no-items.ts";

/** Cells that are alike but for their digits. */
export interface Shape {
  /** The first different ones. */
  readonly examples: readonly string[];
  /** Number of rows with such a cell. */
  readonly rows: number;
}

/** What stands in a column. */
export interface SurveyedColumn extends TextCounts {
  /** Its different texts with their numbers of rows; undefined if there are too many for a choice. */
  readonly words: ReadonlyMap<string, number> | undefined;
  /** What its cells look like without those that may mean nothing, and dates that mean none; empty for texts of too many shapes. */
  readonly shapes: readonly Shape[];
  /** Words that may mean that there is no value, as they are first spelled, with their numbers of rows. */
  readonly marks: ReadonlyMap<string, number>;
  /** Texts that programs write where there is no date, with their numbers of rows. */
  readonly noDates: ReadonlyMap<string, number>;
  readonly hasValues: boolean;
  /**
   * Whether all its texts are numbers whose digits say all: none begins with a zero that would be lost, and "1.234" isn't
   * perhaps a thousand.
   */
  readonly isNumeric: boolean;
}

/** A row with its number in the file. */
export interface NumberedRow {
  readonly row: number;
  readonly cells: readonly string[];
}

/** What a whole file, or its beginning, says of its columns. */
export interface Survey {
  /** By their places in the file. */
  readonly columns: readonly SurveyedColumn[];
  /** Rows that look like no items, such as sums; they are in no column. */
  readonly totals: readonly NumberedRow[];
  /** Number of all other rows. */
  readonly rows: number;
}

/** Texts that often mean that there is no value. */
const MARKS: ReadonlySet<string> = new Set(["?", "null", "n/a", "#n/a", "none", "-", "nan"]);
const MARK_MAX_CHARACTERS = 4;

/** Whether a text often means that there is no value. "Nan" and "NAN" may be names. */
export function isMark(text: string): boolean {
  if (text.length > MARK_MAX_CHARACTERS) return false;
  const word = comparable(text);
  return MARKS.has(word) && (word !== "nan" || text === "nan" || text === "NaN");
}

/** More different texts are no choice. */
const WORDS_MAX = 300;
/** More shapes are those of free text. A date with a time in all its forms has about a hundred. */
const SHAPES_MAX = 250;
const EXAMPLES_MAX = 3;
/** Longer texts are neither words nor dates. */
const TEXT_MAX_CHARACTERS = 60;
/** More such rows are rows like any other. */
const TOTALS_MAX = 10_000;
/** So many rows that may be no items wait until it is known what the others are like. */
const WAITING_MAX = 100;
/** So few of them are notes rather than items, even where there are fewer others. */
const NOTES_MAX = 10;
/** More forms are those of free text. */
const FORMS_MAX = 50;
/** More texts for no date aren't kept: a mapping has a limit. */
const NO_DATES_MAX = 50;

/** Digits as far as they say what part of a date they can be. */
function shapeOfDigits(digits: string): string {
  if (digits.length > 2) return `#${digits.length}`;
  const number = Number(digits);
  return number > 31 ? "y" : number > 12 ? "d" : "m";
}

/**
 * What a text looks like. Two dates of the same shape have the same formats: they leave open which number is the day in
 * the same way. Where the first two numbers are equal, it makes no difference.
 */
function shapeOf(text: string): string {
  if (!/\d/.test(text)) return "";
  if (isDigits(text)) return [shapeOfDigits(text), ...digitFormatsOf(text)].join(" ");
  const [, first, second] = /^(\d\d?)\D(\d\d?)\D/.exec(text) ?? [];
  const isEither = first !== undefined && Number(first) === Number(second);
  return (isEither ? "=" : "") + text.replaceAll(/\d+|\p{L}+/gu, (run) => (/\d/.test(run) ? shapeOfDigits(run) : "a"));
}

/** A point between thousands, as in German, French and Spanish, or before three digits of a fraction. */
const GROUPED = /^-?[1-9]\d{0,2}\.\d{3}$/;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/;

class ColumnSurvey implements TextCounts {
  filledRows = 0;
  numberedRows = 0;
  spacedRows = 0;
  forms: Set<string> | undefined = new Set();
  #words: Map<string, number> | undefined = new Map();
  #shapes: Map<string, { examples: string[]; rows: number }> | undefined = new Map();
  readonly #marks = new Map<string, number>();
  readonly #noDates = new Map<string, number>();
  #isNumeric = true;
  #hasGroups = false;
  #hasFractions = false;

  observe(text: string): void {
    if (text === "") return;
    this.filledRows++;
    if (/\d/.test(text)) this.numberedRows++;
    if (/\s/.test(text)) this.spacedRows++;
    this.#isNumeric &&= NUMBER.test(text);
    if (this.#isNumeric && text.includes(".")) {
      if (GROUPED.test(text)) this.#hasGroups = true;
      else this.#hasFractions = true;
    }
    if (isMark(text)) this.#marks.set(text, (this.#marks.get(text) ?? 0) + 1);
    else if (isNoDate(text) && this.#noDates.size < NO_DATES_MAX)
      this.#noDates.set(text, (this.#noDates.get(text) ?? 0) + 1);
    else this.#addShape(text);
    if (this.#words === undefined) return;
    this.#words.set(text, (this.#words.get(text) ?? 0) + 1);
    if (this.#words.size > WORDS_MAX || text.length > TEXT_MAX_CHARACTERS) this.#words = undefined;
  }

  #addShape(text: string): void {
    if (this.#shapes === undefined) return;
    const key = text.length > TEXT_MAX_CHARACTERS ? "" : shapeOf(text);
    const known = this.#shapes.get(key);
    if (known === undefined && key !== "") this.#addForm(text);
    const shape = known ?? { examples: [], rows: 0 };
    shape.rows++;
    if (shape.examples.length < EXAMPLES_MAX && !shape.examples.includes(text)) shape.examples.push(text);
    this.#shapes.set(key, shape);
    if (this.#shapes.size > SHAPES_MAX) {
      this.#shapes = undefined;
      this.forms = undefined;
    }
  }

  /** Texts of one shape have one form. */
  #addForm(text: string): void {
    this.forms?.add(formOf(text));
    if ((this.forms?.size ?? 0) > FORMS_MAX) this.forms = undefined;
  }

  result(): SurveyedColumn {
    return {
      words: this.#words,
      shapes: [...(this.#shapes?.values() ?? [])],
      marks: this.#marks,
      noDates: this.#noDates,
      filledRows: this.filledRows,
      numberedRows: this.numberedRows,
      spacedRows: this.spacedRows,
      forms: this.forms,
      hasValues: this.filledRows > 0,
      isNumeric: this.filledRows > 0 && this.#isNumeric && (this.#hasFractions || !this.#hasGroups),
    };
  }
}

/**
 * Collects what the rows of a file say of its columns. It keeps some hundred texts of a column, however long the file is.
 * Rows that may be no items wait until others show what items are like.
 */
export class RowSurvey {
  readonly #names: readonly string[];
  readonly #columns: readonly ColumnSurvey[];
  readonly #totals: NumberedRow[] = [];
  #rows = 0;
  /** Undefined once there were so many that most are items. */
  #waiting: NumberedRow[] | undefined = [];

  /** @param names the header's cells */
  constructor(names: readonly string[]) {
    this.#names = names;
    this.#columns = names.map(() => new ColumnSurvey());
  }

  /** @param numbered a row with its number in the file */
  observe({ row, cells }: NumberedRow): void {
    if (this.#totals.length < TOTALS_MAX) {
      if (isNeverItem(cells, this.#names)) {
        this.#totals.push({ row, cells });
        return;
      }
      if (isSparse(cells, this.#names.length) || headingIn(cells) !== -1) {
        this.#doubt({ row, cells });
        return;
      }
    }
    this.#add(cells);
  }

  result(): Survey {
    this.#settle();
    const totals = this.#totals.toSorted((a, b) => a.row - b.row);
    return { columns: this.#columns.map((column) => column.result()), totals, rows: this.#rows };
  }

  #add(cells: readonly string[]): void {
    this.#rows++;
    for (const [index, column] of this.#columns.entries()) column.observe((cells[index] ?? "").trim());
  }

  #isWithoutItem({ cells }: NumberedRow): boolean {
    return isWithoutItem(cells, undefined, this.#columns, this.#rows);
  }

  /** Notes a row that may be no item. */
  #doubt(numbered: NumberedRow): void {
    if (this.#waiting) {
      this.#waiting.push(numbered);
      if (this.#waiting.length === WAITING_MAX) this.#settle();
    } else if (this.#isWithoutItem(numbered)) this.#totals.push(numbered);
    else this.#add(numbered.cells);
  }

  /** Decides on the rows that wait. Where they are the most, they show what items are like. */
  #settle(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    const areMost = this.#rows === 0 || waiting.length > Math.max(this.#rows, NOTES_MAX);
    if (areMost) for (const { cells } of waiting) this.#add(cells);
    const found = waiting.filter((numbered) => this.#isWithoutItem(numbered));
    this.#totals.push(...found);
    if (areMost) return;
    const left = new Set(found);
    for (const numbered of waiting) if (!left.has(numbered)) this.#add(numbered.cells);
  }
}

/** What some rows say. @param first number of the first of them in the file */
export function surveyOf(names: readonly string[], rows: readonly (readonly string[])[], first: number): Survey {
  const survey = new RowSurvey(names);
  for (const [index, cells] of rows.entries()) survey.observe({ row: first + index, cells });
  return survey.result();
}

/**
 * The rows that are no items among those that look so: if nearly all IDs have digits, "Total" is none.
 * @param id place of the column with the ids; undefined if there is none
 */
export function totalsIn(
  { columns, totals, rows }: Survey,
  names: readonly string[],
  id: number | undefined,
): readonly NumberedRow[] {
  return totals.filter(({ cells }) => isNeverItem(cells, names) || isWithoutItem(cells, id, columns, rows));
}
