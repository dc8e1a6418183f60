import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../lib/clock.ts";
import type { FaultyCalls } from "./faulty-calls.ts";
import type { FindingKind } from "./findings.ts";
import { type Job, ROW_COUNTERS } from "./upload-request.ts";

const MINUTE_MS = 60_000;
/** A job whose worker died continues within two minutes, as docs/reference says, and a sweep at most a minute late. */
const RESUMED_WITHIN_MS = 3 * MINUTE_MS;
/** A job that saves nothing ends within this time, and again a sweep later. */
const SAVED_WITHIN_MS = 11 * MINUTE_MS;
/** HeadObject requests of the sweep for one job. */
const HEADS_MAX = 60;

/** Dependencies of `createWatch`. */
interface Watched {
  readonly clock: Clock;
  readonly faulty: FaultyCalls;
  readonly isForm: boolean;
  /** Claims of the file or a bucket in a row without progress, or messages lost in a row. */
  readonly lossesOf: () => Promise<number>;
  readonly report: (kind: FindingKind, details: unknown) => void;
}

/** Measures by the clock how long a job waits for a message, and how long it saves nothing. */
export const createWatch = ({ clock, faulty, isForm, lossesOf, report }: Watched) => {
  const requestedAt = clock();
  const headsBefore = faulty.heads();
  let idleSince: number | undefined;
  let hasReported = false;
  let saved: { readonly at: number; readonly counters: readonly number[]; readonly status: string } | undefined;

  /** A job of a form whose file is not read yet is looked at each minute, or after a tenth of its age. */
  const limitFor = (status: string): number =>
    isForm && status === "pending" ? Math.max(MINUTE_MS, (clock() - requestedAt) / 10) + MINUTE_MS : RESUMED_WITHIN_MS;

  return {
    /** Called when the file of a form is there. */
    onPosted: (): void => {
      const heads = faulty.heads() - headsBefore;
      if (heads > HEADS_MAX) report("wrong label", { heads });
    },
    /** Called often while the job has not ended. @param hasMessage whether there is a message that can continue it */
    look: async (job: Job, hasMessage: boolean): Promise<void> => {
      const counters = ROW_COUNTERS.map((name) => job[name]);
      if (saved?.status !== job.status || !isDeepStrictEqual(saved.counters, counters)) {
        saved = { at: clock(), counters, status: job.status };
      }
      if (hasMessage) idleSince = undefined;
      else idleSince ??= clock();
      if (idleSince === undefined || hasReported || clock() - idleSince <= limitFor(job.status)) return;
      if ((await lossesOf()) > 1) return;
      hasReported = true;
      report("lost", { "not resumed for": clock() - idleSince, isForm, job });
    },
    /** Called when a message is delivered, or a sweep may have lost one: each failure has its own time. */
    onChange: (): void => {
      idleSince = undefined;
    },
    /** Whether a slow job has saved nothing for so long that it should have ended. */
    hasStopped: (): boolean => saved !== undefined && clock() - saved.at > SAVED_WITHIN_MS,
    /** Whether a job may have failed: it has a reason, and saved nothing. */
    mayFail: ({ status, error }: Job): boolean => status === "failed" && error !== undefined,
  };
};
