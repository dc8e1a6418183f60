import { cellsOf, QUOTE_PROBLEMS, QuoteError, RecordEnds } from "../../../../lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";

/** What the service says of a file, as a sentence. */
export function asSentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;
}

/** Whether a row is a blank line. The service counts it and leaves it out. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === "";
}

/** The first rows of a CSV file as cells, and what is wrong with the row after them, as the service says it. */
export interface FirstRows {
  readonly rows: readonly (readonly string[])[];
  readonly problem: string | undefined;
}

/**
 * Reads the first complete rows of a CSV file.
 * @param isWhole whether the text is the whole file, whose last row needs no line end
 */
export function firstRows(text: string, delimiter: Delimiter, max: number, isWhole: boolean): FirstRows {
  const rows: string[][] = [];
  const ends = new RecordEnds();
  const found = ends.next(text);
  const complete = found.length;
  // The rest is a row if the text is whole. Otherwise, it is cut only to find out whether its quotes are wrong.
  if (isWhole || ends.isInQuotes) found.push(text.length);
  let start = 0;
  try {
    for (const end of found.slice(0, max)) {
      const record = text.slice(start, end);
      start = end;
      if (record !== "") rows.push(cellsOf(record, delimiter));
    }
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error;
    const isCut = !isWhole && rows.length === complete && error.message === QUOTE_PROBLEMS.isOpen;
    return { rows, problem: isCut ? undefined : `row ${rows.length + 1}: ${error.message}` };
  }
  return { rows, problem: undefined };
}
