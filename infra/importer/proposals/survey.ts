import { comparable } from "../../../lib/uploads/csv/header-names.ts";
import { isHeaderAgain, isNoItem, isTotalsRow } from "./find-totals.ts";

/** Cells that are alike but for their digits. */
export interface Shape {
  /** The first different ones. */
  readonly examples: readonly string[];
  /** Number of rows with such a cell. */
  readonly rows: number;
}

/** What stands in a column. */
export interface SurveyedColumn {
  /** Its different texts with their numbers of rows; undefined if there are too many for a choice. */
  readonly words: ReadonlyMap<string, number> | undefined;
  /** What its cells look like without those that may mean nothing; empty for texts of too many shapes. */
  readonly shapes: readonly Shape[];
  /** Words that may mean that there is no value, as they are first spelled, with their numbers of rows. */
  readonly marks: ReadonlyMap<string, number>;
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
  /** Rows that look like no items; they are in no column. */
  readonly totals: readonly NumberedRow[];
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
const TOTALS_MAX = 100;

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
  const [, first, second] = /^(\d\d?)\D(\d\d?)\D/.exec(text) ?? [];
  const isEither = first !== undefined && Number(first) === Number(second);
  return (isEither ? "=" : "") + text.replaceAll(/\d+|\p{L}+/gu, (run) => (/\d/.test(run) ? shapeOfDigits(run) : "a"));
}

/** A point between thousands, as in German, French and Spanish, or before three digits of a fraction. */
const GROUPED = /^-?[1-9]\d{0,2}\.\d{3}$/;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/;

class ColumnSurvey {
  #words: Map<string, number> | undefined = new Map();
  #shapes: Map<string, { examples: string[]; rows: number }> | undefined = new Map();
  readonly #marks = new Map<string, number>();
  #hasValues = false;
  #isNumeric = true;
  #hasGroups = false;
  #hasFractions = false;

  observe(text: string): void {
    if (text === "") return;
    this.#hasValues = true;
    this.#isNumeric &&= NUMBER.test(text);
    if (this.#isNumeric && text.includes(".")) {
      if (GROUPED.test(text)) this.#hasGroups = true;
      else this.#hasFractions = true;
    }
    if (isMark(text)) this.#marks.set(text, (this.#marks.get(text) ?? 0) + 1);
    else this.#addShape(text);
    if (this.#words === undefined) return;
    this.#words.set(text, (this.#words.get(text) ?? 0) + 1);
    if (this.#words.size > WORDS_MAX || text.length > TEXT_MAX_CHARACTERS) this.#words = undefined;
  }

  #addShape(text: string): void {
    if (this.#shapes === undefined) return;
    const key = text.length > TEXT_MAX_CHARACTERS ? "" : shapeOf(text);
    const shape = this.#shapes.get(key) ?? { examples: [], rows: 0 };
    shape.rows++;
    if (shape.examples.length < EXAMPLES_MAX && !shape.examples.includes(text)) shape.examples.push(text);
    this.#shapes.set(key, shape);
    if (this.#shapes.size > SHAPES_MAX) this.#shapes = undefined;
  }

  result(): SurveyedColumn {
    return {
      words: this.#words,
      shapes: [...(this.#shapes?.values() ?? [])],
      marks: this.#marks,
      hasValues: this.#hasValues,
      isNumeric: this.#hasValues && this.#isNumeric && (this.#hasFractions || !this.#hasGroups),
    };
  }
}

/** Collects what the rows of a file say of its columns. It keeps some hundred texts of a column, however long the file is. */
export class RowSurvey {
  readonly #names: readonly string[];
  readonly #columns: readonly ColumnSurvey[];
  readonly #totals: NumberedRow[] = [];

  /** @param names the header's cells */
  constructor(names: readonly string[]) {
    this.#names = names;
    this.#columns = names.map(() => new ColumnSurvey());
  }

  /** @param numbered a row with its number in the file */
  observe({ row, cells }: NumberedRow): void {
    if (this.#totals.length < TOTALS_MAX && isNoItem(cells, this.#names)) {
      this.#totals.push({ row, cells });
      return;
    }
    for (const [index, column] of this.#columns.entries()) column.observe((cells[index] ?? "").trim());
  }

  result(): Survey {
    return { columns: this.#columns.map((column) => column.result()), totals: this.#totals };
  }
}

/** What some rows say. @param first number of the first of them in the file */
export function surveyOf(names: readonly string[], rows: readonly (readonly string[])[], first: number): Survey {
  const survey = new RowSurvey(names);
  for (const [index, cells] of rows.entries()) survey.observe({ row: first + index, cells });
  return survey.result();
}

/** Of so many IDs with digits, one may have none: there may be more rows that are no items. */
const NUMBERED_TO_OTHERS = 10;

/**
 * The rows that are no items among those that look so: if nearly all IDs have digits, "Total" is none.
 * @param id place of the column with the ids; undefined if there is none
 */
export function totalsIn(
  { columns, totals }: Pick<Survey, "columns" | "totals">,
  names: readonly string[],
  id: number | undefined,
): readonly NumberedRow[] {
  const { shapes = [] } = columns[id ?? -1] ?? {};
  const countRows = (hasDigits: boolean): number =>
    shapes.reduce(
      (sum, { examples, rows }) => sum + (examples.some((text) => /\d/.test(text)) === hasDigits ? rows : 0),
      0,
    );
  const isNumbered = countRows(true) > countRows(false) * NUMBERED_TO_OTHERS;
  const isTotal = (text: string): boolean => isNumbered && (!/\d/.test(text) || isTotalsRow([text]));
  return totals.filter(({ cells }) => isHeaderAgain(cells, names) || isTotal(cells[id ?? -1] ?? ""));
}
