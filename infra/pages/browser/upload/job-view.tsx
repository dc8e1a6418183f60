import { useEffect, useRef, useState } from "preact/hooks";
import { type Api, CallError, type Job } from "./api.ts";
import { FailedRows } from "./failed-rows.tsx";
import { type Sent, send } from "./import-view.tsx";
import { Alert, Heading, sentenceOf, shownNumber, shownTime } from "./parts.tsx";

const isEnded = ({ status }: Job): boolean => status !== "pending" && status !== "processing";

const STATUS = {
  pending: "is waiting to be read",
  processing: "is being applied",
  completed: "is done",
  failed: "has failed",
  cancelled: "was cancelled",
} as const;

/** A duration as people say it. */
const shownDuration = (seconds: number): string => {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
};

interface Moment {
  readonly at: number;
  readonly rows: number;
}
const doneIn = ({ succeeded_rows: succeeded, failed_rows: failed }: Job): number => succeeded + failed;

/** Asks for a job until it has ended. A failed request is repeated: the job goes on meanwhile. */
const useJob = (api: Api, id: string) => {
  const [job, setJob] = useState<Job>();
  const [error, setError] = useState<string>();
  const [rate, setRate] = useState(0);
  const moments = useRef<Moment[]>([]);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      let seconds = 5;
      try {
        const answer = await api.getJob(id);
        if (isOver) return;
        setJob(answer.job);
        setError(undefined);
        const now = { at: Date.now(), rows: doneIn(answer.job) };
        moments.current = [...moments.current.filter(({ at }) => now.at - at < 30_000), now];
        const [first] = moments.current;
        if (first && now.at > first.at) setRate(((now.rows - first.rows) / (now.at - first.at)) * 1000);
        if (isEnded(answer.job)) return;
        seconds = answer.retryAfterSeconds;
      } catch (caught) {
        if (isOver) return;
        setError(sentenceOf(caught));
        if (caught instanceof CallError && [401, 403, 404, 422].includes(caught.status)) return;
      }
      timer = setTimeout(() => void ask(), Math.max(seconds, 0.5) * 1000);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [api, id]);
  return { job, setJob, error, setError, rate };
};

const Counts = ({ job }: { readonly job: Job }) => {
  const would = job.dry_run ? "would be " : "";
  const counts = [
    [`${would}created`, job.created_rows],
    [`${would}changed`, job.updated_rows],
    [job.dry_run ? "would stay as they are" : "unchanged", job.unchanged_rows],
    [`${would}restored`, job.restored_rows],
    [job.dry_run ? "would fail" : "failed", job.failed_rows],
  ] as const;
  return (
    <dl class="counts">
      {counts.map(([name, count]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shownNumber(count)}</dd>
        </div>
      ))}
    </dl>
  );
};

/** One job: its progress while it is open, then what it did. @param sent its file, if this page has sent it */
export const JobView = ({
  api,
  id,
  sent,
  onSent,
}: {
  readonly api: Api;
  readonly id: string;
  readonly sent: Sent | undefined;
  readonly onSent: (sent: Sent) => void;
}) => {
  const { job, setJob, error, setError, rate } = useJob(api, id);
  const [sending, setSending] = useState<number>();
  const cancel = async (): Promise<void> => {
    try {
      await api.cancel(id);
      setJob((await api.getJob(id)).job);
    } catch (caught) {
      setError(sentenceOf(caught));
    }
  };
  const importNow = async (): Promise<void> => {
    if (!sent) return;
    setSending(0);
    try {
      await send(api, { ...sent, dryRun: false }, onSent, setSending);
    } catch (caught) {
      setError(sentenceOf(caught));
    }
    setSending(undefined);
  };
  if (!job) {
    return (
      <>
        <Heading>Import</Heading>
        <Alert text={error} />
        {error === undefined && <p role="status">Asking for the job…</p>}
      </>
    );
  }
  const done = doneIn(job);
  const name = job.file_name ?? "The file";
  return (
    <>
      <Heading>{job.dry_run ? `Trial of ${name}` : `Import of ${name}`}</Heading>
      <p role="status">
        {name} {STATUS[job.status]}
        {job.dry_run && isEnded(job) ? ". Nothing was written." : "."}
      </p>
      {job.error !== undefined && <p class="alert">{job.error}</p>}
      <Alert text={error} />
      {!isEnded(job) && (
        <>
          <progress
            class="wide"
            {...(job.total_rows > 0 && { value: done, max: job.total_rows })}
            aria-label="Rows that are done"
          />
          <p>
            {shownNumber(done)} of {job.total_rows > 0 ? shownNumber(job.total_rows) : "?"} rows
            {rate > 0 && `, ${shownNumber(Math.round(rate))} a second`}
            {rate > 0 && job.total_rows > 0 && `, ${shownDuration((job.total_rows - done) / rate)} left`}
          </p>
          <p class="note">You may close this page: the job goes on. Its address brings you back here.</p>
          <button type="button" onClick={() => void cancel()}>
            Cancel
          </button>
        </>
      )}
      <Counts job={job} />
      {isEnded(job) && job.dry_run && job.status === "completed" && sent && (
        <p class="buttons">
          <button type="button" class="main" disabled={sending !== undefined} onClick={() => void importNow()}>
            {sending === undefined ? "Import it now" : "Sending…"}
          </button>
          <a href="#import">Change the mapping</a>
        </p>
      )}
      {isEnded(job) && job.failed_rows > 0 && <FailedRows api={api} job={job} />}
      <p class="note">
        Begun {shownTime(job.created_at)}, {isEnded(job) ? "ended" : "last changed"} {shownTime(job.updated_at)}. Job{" "}
        {job.id}.
      </p>
    </>
  );
};
