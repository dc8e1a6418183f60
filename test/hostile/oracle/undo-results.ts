import { GONE, type KnownItem, MINE } from "./undone-item.ts";
import type { Oracle } from "./oracle.ts";

const OUTCOMES = {
  deleted: "deleted",
  undone: "undone",
  partly: "partly_undone",
  kept: "kept",
  dropped: "kept",
  unchanged: "unchanged",
};
const COUNTERS = [...new Set(Object.values(OUTCOMES)), "failed"];
/** An upload job, with its counters. */
export type Job = Readonly<Record<string, number>> & { readonly id: string; readonly status: string };

/** The outcome and reason of an item or event of which something stays. */
export const PARTLY = "partly changed";
/** Those of one of which all went back, but someone had dated the completion that a file set. */
export const UNDONE_UNFINISHED = "undone not_completed";

/** A row of a file. */
export interface FileRow {
  /** Empty for one without an ID, which fails. */
  readonly name: string;
  readonly event: string | undefined;
  readonly isValid: boolean;
  /** What it sets the attribute to that files clear; undefined if it leaves it as it is. */
  readonly gone: string | null | undefined;
  /** Whether it sets the status to completed. */
  readonly isCompleting: boolean;
}

/** Rows with the same name for what an undo does to them: an item, and the event of a row that can be applied. */
export function groupOf({ name, event, isValid }: FileRow): string {
  return isValid && event !== undefined ? `${name} ${event}` : name;
}

/** A line of the results of an undo. */
export interface UndoLine extends FileRow {
  readonly outcome: string;
  readonly reason: string | undefined;
}

/** A file and what became of it. */
export interface UndoneFile {
  readonly id: string;
  readonly rows: ReadonlyMap<number, FileRow>;
  /** What its undo does to rows of items that nobody else writes to, by item and event. */
  readonly expected: ReadonlyMap<string, string>;
  /** The items that someone has touched since. */
  readonly touched: readonly KnownItem[];
}

/** The counters of an ended undo are those of its list, which has each row of the file once. */
export function judgeLines(
  oracle: Oracle,
  file: UndoneFile,
  job: Job,
  results: ReadonlyMap<number, readonly string[]>,
): readonly UndoLine[] {
  const counted = Object.fromEntries(COUNTERS.map((name) => [name, 0]));
  const lines = [...results].map(([row, [name, , outcome = "", kept = ""]]): UndoLine => {
    counted[OUTCOMES[outcome as keyof typeof OUTCOMES] ?? "failed"]! += 1;
    const of = file.rows.get(row);
    const { reason, fields = {} } = (kept === "" ? {} : JSON.parse(kept)) as {
      readonly reason?: string;
      readonly fields?: Readonly<Record<string, { readonly imported?: string | null; readonly status?: string }>>;
    };
    const item = file.touched.find((each) => each.name === name);
    const isKept = outcome === "partly" && item?.gone === MINE;
    const shown = fields[GONE]?.imported;
    if (shown === undefined ? isKept && of?.gone !== undefined : shown !== of?.gone)
      oracle.report("wrong", { job, row, of, kept });
    // The file's completion is taken back, and its date stays.
    const isOpen = item?.isDated === true && (outcome === "undone" || outcome === "partly");
    const { completed_at: date } = fields;
    const isNamed = date !== undefined && date.imported === undefined && date.status === "pending";
    if (isOpen && of?.isCompleting ? !isNamed : date !== undefined) oracle.report("wrong", { job, row, of, kept });
    const stays = outcome === "kept" || outcome === "partly" || outcome === "dropped" || isOpen;
    if (of?.name !== name || stays !== (reason !== undefined)) oracle.report("wrong", { job, row, of, outcome, kept });
    return { ...of!, outcome, reason };
  });
  const isExact = COUNTERS.every((name) => counted[name] === job[`${name}_rows`]);
  const isWhole = job.status !== "completed" || (lines.length === job["total_rows"] && job["failed_rows"] === 0);
  if (!isExact || !isWhole) oracle.report("doubled", { job, counted, lines: lines.length });
  return lines;
}

/** Rows of the same item and event have one outcome, and only one undo of a file does anything to them. */
export function judgeRows(
  oracle: Oracle,
  { expected }: UndoneFile,
  jobs: readonly (readonly UndoLine[])[],
  { isTrial = false, mayFreeze = false },
): void {
  const groups = jobs.map((lines) => Map.groupBy(lines, (line) => groupOf(line)));
  for (const group of new Set(groups.flatMap((each) => [...each.keys()]))) {
    // A trial doesn't see what others write in between.
    if (isTrial && !expected.has(group)) continue;
    const all = groups.map((each) => [
      ...new Set(each.get(group)?.map(({ outcome, reason = "" }) => `${outcome} ${reason}`.trim())),
    ]);
    const effects = all.flat().filter((outcome) => outcome !== "unchanged");
    if (all.some(({ length }) => length > 1)) oracle.report("wrong", { "rows differ": group, all });
    else if (effects.length > 1) oracle.report("doubled", { "undone twice": group, all });
    const right = expected.get(group);
    // An undo that was cancelled may have done the event alone, and then not counted the row.
    const isPartOfIt = jobs.length > 1 && right === PARTLY && effects[0] === UNDONE_UNFINISHED;
    // With an item all its events are undone. An undo that was cancelled then doesn't come to their rows.
    const name = groups.flatMap((each) => each.get(group) ?? [])[0]?.name;
    const isWithItem = jobs
      .slice(0, -1)
      .some((lines) => lines.some((line) => line.name === name && line.outcome !== "unchanged"));
    // A worker that was frozen while it was writing may write after the end of a cancelled undo, which doesn't count that.
    const isLate = jobs.length > 1 && mayFreeze;
    const isUncounted = effects.length === 0 && (isWithItem || isLate);
    const isRight = effects[0] === right || isPartOfIt || isUncounted;
    if (right !== undefined && !isRight) oracle.report("lost", { group, all, right });
  }
}
