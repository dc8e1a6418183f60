import type { IdFindings } from "../ids/repeated-ids.ts";
import { areEmails, isMost } from "./agent-columns.ts";
import { isDigits } from "./digit-dates.ts";
import { isCustomer } from "./known-headers.ts";
import type { FileColumn } from "./survey.ts";
import { timeReadingsOf } from "./time-formats.ts";

/** Names of columns whose numbers identify something, so that they stay texts. German names end with such a word. */
const NUMBERED =
  /\b(?:id|key|code|ref|reference|no|phone|mobile|tel|fax|zip|postal|plz|cp|telephone|portable|movil|version|release|iban)\b|number\b|numero\b|nummer\b|nr\b|telefono?\b|postleitzahl\b/;
/** Names of columns that don't identify items, even if all their values differ. */
const NO_ID =
  /\b(?:(?:first|last|full|user)? ?name|vorname|nachname|prenom|nom|nombre|apellidos?|email|mail|date|datum|fecha|time|at|on|am|le|subject|title|summary|description|betreff|titel|sujet|objet|asunto|note|notes|comment|amount|price|cost|score|duration|total|count|average|avg|minutes|hours|percent|url|link|phone|address)\b/;

/** Whether the numbers of a column count or measure something, by its name. */
export function isMeasure(words: string): boolean {
  return !NUMBERED.test(words);
}

/** Whether a column holds date-times. Digits aren't if its name says that they identify something. */
function holdsTimes({ words, values, survey }: FileColumn, now: number): boolean {
  const isNumbered = !isMeasure(words) && values.every(isDigits);
  return !isNumbered && timeReadingsOf(survey.shapes, now) !== undefined;
}

/** A telephone number: with a country code, or with its area code in parentheses. */
const PHONE = /^(?:(?:\+|00)[1-9]\d{6,14}|\(\d{2,5}\)\d{5,10})$/;
/** Whether most values look like telephone numbers. */
export function arePhones(values: readonly string[]): boolean {
  const phones = values.filter((value) => PHONE.test(value.replaceAll(/[\s./-]/g, "")));
  return isMost(phones.length, values);
}

/** A text, or a number with a fraction. Some scripts write texts without spaces. */
const NO_ID_VALUE = /\s|^-?\d+[.,]\d+$|^(?=\D*$).*[^\p{ASCII}]|.{65}/u;

/** Whether the values of a column may be identifiers, not people, texts or dates. Numbers may also be measures. */
export function mayIdentify(column: FileColumn, now: number): boolean {
  const { words, values } = column;
  if (NO_ID.test(words) || isCustomer(words) || areEmails(values) || arePhones(values)) return false;
  return !values.some((value) => NO_ID_VALUE.test(value.trim())) && !holdsTimes(column, now);
}

/** Whether the values of a column look like identifiers, not like people, texts, dates, sums or measures. */
export function isIdentifier(column: FileColumn, now: number): boolean {
  return !(column.survey.decimal !== undefined && isMeasure(column.words)) && mayIdentify(column, now);
}

/** Fewer rows may be numbered from 1 by chance. */
const COUNTED_ROWS_MIN = 3;

/** Whether values only number the rows: in another export, other items have the same numbers. */
function isRowNumber(values: readonly string[]): boolean {
  const first = Number(values[0]);
  const isFirst = first === 0 || first === 1;
  return (
    isFirst && values.length >= COUNTED_ROWS_MIN && values.every((value, index) => Number(value) === first + index)
  );
}

function countedRows(rows: number, one: string, many: string): string {
  return rows === 1 ? `1 row ${one}` : `${rows.toLocaleString("en-US")} rows ${many}`;
}

/** What speaks against the IDs that were compared. */
function doubtsOfCompared({ doubts: ofForms, repeatedRows, oddRows, odd: [odd], isComplete }: IdFindings): string[] {
  const doubts = [...ofForms];
  if (repeatedRows > 0) doubts.push(`${countedRows(repeatedRows, "repeats", "repeat")} an ID`);
  if (odd !== undefined) {
    doubts.push(
      `${countedRows(oddRows, "has", "have")} an ID that differs from what you see: ` +
        `"${odd.externalId}" in row ${odd.row} has ${odd.oddity}`,
    );
  }
  if (repeatedRows === 0 && !isComplete) doubts.push("not all rows could be compared");
  return doubts;
}

/**
 * Why a column may not hold IDs; empty without doubt.
 * @param isCertain whether its name leaves no doubt
 * @param ids what a comparison of its values in all rows showed
 * @param emptyRows the rows in which it has no value
 */
export function doubtsOfIds(
  { values, survey }: FileColumn,
  isCertain: boolean,
  ids: IdFindings,
  emptyRows: number,
): string[] {
  const phone = arePhones(values) ? values[0] : undefined;
  const [[word, rows] = ["", 0]] = survey.emptyWords;
  const doubtOfEmpty = emptyRows === 0 ? [] : [`${countedRows(emptyRows, "has", "have")} no ID`];
  return [
    ...(rows === 0 ? doubtOfEmpty : [`${countedRows(rows, "has", "have")} "${word}" in place of an ID`]),
    ...(phone === undefined ? [] : [`values such as "${phone}" look like telephone numbers`]),
    ...doubtsOfCompared(ids),
    ...(!isCertain && ids.repeatedRows === 0 && isRowNumber(values) ? ["its values only number the rows"] : []),
  ];
}
