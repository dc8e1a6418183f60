import type { Attributes } from "../aws/attribute-values.ts";

/** The outcome of a row of an upload, as the item that it was applied to remembers it. */
export type RowOutcome = "created" | "updated" | "unchanged" | "restored" | "error";

/** The outcome of an undo in an item or event, as it remembers it. `dropped`: what the upload changed isn't known any more. */
export type UndoOutcome = "undone" | "partly" | "kept" | "dropped" | "unchanged";

/** A row that a job has applied to an item. */
interface RowMark {
  /** Number of the row in the file. */
  readonly row: number;
  readonly outcome: RowOutcome | UndoOutcome;
}

/**
 * The rows that each upload job has applied to an item or event, in file order, by the job's id: those of the window
 * that is applied now, or was applied last. A job that applies a window again, because its worker died before it had counted them,
 * recognizes them, whatever other jobs and callers have changed since.
 */
export type UploadMarks = ReadonlyMap<string, readonly RowMark[]>;

/** Attribute that holds the marks. */
const MARKS = "upload_marks";

const CODES: Readonly<Record<RowMark["outcome"], string>> = {
  created: "c",
  updated: "u",
  unchanged: "n",
  restored: "r",
  error: "e",
  undone: "d",
  partly: "p",
  kept: "k",
  dropped: "x",
};
const OUTCOMES = new Map(Object.entries(CODES).map(([outcome, code]) => [code, outcome as RowMark["outcome"]]));

/** `5u1n20e` is row 5 updated, row 6 unchanged, row 26 failed: distances keep the text of a whole window short. */
function formatRows(rows: readonly RowMark[]): string {
  return rows.map(({ row, outcome }, index) => `${row - (rows[index - 1]?.row ?? 0)}${CODES[outcome]}`).join("");
}

function parseRows(text: string): RowMark[] {
  let row = 0;
  return [...text.matchAll(/(\d+)([a-z])/g)].map(([, distance, code = ""]) => {
    row += Number(distance);
    return { row, outcome: OUTCOMES.get(code) ?? "unchanged" };
  });
}

const NO_MARKS: UploadMarks = new Map();

/** The marks in the record of an item or event. */
export function uploadMarksOf(record: Attributes | undefined): UploadMarks {
  const text = record?.[MARKS];
  if (typeof text !== "string") return NO_MARKS;
  const marks = text.split(" ").map((mark) => mark.split(":", 2));
  return new Map(marks.map(([job = "", rows = ""]) => [job, parseRows(rows)]));
}

function formatMark([job, rows]: readonly [string, readonly RowMark[]]): string {
  return `${job}:${formatRows(rows)}`;
}

/** What is known of the rows that a job applies now. */
export interface KnownRows {
  /** Id of the job. */
  readonly job: string;
  /** First row of the window that is applied: no earlier row is ever applied again. */
  readonly firstRow: number;
  /** Jobs whose marks are not needed any more. */
  readonly ended: ReadonlySet<string>;
  /** Rows whose events the job has written, and so their items before. Grows with every read. */
  readonly withEvents: Set<number>;
}

const NO_ROWS: readonly RowMark[] = [];

/**
 * The marks of a record while rows of a job are planned on it. A class, since a file has as many as items. `O`: the outcomes that the
 * job's rows have.
 */
export class RecordMarks<O extends RowMark["outcome"] = RowOutcome> {
  readonly #marks: UploadMarks;
  readonly #of: KnownRows;
  readonly #before: readonly RowMark[];
  readonly #added: RowMark[] = [];

  constructor(record: Attributes | undefined, of: KnownRows) {
    this.#marks = uploadMarksOf(record);
    this.#of = of;
    this.#before = this.#marks.get(of.job) ?? NO_ROWS;
  }

  /** The outcome of a row that was applied to the record before; undefined if it was not. */
  outcomeOf(row: number): O | undefined {
    if (row > (this.#before.at(-1)?.row ?? 0)) return undefined;
    return (this.#before.find((mark) => mark.row === row)?.outcome ?? "unchanged") as O;
  }

  add(row: number, outcome: O): void {
    this.#added.push({ row, outcome });
  }

  /** Of the own job the rows of the window; of the others, those that have not ended. */
  attributes(): Attributes {
    const { job, firstRow, ended } = this.#of;
    const rows = [...this.#before.filter(({ row }) => row >= firstRow), ...this.#added];
    let text = "";
    for (const mark of this.#marks) if (mark[0] !== job && !ended.has(mark[0])) text += `${formatMark(mark)} `;
    return { [MARKS]: text + formatMark([job, rows]) };
  }
}
