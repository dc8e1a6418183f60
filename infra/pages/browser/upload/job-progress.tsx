import type { Job } from "./api.ts";
import { Line, StackedBar } from "./charts.tsx";
import { type Moment, rateOf, ratesOf, shownProgress } from "./progress.ts";
import { shownNumber } from "./shown.ts";

/** The rows of a job with a result. */
export function doneIn({ succeeded_rows: succeeded, failed_rows: failed }: Job): number {
  return succeeded + failed;
}

/** What the rows of a job did, or would do. */
function countsOf(job: Job) {
  const would = job.dry_run ? "would be " : "";
  return [
    { kind: "created", name: `${would}created`, count: job.created_rows },
    { kind: "changed", name: `${would}changed`, count: job.updated_rows },
    { kind: "unchanged", name: job.dry_run ? "would stay unchanged" : "unchanged", count: job.unchanged_rows },
    { kind: "restored", name: `${would}restored`, count: job.restored_rows },
    { kind: "failed", name: job.dry_run ? "would fail" : "failed", count: job.failed_rows },
  ] as const;
}

/** Numbers of rows by what they did. */
export function Counts({ job }: { readonly job: Job }) {
  const counts = countsOf(job);
  return (
    <>
      <StackedBar bars={counts} total={Math.max(job.total_rows, doneIn(job))} />
      <dl class="counts">
        {counts.map(({ kind, name, count }) => (
          <div key={kind} class={count === 0 ? "zero" : kind}>
            <dt>{name}</dt>
            <dd>{shownNumber(count)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** How far a job is that hasn't ended, and the button that cancels it. */
export function Running({
  job,
  moments,
  isStopping,
  onCancel,
}: {
  readonly job: Job;
  readonly moments: readonly Moment[];
  /** Whether it was cancelled, and the rows that have begun are being finished. */
  readonly isStopping: boolean;
  readonly onCancel: () => void;
}) {
  const done = doneIn(job);
  const rate = rateOf(moments);
  const what = job.dry_run ? "trial run" : job.undo_of === undefined ? "import" : "undo";
  return (
    <>
      <progress
        class="wide"
        {...(job.total_rows > 0 && { value: done, max: job.total_rows })}
        aria-label="Rows processed"
      />
      <p>{shownProgress(done, job.total_rows, rate, job.undo_of === undefined ? "rows" : "items")}</p>
      <Line values={ratesOf(moments)} title={`Rows a second, now ${shownNumber(Math.round(rate))}`} />
      {isStopping ? (
        <p role="status">Stopping… Rows that have begun are finished first.</p>
      ) : (
        <p class="note">
          You can close this page; the {what} continues. Come back any time with{" "}
          <a href={`#job=${job.id}`}>this link</a>.
        </p>
      )}
      <button type="button" disabled={isStopping} onClick={onCancel}>
        {isStopping ? "Stopping…" : "Cancel"}
      </button>
    </>
  );
}
