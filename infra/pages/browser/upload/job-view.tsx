import { useEffect, useRef, useState } from "preact/hooks";
import { type Api, CallError, type Job } from "./api.ts";
import { FailedRows } from "./failed-rows.tsx";
import { Alert, Heading } from "./parts.tsx";
import { TrialNotes, withPrefix } from "./trial-notes.tsx";
import { type Moment, rateOf, shownProgress, withMoment } from "./progress.ts";
import { type EarlierMapping, send, type Sent } from "./send.ts";
import { sentenceOf, shownNumber, shownTime } from "./shown.ts";

const isEnded = ({ status }: Job): boolean => status !== "pending" && status !== "processing";

const STATUS = {
  pending: "is waiting to be read",
  processing: "is being applied",
  completed: "is done",
  failed: "has failed",
  cancelled: "was cancelled",
} as const;

const doneIn = ({ succeeded_rows: succeeded, failed_rows: failed }: Job): number => succeeded + failed;

/** Asks for a job until it has ended. A failed request is repeated: the job goes on meanwhile. */
const useJob = (api: Api, id: string) => {
  const [job, setJob] = useState<Job>();
  const [error, setError] = useState<string>();
  const [rate, setRate] = useState(0);
  const moments = useRef<readonly Moment[]>([]);
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
        moments.current = withMoment(moments.current, { at: Date.now(), rows: doneIn(answer.job) });
        setRate(rateOf(moments.current));
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

/** What can be done with a job that has ended: the list of what became of each row, and its mapping for another file. */
const AfterEnd = ({
  api,
  job,
  onUseAgain,
  onError,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly onUseAgain: (mapping: EarlierMapping) => void;
  readonly onError: (sentence: string) => void;
}) => {
  const { id, mapping, file_name: fileName = "an earlier file" } = job;
  const download = async (): Promise<void> => {
    try {
      const { data } = await api.get<{ readonly data: { readonly url: string | null } }>(
        `v1/work_items/upload/${encodeURIComponent(id)}/results`,
      );
      if (data.url !== null) location.assign(data.url);
    } catch (caught) {
      onError(sentenceOf(caught));
    }
  };
  return (
    <p class="buttons">
      {doneIn(job) > 0 && (
        <button type="button" onClick={() => void download()}>
          Download what became of each row
        </button>
      )}
      {mapping && (
        <button type="button" onClick={() => onUseAgain({ jobId: id, fileName, mapping })}>
          Use this mapping for another file
        </button>
      )}
    </p>
  );
};

/** One job: its progress while it is open, then what it did. @param sent its file, if this page has sent it */
export const JobView = ({
  api,
  id,
  sent,
  onSent,
  onUseAgain,
}: {
  readonly api: Api;
  readonly id: string;
  readonly sent: Sent | undefined;
  readonly onSent: (sent: Sent) => void;
  readonly onUseAgain: (mapping: EarlierMapping) => void;
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
  const sendAgain = async (changes: Partial<Sent> & { readonly dryRun: boolean }): Promise<void> => {
    if (!sent) return;
    setSending(0);
    try {
      await send(api, { ...sent, ...changes }, onSent, setSending);
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
      <Heading>{job.dry_run ? `Trial run of ${name}` : `Import of ${name}`}</Heading>
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
          <p>{shownProgress(done, job.total_rows, rate)}</p>
          <p class="note">You may close this page: the job goes on. Its address brings you back here.</p>
          <button type="button" onClick={() => void cancel()}>
            Cancel
          </button>
        </>
      )}
      <Counts job={job} />
      {isEnded(job) && job.dry_run && job.status === "completed" && sent && (
        <p class="buttons">
          {sent.isChecked && (
            <button
              type="button"
              class="main"
              disabled={sending !== undefined}
              onClick={() => void sendAgain({ dryRun: false })}
            >
              {sending === undefined ? "Import now" : "Sending…"}
            </button>
          )}
          <a href="#import">{sent.isChecked ? "Change the mapping" : "Check the likely columns, then import"}</a>
        </p>
      )}
      {job.status === "completed" && job.dry_run && (
        <TrialNotes
          api={api}
          job={job}
          onPrefix={sent && ((prefix) => void sendAgain({ mapping: withPrefix(sent.mapping, prefix), dryRun: true }))}
        />
      )}
      {isEnded(job) && <AfterEnd api={api} job={job} onUseAgain={onUseAgain} onError={setError} />}
      {isEnded(job) && job.failed_rows > 0 && <FailedRows api={api} job={job} />}
      <p class="note">
        Begun {shownTime(job.created_at)}, {isEnded(job) ? "ended" : "last changed"} {shownTime(job.updated_at)}. Job{" "}
        {job.id}.
      </p>
    </>
  );
};
