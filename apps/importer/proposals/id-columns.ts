import { areEmails } from "./agent-columns.ts";
import { isDigits } from "./digit-dates.ts";
import { isCustomer } from "./known-headers.ts";
import type { SurveyedColumn } from "./survey.ts";
import { timeReadingsOf } from "./time-formats.ts";

/** What a column of IDs is recognized by. */
interface IdColumn {
  readonly words: string;
  readonly values: readonly string[];
  readonly survey: SurveyedColumn;
}

/** Columns of numbers whose digits are a name, so that they stay texts. German names end with the word. */
const NUMBERED =
  /\b(?:id|key|code|ref|reference|no|phone|mobile|tel|fax|zip|postal|plz|cp|telephone|portable|movil|version|release|iban)\b|number\b|numero\b|nummer\b|nr\b|telefono?\b|postleitzahl\b/;
/** Columns that identify no item, although no two of their values are the same. */
const NO_ID =
  /\b(?:(?:first|last|full|user)? ?name|vorname|nachname|prenom|nom|nombre|apellidos?|email|mail|date|datum|fecha|time|at|on|am|le|subject|title|summary|description|betreff|titel|sujet|objet|asunto|note|notes|comment|amount|price|cost|score|duration|total|count|average|avg|minutes|hours|percent|url|link|phone|address)\b/;

/** Whether a column of numbers counts or measures something, by its name. */
export function isMeasure(words: string): boolean {
  return !NUMBERED.test(words);
}

/** Whether a column could identify items: no two cells are the same. */
export function isDistinct({ values }: Pick<IdColumn, "values">): boolean {
  return values.length > 0 && new Set(values.map((value) => value.trim())).size === values.length;
}

/** Whether a column holds date-times. Digits alone are none where its name says that they number something. */
function holdsTimes({ words, values, survey }: IdColumn): boolean {
  const isNumbered = !isMeasure(words) && values.every(isDigits);
  return !isNumbered && timeReadingsOf(survey.shapes) !== undefined;
}

/** Whether the values of a column look like identifiers: no names of people, no texts, dates, sums or measures. */
export function isIdentifier(column: IdColumn): boolean {
  const { words, values, survey } = column;
  if (NO_ID.test(words) || isCustomer(words) || areEmails(values)) return false;
  const isText = values.some((value) => /\s/.test(value.trim()) || value.length > 64 || /^-?\d+[.,]\d+$/.test(value));
  return !isText && !(survey.isNumeric && isMeasure(words)) && !holdsTimes(column);
}

/** A doubt that rows which repeat an ID refute. */
export const ONLY_NUMBERED = "its values only number the rows";

/** Fewer rows are numbered from 1 by chance. */
const COUNTED_ROWS_MIN = 3;

/** Whether values number the rows, as an export of another day does for other items. */
function isRowNumber(values: readonly string[]): boolean {
  const first = Number(values[0]);
  const isFirst = first === 0 || first === 1;
  return (
    isFirst && values.length >= COUNTED_ROWS_MIN && values.every((value, index) => Number(value) === first + index)
  );
}

/** What spreadsheets make of long numbers, whose other digits are lost, and scripts of numbers: "4.9E+11", "1001.0". */
const REWRITTEN = /^\d(?:[.,]\d+)?E\+\d+$|^\d+\.0$/i;

/**
 * What speaks against the IDs of a column that is called so; undefined if nothing does.
 * @param isCertain whether its name leaves no doubt
 */
export function doubtOfIds({ values, survey }: IdColumn, isCertain: boolean): string | undefined {
  const all = [...values, ...survey.shapes.flatMap(({ examples }) => examples)];
  const rewritten = all.find((value) => REWRITTEN.test(value.trim()));
  if (rewritten !== undefined) return `a spreadsheet or script has rewritten values such as "${rewritten}"`;
  if (values.length > 0 && !isDistinct({ values })) return "values repeat";
  return !isCertain && isRowNumber(values) ? ONLY_NUMBERED : undefined;
}
