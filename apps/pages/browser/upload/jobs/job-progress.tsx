import { useState } from "preact/hooks";
import { SHARDS_MAX, WINDOW_ROWS_MAX } from "@work-items/lib/uploads/job/started-rows.ts";
import { hasEnded } from "work-items-client/upload-calls.ts";
import type { Api, Job } from "../parts/api.ts";
import { Alert, Button, type Fact } from "../parts/parts.tsx";
import { type Moment, rateOf, shownDuration, shownProgress } from "../parts/progress.ts";
import { countOf, shownNumber } from "../parts/shown.ts";
import { useWork } from "../parts/use-calls.ts";

/** Whether a job is an undo or a trial of one. */
export function isUndo({ undo_of: importId }: Job): boolean {
  return importId !== undefined;
}

function kindOf(job: Job): string {
  if (job.dry_run) return "Trial run";
  return isUndo(job) ? "Undo" : "Import";
}

/** The rows of a job with a result. */
export function doneIn({ succeeded_rows: succeeded, failed_rows: failed }: Job): number {
  return succeeded + failed;
}

/** A sentence about a job, while it runs and after it. */
export function sentenceOfStatus(job: Job, name: string): string {
  const isTrial = job.dry_run;
  const what = kindOf(job);
  const nothing = isUndo(job) ? " Nothing was changed." : " Nothing was saved.";
  const waiting = isTrial
    ? "The trial run is waiting to start."
    : "The undo is waiting to start, in case the import is still saving rows.";
  const undoing = isTrial ? `Checking what the undo of ${name} would change…` : `Undoing ${name}…`;
  const kept = isUndo(job) ? " Rows undone so far stay undone." : " Rows imported so far stay.";
  const sentences = {
    pending: isUndo(job) ? waiting : `${name} is waiting to start.`,
    processing: isUndo(job) ? undoing : `${isTrial ? "Checking" : "Importing"} ${name}…`,
    completed: `${what} finished.${isTrial ? nothing : ""}`,
    failed: `${what} failed.${isTrial ? nothing : kept}`,
    cancelled: `${what} cancelled.${isTrial ? nothing : kept}`,
  } as const;
  return sentences[job.status];
}

/** What the rows of an undo did, or would do. */
export function undoCountsOf(job: Job) {
  const would = job.dry_run ? "would be " : "";
  return [
    { outcome: "deleted", name: `${would}deleted`, count: job.deleted_rows },
    { outcome: "undone", name: `${would}restored to earlier values`, count: job.undone_rows },
    { outcome: "partly", name: `${would}partly restored`, count: job.partly_undone_rows },
    { outcome: "kept", name: `${would}kept`, count: job.kept_rows },
    { outcome: "unchanged", name: "with nothing to undo", count: job.unchanged_rows },
  ] as const;
}

/** How many rows of a job did what, or would. The class of a number is its outcome. */
export function countsOf(job: Job): Fact[] {
  const isTrial = job.dry_run;
  const would = isTrial ? "would be " : "";
  const counts = isUndo(job)
    ? undoCountsOf(job).map(({ outcome, name, count }) => [name, count, outcome] as const)
    : [
        [`${would}created`, job.created_rows] as const,
        [`${would}changed`, job.updated_rows] as const,
        [isTrial ? "would stay unchanged" : "unchanged", job.unchanged_rows] as const,
        [`${would}restored`, job.restored_rows] as const,
      ];
  return [...counts, [isTrial ? "would fail" : "failed", job.failed_rows, "failed"] as const].flatMap(
    ([name, count, kind]) => (count > 0 ? [[name, shownNumber(count), kind]] : []),
  );
}

/** How long an undo waits until it may begin, in seconds; 0 if it may. @param now milliseconds since the epoch */
function waitOf({ status, begins_at: beginsAt }: Job, now: number): number {
  return status === "pending" && beginsAt !== undefined ? Math.max(0, (Date.parse(beginsAt) - now) / 1000) : 0;
}

/** The progress of a running job, and the button that cancels it. */
export function Running({
  api,
  job,
  moments,
  onJob,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly moments: readonly Moment[];
  readonly onJob: (job: Job) => void;
}) {
  const { error, run } = useWork();
  const done = doneIn(job);
  /** The rows that were done when it was cancelled. Workers still finish those that they have started. */
  const [stoppedAt, setStoppedAt] = useState<number>();
  const isStopping = stoppedAt !== undefined;
  const cancel = async (): Promise<void> => {
    if (isStopping) return;
    setStoppedAt(done);
    const isCancelled = await run(async () => {
      // Each call waits some seconds for the end.
      for (let now: Job = job; !hasEnded(now); onJob(now)) now = await api.uploads.cancel(job.id);
    });
    if (!isCancelled) setStoppedAt(undefined);
  };
  const started = isStopping ? Math.min(SHARDS_MAX * WINDOW_ROWS_MAX, job.total_rows - stoppedAt) : 0;
  const what = kindOf(job).toLowerCase();
  const wait = waitOf(job, Date.now());
  return (
    <>
      <Alert text={error} />
      <progress
        class="chart"
        {...(job.total_rows > 0 && { value: done, max: job.total_rows })}
        aria-label="Rows processed"
      />
      <p>{wait > 0 ? `Starts in ${shownDuration(wait)}` : shownProgress(done, job.total_rows, rateOf(moments))}</p>
      {isStopping ? (
        <p role="status">
          Stopping…{" "}
          {started > 0 &&
            `At most ${countOf(started, "row")} that were started are finished first, ${shownNumber(done - stoppedAt)} so far.`}
        </p>
      ) : (
        <p class="note">
          You can close this page; the {what} continues. Come back any time with{" "}
          <a href={`#job=${job.id}`}>this link</a>.
        </p>
      )}
      <Button aria-disabled={isStopping} onClick={() => void cancel()}>
        {isStopping ? "Stopping…" : "Cancel"}
      </Button>
    </>
  );
}
