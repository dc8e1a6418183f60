import { describeProblems, type Problem } from "../errors.ts";
import type { WriteResult } from "../store/optimistic-write.ts";
import type { ApplyPlan } from "./plan-apply.ts";
import type { RowOutcome } from "./upload-mark.ts";
import type { WorkItem, WorkItemInput } from "./work-item.ts";

/** One input to apply. */
export interface ApplyInput {
  readonly input: WorkItemInput;
  /** Number of its CSV row, if it comes from a file. */
  readonly row?: number;
}

/** Why an input could not be applied. */
interface ApplyError {
  /** The problem with its place in the input. */
  readonly message: string;
  readonly problem: Problem;
  readonly permanent: boolean;
}

/** The outcome of an input. */
export interface ApplyResult {
  readonly id: string;
  readonly outcome: RowOutcome;
  /** The item after this input; null if the input could not be applied. */
  readonly item: WorkItem | null;
  /** Whether its job has applied the whole input before, as the marks of its item and events say. */
  readonly recognized: boolean;
  /** Set if the outcome is `error`. If it is temporary (throttling, conflict, time), the input may succeed later. */
  readonly error: ApplyError | null;
}

/** The error of an input that makes its plan throw. */
export const CANNOT_BE_APPLIED: Problem = { path: [], code: "invalid", message: "it cannot be applied" };

/** A write that was not carried out. */
type FailedWrite = Extract<WriteResult<unknown>, { error: string }>;

/** The error of a write that was not carried out. @param path of what it would have written, in the input */
function writeError(path: Problem["path"], { error: message, permanent, cause }: FailedWrite): ApplyError {
  const code = cause === undefined ? "too_big" : "invalid";
  return {
    message: [...path, message].join(": "),
    problem: { path, code: permanent ? code : "busy", message },
    permanent,
  };
}

/** An input on its way to its result. The item is written first, then its events. */
export class AppliedInput {
  readonly id: string;
  readonly input: WorkItemInput;
  /** Number of its CSV row; 0 if it does not come from a file. */
  readonly row: number;
  #outcome: RowOutcome = "error";
  #item: WorkItem | null = null;
  #error: ApplyError | null = null;
  #recognized = false;
  #hasEventsLeft = false;

  constructor(id: string, { input, row = 0 }: ApplyInput) {
    this.id = id;
    this.input = input;
    this.row = row;
  }

  get hasFailed(): boolean {
    return this.#outcome === "error";
  }

  get result(): ApplyResult {
    return {
      id: this.id,
      outcome: this.#outcome,
      item: this.#item,
      recognized: this.#recognized && !this.#hasEventsLeft,
      error: this.#error,
    };
  }

  setRecognized(): void {
    this.#recognized = true;
  }

  /** Its item was written before, but not all of its events. */
  setEventLeft(): void {
    this.#hasEventsLeft = true;
  }

  /** Takes over the outcome of its item. */
  setPlan(plan: ApplyPlan): void {
    if (plan.outcome === "error") {
      this.fail(plan.error);
    } else {
      this.#outcome = plan.outcome;
      this.#item = plan.next;
    }
  }

  /** Takes over that one of its events has changed. */
  setEventChanged(): void {
    if (this.#outcome === "unchanged") this.#outcome = "updated";
  }

  /** Fails for good, because of a problem. */
  fail(problem: Problem): void {
    const message = problem.path.length === 0 ? problem.message : describeProblems([problem]);
    this.#setError({ message, problem, permanent: true });
  }

  /** Fails because a write was not carried out. @param path of what it would have written, in the input */
  failWrite(path: Problem["path"], failed: FailedWrite): void {
    this.#setError(writeError(path, failed));
  }

  #setError(error: ApplyError): void {
    this.#outcome = "error";
    this.#item = null;
    this.#error = error;
  }
}
