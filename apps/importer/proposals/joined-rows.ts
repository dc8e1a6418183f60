import { formOf } from "../ids/id-forms.ts";
import type { FileRow } from "../ids/repeated-ids.ts";

/** Limit of the values that are compared in the end. */
const KEPT_MAX = 100;

/** What is said about such rows, the first of them named; undefined without any. */
export function doubtOfJoined([row]: readonly number[]): string | undefined {
  if (row === undefined) return undefined;
  const doubt = `a value in row ${row} has lines that look like other rows, which wouldn't be imported`;
  return `${doubt}. A quotation mark may be missing; if so, correct the file`;
}

/**
 * Finds rows that a quotation mark at the beginning of a value has joined with those after it, up to the next mark. Such a
 * value has as many delimiters as whole rows, and its lines begin like rows.
 */
export class JoinedRows {
  readonly #delimiter: string;
  /** Values that may have rows in them, with how their lines begin, up to the first delimiter. */
  readonly #suspects: { readonly row: number; readonly starts: readonly string[] }[] = [];

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  observe({ row, cells }: FileRow): void {
    if (cells.length < 2 || this.#suspects.length === KEPT_MAX) return;
    const text = cells.find((cell) => cell.includes("\n"));
    if (text === undefined) return;
    const lines = text.split("\n");
    if (text.split(this.#delimiter).length - 1 !== (lines.length - 1) * (cells.length - 1)) return;
    this.#suspects.push({ row, starts: lines.slice(1).map((line) => line.split(this.#delimiter, 1)[0]!) });
  }

  /** The numbers of the rows. @param forms those of the first column; undefined if there are too many */
  result(forms: ReadonlySet<string> | undefined): number[] {
    const isStart = (text: string): boolean => forms?.has(formOf(text.trim())) === true;
    return this.#suspects.filter(({ starts }) => starts.every(isStart)).map(({ row }) => row);
  }
}
