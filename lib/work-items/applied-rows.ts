import type { Attributes } from "../aws/attribute-values.ts";
import type { StoredRecord } from "../store/versioned-record.ts";
import { type ItemFieldName, NO_CHANGES } from "./changed-fields.ts";
import { WORK_ITEM_FIELDS } from "./work-item-fields.ts";

/** The outcome of a row of an upload, as its item remembers it. */
export type RowOutcome = "created" | "updated" | "unchanged" | "restored" | "error";

/** A row that a job has applied to an item. */
interface AppliedRow {
  /** Number of the row in the file. */
  readonly row: number;
  readonly outcome: RowOutcome;
  /** The fields of the item that the row changes. Only dry runs, which show them, remember any. */
  readonly changed: readonly ItemFieldName[];
}

/** Attribute with what jobs have applied, as a text for each job: `<job>:5u1n20e <job>:k`. */
const APPLIED_ROWS = "applied_rows";

const CODES: Readonly<Record<RowOutcome, string>> = {
  created: "c",
  updated: "u",
  unchanged: "n",
  restored: "r",
  error: "e",
};
const OUTCOMES = new Map(Object.entries(CODES).map(([outcome, code]) => [code, outcome as RowOutcome]));

const FIELDS = new Map(
  Object.entries(WORK_ITEM_FIELDS).map(([name, { letter }]) => [letter as string, name as ItemFieldName]),
);

/**
 * `5u1n20e` is row 5 updated, row 6 unchanged, row 26 failed. Distances keep the text of a whole window short. In a dry run,
 * `5uDE` is row 5 which changes two fields, by their letters.
 */
function formatRows(rows: readonly AppliedRow[]): string {
  const texts = rows.map(({ row, outcome, changed }, index) => {
    const letters = changed.map((name) => WORK_ITEM_FIELDS[name].letter).join("");
    return `${row - (rows[index - 1]?.row ?? 0)}${CODES[outcome]}${letters}`;
  });
  return texts.join("");
}

function parseRows(text: string | undefined): AppliedRow[] {
  if (text === undefined) return [];
  let row = 0;
  return [...text.matchAll(/(\d+)([a-z])([A-Z]*)/g)].map(([, distance, code, letters]) => {
    row += Number(distance);
    const changed = Array.from(letters!, (letter) => FIELDS.get(letter)).filter((name) => name !== undefined);
    return { row, outcome: OUTCOMES.get(code!) ?? "unchanged", changed };
  });
}

const NO_JOBS: ReadonlyMap<string, string> = new Map();

/**
 * What jobs have applied to an item or event: a text for each job that has written it, by the job's id. Other writers keep
 * these texts. If a worker died before it counted its rows, its job applies them again and recognizes them, whatever has
 * changed since.
 */
export function appliedByJob(record: Attributes | undefined): ReadonlyMap<string, string> {
  const text = record?.[APPLIED_ROWS];
  if (typeof text !== "string") return NO_JOBS;
  return new Map(text.split(" ").map((entry) => entry.split(":", 2) as [job: string, own: string]));
}

/** The rows that a job has applied to a record, in file order: those of its current or last window. */
export function appliedRowsIn(record: Attributes | undefined, job: string): number[] {
  return parseRows(appliedByJob(record).get(job)).map(({ row }) => row);
}

/** What is known about the jobs that have written records. */
export interface KnownJobs {
  /** Id of the job that writes. */
  readonly job: string;
  /** Jobs that have ended: their rows are no longer needed. */
  readonly ended: ReadonlySet<string>;
}

/** The attribute after a job has written: the job's own text, and those of jobs that haven't ended. */
export function appliedAfter(record: Attributes | undefined, { job, ended }: KnownJobs, own: string): Attributes {
  const others = [...appliedByJob(record)].filter(([other]) => other !== job && !ended.has(other));
  return { [APPLIED_ROWS]: [...others, [job, own]].map((entry) => entry.join(":")).join(" ") };
}

/** The rows that a job applies now. */
export interface RowWindow extends KnownJobs {
  /** First row of the current window: earlier rows are never applied again. */
  readonly firstRow: number;
  /** Rows whose events the job has written, after their items. Grows with every read. */
  readonly withEvents: Set<number>;
}

/** The rows that were applied to a record, while a job plans more of them. A class, to save memory: files have many items. */
export class AppliedRows {
  readonly #record: Attributes | undefined;
  readonly #window: RowWindow;
  readonly #before: readonly AppliedRow[];
  readonly #added: AppliedRow[] = [];

  constructor(record: Attributes | undefined, window: RowWindow) {
    this.#record = record;
    this.#window = window;
    this.#before = parseRows(appliedByJob(record).get(window.job));
  }

  /** The outcome of a row that was applied to the record before; undefined if it wasn't. */
  outcomeOf(row: number): RowOutcome | undefined {
    if (row > (this.#before.at(-1)?.row ?? 0)) return undefined;
    return this.#find(row)?.outcome ?? "unchanged";
  }

  /** The fields that such a row changed in its item. Only dry runs remember any. */
  changedBy(row: number): readonly ItemFieldName[] {
    return this.#find(row)?.changed ?? NO_CHANGES.fields;
  }

  #find(row: number): AppliedRow | undefined {
    return this.#before.find((applied) => applied.row === row);
  }

  add(row: number, outcome: RowOutcome, changed = NO_CHANGES.fields): void {
    this.#added.push({ row, outcome, changed });
  }

  /** The rows of the job's window, and what jobs that haven't ended have applied. */
  attributes(): Attributes {
    const rows = [...this.#before.filter(({ row }) => row >= this.#window.firstRow), ...this.#added];
    return appliedAfter(this.#record, this.#window, formatRows(rows));
  }
}

/** The upload job that rows belong to. */
export interface RowSource extends Pick<RowWindow, "job" | "firstRow"> {
  /** When the job was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Whether the rows are only planned. The results are kept beside the items until the job is forgotten. */
  readonly dryRun?: boolean;
  /** Finds the jobs that have ended among some. */
  readonly findEnded: (jobs: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** Finds the ended ones among the jobs that have written records. */
export async function findKnownJobs(
  { job, findEnded }: Pick<RowSource, "job" | "findEnded">,
  records: Iterable<StoredRecord>,
): Promise<KnownJobs> {
  const jobs = new Set([...records].flatMap((record) => [...appliedByJob(record).keys()]));
  jobs.delete(job);
  return { job, ended: jobs.size === 0 ? jobs : await findEnded([...jobs]) };
}
