import type { DecimalMark } from "@work-items/lib/cell-value.ts";
import { COMMA, type Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { columnsOfAll } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { formOf } from "../ids/id-forms.ts";
import type { FileRow, IdFindings } from "../ids/repeated-ids.ts";
import { ComparedIds } from "./compared-ids.ts";
import { type LostLetters, lostLettersIn } from "../letters/lost-letters.ts";
import { digitFormatsOf, isDigits } from "./digit-dates.ts";
import { isEmptyWord } from "./empty-words.ts";
import { GroupedColumns } from "./grouped-columns.ts";
import { JoinedRows } from "./joined-rows.ts";
import { isNoDate } from "./no-dates.ts";
import { headingIn, isNeverItem, isSparse, isWithoutItem, type TextCounts } from "./no-items.ts";

/** Cells that only differ by digits and letters. */
export interface Shape {
  /** The first different ones, and of dates those with the first and the last year. */
  readonly examples: readonly string[];
  /** Number of rows with such a cell. */
  readonly rows: number;
}

/** What a column contains. */
export interface SurveyedColumn extends TextCounts {
  /** Its different texts and their numbers of rows; undefined if there are too many for a choice. */
  readonly words: ReadonlyMap<string, number> | undefined;
  /** The shapes of its cells, without `emptyWords` and `noDates`; empty if there are too many shapes. */
  readonly shapes: readonly Shape[];
  /** What ambiguous dates begin with by the dates of all columns of the file; undefined if these don't say. */
  readonly dateOrder: "day-first" | "month-first" | undefined;
  /** Words that may mean an empty value, as spelled, and their numbers of rows. */
  readonly emptyWords: ReadonlyMap<string, number>;
  /** Texts that programs write where there is no date, and their numbers of rows. */
  readonly noDates: ReadonlyMap<string, number>;
  /** Whether some texts have spaces around them. */
  readonly hasOuterSpaces: boolean;
  /** Its first different texts, at most three, cut if they are long. */
  readonly examples: readonly string[];
  /** The first text that lost its letters. */
  readonly lost: LostLetters | undefined;
  /**
   * The decimal mark of its texts, empty for whole numbers; undefined if not all are clear numbers: without leading zeros, other
   * marks, and "1.234", which may be more than a thousand.
   */
  readonly decimal: DecimalMark | "" | undefined;
}

/** A named column of a file with its values. */
export interface FileColumn {
  readonly index: number;
  readonly name: string;
  /** The name in the spelling of `plainWords`. */
  readonly words: string;
  /** Its cells in the first rows. */
  readonly cells: readonly string[];
  /** Those without empty words. */
  readonly values: readonly string[];
  readonly survey: SurveyedColumn;
}

/** What a whole file, or its beginning, shows about its columns. */
export interface Survey {
  /** By their indexes in the file. */
  readonly columns: readonly SurveyedColumn[];
  /** Rows that don't look like items, such as sums. The columns don't count them. */
  readonly totals: readonly FileRow[];
  /** Number of the other rows. */
  readonly rows: number;
  /** What a comparison of all rows showed, by the indexes of columns that may hold IDs. */
  readonly ids: ReadonlyMap<number, IdFindings>;
  /** The indexes of columns that have a value only in the first row of each group. */
  readonly grouped: readonly number[];
  /** The numbers of rows in whose values there may be other rows. */
  readonly joined: readonly number[];
  /** The indexes of columns with whole numbers of which the workbook doesn't show all digits. */
  readonly cut: readonly number[];
}

/** More different texts aren't choices. */
const WORDS_MAX = 300;
/** More shapes mean free text. Dates with times have about a hundred shapes. */
const SHAPES_MAX = 250;
const EXAMPLES_MAX = 3;
/** Limit of the examples of any text. */
const EXAMPLE_MAX_CHARACTERS = 200;
/** Longer texts are neither choices nor dates. */
const TEXT_MAX_CHARACTERS = 60;
/** Any further rows count as items. */
const TOTALS_MAX = 10_000;
/** Limit of the doubtful rows that wait until other rows show what items are like. */
const WAITING_MAX = 100;
/** Up to this many doubtful rows may be notes, even if there are fewer other rows. */
const NOTES_MAX = 10;
/** More forms mean free text. */
const FORMS_MAX = 50;
/** Limit of the texts for a missing date, because mappings are limited. */
const NO_DATES_MAX = 50;

/** Digits, by which part of a date they can be. */
function shapeOfDigits(digits: string): string {
  if (digits.length > 2) return `#${digits.length}`;
  const number = Number(digits);
  if (number > 31) return "y";
  return number > 12 ? "d" : "m";
}

/**
 * The shape of a text. Dates of the same shape fit the same formats, and their order of day and month is equally clear.
 * With equal first numbers, the order makes no difference.
 */
function shapeOf(text: string): string {
  if (!/\d/.test(text)) return "";
  if (isDigits(text)) return [shapeOfDigits(text), ...digitFormatsOf(text)].join(" ");
  const [, first, second] = /^(\d\d?)\D(\d\d?)\D/.exec(text) ?? [];
  const isEither = first !== undefined && Number(first) === Number(second);
  return (isEither ? "=" : "") + text.replaceAll(/\d+|\p{L}+/gu, (run) => (/\d/.test(run) ? shapeOfDigits(run) : "a"));
}

/** A mark that may separate thousands or three decimals. */
const GROUPED = /^-?[1-9]\d{0,2}[.,]\d{3}$/;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:([.,])\d{1,10})?$/;

function count(counts: Map<string, number>, text: string): void {
  counts.set(text, (counts.get(text) ?? 0) + 1);
}

/** What a text is compared by to find the first and the last of some dates: its year, or digits that may be a Unix time. */
function yearIn(text: string): string {
  return /(?<!\d)\d{4}(?!\d)/.exec(text)?.[0] ?? text;
}

/** A date with the first or the last year of its shape. */
interface Extreme {
  readonly text: string;
  readonly year: string;
}

class ShapeSurvey {
  readonly #examples: string[] = [];
  #first: Extreme | undefined;
  #last: Extreme | undefined;
  readonly #mayBeDate: boolean;
  #rows = 0;

  constructor(key: string) {
    this.#mayBeDate = /#4(?!\d)|^#(?:8|1[0-4])(?!\d)/.test(key);
  }

  observe(text: string): void {
    this.#rows++;
    if (this.#examples.length < EXAMPLES_MAX && !this.#examples.includes(text)) this.#examples.push(text);
    if (!this.#mayBeDate) return;
    const year = yearIn(text);
    if (this.#first === undefined || year < this.#first.year) this.#first = { text, year };
    if (this.#last === undefined || year > this.#last.year) this.#last = { text, year };
  }

  result(): Shape {
    const extremes = [this.#first, this.#last].flatMap((extreme) => extreme?.text ?? []);
    return { examples: [...new Set([...this.#examples, ...extremes])], rows: this.#rows };
  }
}

class ColumnSurvey {
  /** What it has besides shapes. */
  readonly seen = {
    filledRows: 0,
    numberedRows: 0,
    spacedRows: 0,
    forms: new Set<string>() as Set<string> | undefined,
    words: new Map<string, number>() as Map<string, number> | undefined,
    emptyWords: new Map<string, number>(),
    noDates: new Map<string, number>(),
    examples: [] as string[],
    hasOuterSpaces: false,
    lost: undefined as LostLetters | undefined,
  };
  #shapes: Map<string, ShapeSurvey> | undefined = new Map();
  #isNumeric = true;
  readonly #marks = new Set<DecimalMark>();
  #hasFractions = false;

  observe(cell: string): void {
    const text = cell.trim();
    if (text === "") return;
    this.seen.filledRows++;
    this.seen.hasOuterSpaces ||= text !== cell;
    if (this.seen.examples.length < EXAMPLES_MAX) this.#addExample(text);
    this.seen.lost ??= lostLettersIn(text.slice(0, EXAMPLE_MAX_CHARACTERS));
    if (/\d/.test(text)) this.seen.numberedRows++;
    if (/\s/.test(text)) this.seen.spacedRows++;
    const number = NUMBER.exec(text);
    this.#isNumeric &&= number !== null;
    if (number?.[1] !== undefined) this.#marks.add(number[1] as DecimalMark);
    this.#hasFractions ||= number?.[1] !== undefined && !GROUPED.test(text);
    if (isEmptyWord(text)) count(this.seen.emptyWords, text);
    else if (isNoDate(text) && this.seen.noDates.size < NO_DATES_MAX) count(this.seen.noDates, text);
    else this.#addShape(text);
    if (this.seen.words === undefined) return;
    count(this.seen.words, text);
    if (this.seen.words.size > WORDS_MAX || text.length > TEXT_MAX_CHARACTERS) this.seen.words = undefined;
  }

  #addExample(text: string): void {
    const example = text.slice(0, EXAMPLE_MAX_CHARACTERS);
    if (!this.seen.examples.includes(example)) this.seen.examples.push(example);
  }

  #addShape(text: string): void {
    if (this.#shapes === undefined) return;
    const key = text.length > TEXT_MAX_CHARACTERS ? "" : shapeOf(text);
    const known = this.#shapes.get(key);
    if (known === undefined && key !== "") this.#addForm(text);
    const shape = known ?? new ShapeSurvey(key);
    shape.observe(text);
    if (known === undefined) this.#shapes.set(key, shape);
    if (this.#shapes.size > SHAPES_MAX) {
      this.#shapes = undefined;
      this.seen.forms = undefined;
    }
  }

  /** Called once for each shape, because texts of one shape have one form. */
  #addForm(text: string): void {
    this.seen.forms?.add(formOf(text));
    if ((this.seen.forms?.size ?? 0) > FORMS_MAX) this.seen.forms = undefined;
  }

  result(): Omit<SurveyedColumn, "dateOrder"> {
    const [mark = "", ...others] = this.#marks;
    const isNumeric = this.seen.filledRows > 0 && this.#isNumeric && others.length === 0;
    return {
      ...this.seen,
      shapes: [...(this.#shapes?.values() ?? [])].map((shape) => shape.result()),
      decimal: isNumeric && (this.#hasFractions || mark === "") ? mark : undefined,
    };
  }
}

/** A date whose first or second number is above 12. Dates with dots begin with the day, whatever others do. */
const CLEAR_DATE = /^(?:(1[3-9]|2\d|3[01])[/-]\d\d?|\d\d?[/-](?:1[3-9]|2\d|3[01]))[/-]\d{4}\b/;

function dateOrderIn(columns: readonly Pick<SurveyedColumn, "shapes">[]): SurveyedColumn["dateOrder"] {
  const texts = columns.flatMap(({ shapes }) => shapes.flatMap(({ examples }) => examples));
  const orders = texts.flatMap((text) => {
    const [found, day] = CLEAR_DATE.exec(text) ?? [];
    return found === undefined ? [] : ([day === undefined ? "month-first" : "day-first"] as const);
  });
  return new Set(orders).size === 1 ? orders[0] : undefined;
}

/**
 * Collects what the rows of a file show about its columns. It keeps a few hundred texts of each column, however long
 * the file is. Rows that may not be items wait until others show what items are like.
 */
export class RowSurvey {
  readonly #names: readonly string[];
  readonly #columns: readonly ColumnSurvey[];
  readonly #ids: ComparedIds;
  readonly #groups: GroupedColumns;
  readonly #joined: JoinedRows;
  readonly #totals: FileRow[] = [];
  readonly #cut: readonly number[];
  #rows = 0;
  /** Undefined once they have been decided. */
  #waiting: FileRow[] | undefined = [];

  /**
   * @param names the header's cells
   * @param rows the first rows, which show which columns may hold IDs; without any, no IDs are compared
   * @param cut what the workbook shows
   */
  constructor(
    names: readonly string[],
    rows: readonly (readonly string[])[] = [],
    delimiter: Delimiter = COMMA,
    cut: Survey["cut"] = [],
  ) {
    this.#cut = cut;
    this.#names = names;
    this.#columns = names.map(() => new ColumnSurvey());
    this.#ids = new ComparedIds(names, rows);
    this.#groups = new GroupedColumns(names);
    this.#joined = new JoinedRows(delimiter);
  }

  observe({ row, cells }: FileRow): void {
    this.#groups.observe({ cells });
    this.#joined.observe({ row, cells });
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
    this.#add({ row, cells });
  }

  /** @param isWhole whether all rows have been observed */
  result(isWhole = true): Survey {
    this.#settle();
    const totals = this.#totals.toSorted((a, b) => a.row - b.row);
    const ids = [...this.#ids.result()].map(
      ([index, found]) => [index, { ...found, isComplete: found.isComplete && isWhole }] as const,
    );
    const columns = this.#columns.map((column) => column.result());
    const dateOrder = dateOrderIn(columns);
    return {
      columns: columns.map((column) => ({ ...column, dateOrder })),
      totals,
      rows: this.#rows,
      ids: new Map(ids),
      grouped: this.#groups.result(),
      joined: this.#joined.result(this.#columns[0]?.seen.forms),
      cut: this.#cut,
    };
  }

  #add({ row, cells }: FileRow): void {
    this.#rows++;
    if (cells.some((cell) => cell.trim() !== "")) this.#ids.observe({ row, cells });
    for (const [index, column] of this.#columns.entries()) column.observe(cells[index] ?? "");
  }

  #isWithoutItem({ cells }: FileRow): boolean {
    return isWithoutItem(
      cells,
      // In a wide table, one text without an ID is a note, also among other texts of its column.
      this.#names.length > 3 && isSparse(cells, 1) ? this.#ids.sure : undefined,
      this.#columns.map(({ seen }) => seen),
      this.#rows,
    );
  }

  /** Takes a row that may not be an item. */
  #doubt(numbered: FileRow): void {
    if (this.#waiting) {
      this.#waiting.push(numbered);
      if (this.#waiting.length === WAITING_MAX) this.#settle();
    } else if (this.#isWithoutItem(numbered)) this.#totals.push(numbered);
    else this.#add(numbered);
  }

  /** Decides on the waiting rows. If they are the majority, they show what items are like. */
  #settle(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    const isMajority = this.#rows === 0 || waiting.length > Math.max(this.#rows, NOTES_MAX);
    if (isMajority) for (const numbered of waiting) this.#add(numbered);
    const found = waiting.filter((numbered) => this.#isWithoutItem(numbered));
    this.#totals.push(...found);
    if (isMajority) return;
    const left = new Set(found);
    for (const numbered of waiting) if (!left.has(numbered)) this.#add(numbered);
  }
}

/** The survey of all rows of a file. @param first number of the first row in the file */
export function surveyOf(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  first: number,
  delimiter: Delimiter = COMMA,
): Survey {
  const survey = new RowSurvey(names, rows, delimiter);
  for (const [index, cells] of rows.entries()) survey.observe({ row: first + index, cells });
  return survey.result();
}

/**
 * The rows that aren't items, by the first column of the IDs: if nearly all IDs have digits, "Total" isn't one.
 * @param names cells of the header
 */
export function totalsIn(
  { columns, totals, rows }: Survey,
  names: readonly string[],
  { fields = {} }: Pick<Mapping, "fields">,
): readonly FileRow[] {
  const used = columnsOfAll([fields["external_id"] ?? {}]);
  const index = numberedNames(names).findIndex((name) => used.has(comparable(name)));
  const id = index === -1 ? undefined : index;
  return totals.filter(({ cells }) => isNeverItem(cells, names) || isWithoutItem(cells, id, columns, rows));
}
