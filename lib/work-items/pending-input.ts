import { describeProblems, type Problem } from "../errors.ts";
import type { WriteResult } from "../store/optimistic-write.ts";
import { NO_CHANGES, type RowChanges } from "./changed-fields.ts";
import type { ItemPlan } from "./plan-apply.ts";
import type { RowOutcome } from "./applied-rows.ts";
import type { WorkItem, WorkItemInput } from "./work-item.ts";

/** One input to apply. */
export interface ItemInput {
  readonly input: WorkItemInput;
  /** Number of its CSV row, if it comes from a file. */
  readonly row?: number;
}

/** Why an input couldn't be applied. */
interface ItemError {
  /** The problem with its location in the input. */
  readonly message: string;
  readonly problem: Problem;
  readonly permanent: boolean;
}

/** The outcome of an input. */
export interface ItemResult {
  readonly id: string;
  readonly outcome: RowOutcome;
  /** The item after this input; null if the input couldn't be applied. */
  readonly item: WorkItem | null;
  /** What the row of a dry run changes in its item; empty for all other inputs, and if the input couldn't be applied. */
  readonly changes: RowChanges;
  /** Whether its item and events remember that its job has applied the whole input before. */
  readonly recognized: boolean;
  /** Set if the outcome is `error`. After a temporary one (throttling, conflict, time), the input may succeed later. */
  readonly error: ItemError | null;
}

/** The error of an input whose plan throws. */
export const CANNOT_BE_APPLIED: Problem = { path: [], code: "invalid", message: "it cannot be applied" };

/** The error of an input whose item is deleted before one of its events is written. */
const ORPHANED: FailedWrite = { error: "the work item was deleted meanwhile; send it again", permanent: false };

/** A write that wasn't carried out. */
export type FailedWrite = Extract<WriteResult<unknown>, { error: string }>;

/** What an input does to its item. */
export interface ItemEffect {
  readonly plan: ItemPlan;
  readonly changes: RowChanges;
  /** Whether its job has applied it to the item before. */
  readonly recognized: boolean;
}

/** An input on its way to its result. The item is written first, then its events. */
export class PendingInput {
  readonly id: string;
  readonly input: WorkItemInput;
  /** Number of its CSV row; 0 if it doesn't come from a file. */
  readonly row: number;
  #outcome: RowOutcome = "error";
  #item: WorkItem | null = null;
  #changes = NO_CHANGES;
  #error: ItemError | null = null;
  #recognized = false;
  #hasNewEvents = false;

  constructor(id: string, { input, row = 0 }: ItemInput) {
    this.id = id;
    this.input = input;
    this.row = row;
  }

  get hasFailed(): boolean {
    return this.#outcome === "error";
  }

  get result(): ItemResult {
    return {
      id: this.id,
      outcome: this.#outcome,
      item: this.#item,
      changes: this.#changes,
      recognized: this.#recognized && !this.#hasNewEvents,
      error: this.#error,
    };
  }

  takeItem({ plan, changes, recognized }: ItemEffect): void {
    this.#recognized = recognized;
    if (plan.outcome === "error") {
      this.fail(plan.error);
    } else {
      this.#outcome = plan.outcome;
      this.#item = plan.next;
      this.#changes = changes;
    }
  }

  /** Records the outcome of one of its events. @param recognized whether its job has applied it to the event before */
  takeEvent(outcome: RowOutcome | "orphaned", recognized: boolean): void {
    if (recognized) this.#recognized = true;
    if (outcome === "orphaned") return this.failWrite(["events"], ORPHANED);
    if (outcome === "error") return this.fail(CANNOT_BE_APPLIED);
    if (outcome === "unchanged") return;
    if (!recognized) this.#hasNewEvents = true;
    if (this.#outcome === "unchanged") this.#outcome = "updated";
  }

  /** Fails for good, because of a problem. */
  fail(problem: Problem): void {
    const message = problem.path.length === 0 ? problem.message : describeProblems([problem]);
    this.#setError({ message, problem, permanent: true });
  }

  /** Fails because a write wasn't carried out. @param path of what it would have written, in the input */
  failWrite(path: Problem["path"], { error, permanent, cause }: FailedWrite): void {
    const code = cause === undefined ? "too_big" : "invalid";
    this.#setError({
      message: [...path, error].join(": "),
      problem: { path, code: permanent ? code : "busy", message: error },
      permanent,
    });
  }

  #setError(error: ItemError): void {
    this.#outcome = "error";
    this.#item = null;
    this.#changes = NO_CHANGES;
    this.#error = error;
  }
}
