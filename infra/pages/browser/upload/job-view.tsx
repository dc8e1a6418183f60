import { useEffect, useState } from "preact/hooks";
import { type Api, CallError, type Job } from "./api.ts";
import { inPageWords } from "./field-names.ts";
import { FailedRows } from "./failed-rows.tsx";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { Alert, Heading } from "./parts.tsx";
import { TrialNotes, withPrefix } from "./trial-notes.tsx";
import { Counts, doneIn, Running } from "./job-progress.tsx";
import { type Moment, withMoment } from "./progress.ts";
import { type EarlierMapping, send, type Sent, triedBy } from "./send.ts";
import type { Repairs } from "@work-items/importer/files/repairs.ts";
import { countOf, sentenceOf, shownNumber, shownTime } from "./shown.ts";
import { NOT_KNOWN, UndoOffer, UndoView } from "./undo-view.tsx";

function isEnded({ status }: Job): boolean {
  return status !== "pending" && status !== "processing";
}

/** What is said of a job while it runs and after it. */
function statusOf({ status, dry_run: isTrial }: Job, name: string): string {
  const sentences = {
    pending: `${name} is waiting to start.`,
    processing: isTrial ? `Checking ${name}…` : `Importing ${name}…`,
    completed: isTrial ? "Trial run finished. Nothing was saved." : "Import finished.",
    failed: isTrial ? "Trial run failed. Nothing was saved." : "Import failed.",
    cancelled: isTrial ? "Trial run cancelled. Nothing was saved." : "Import cancelled. Rows imported so far stay.",
  } as const;
  return sentences[status];
}

/** Asks for a job until it has ended. A failed request is repeated: the job goes on meanwhile. */
function useJob(api: Api, id: string) {
  const [job, setJob] = useState<Job>();
  const [error, setError] = useState<string>();
  const [moments, setMoments] = useState<readonly Moment[]>([]);
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
        setMoments((before) => withMoment(before, { at: Date.now(), rows: doneIn(answer.job) }));
        if (isEnded(answer.job)) return;
        seconds = answer.retryAfterSeconds;
      } catch (caught) {
        if (isOver) return;
        setError(caught instanceof CallError && caught.status === 404 ? NOT_KNOWN : sentenceOf(caught));
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
  return { job, error, setError, moments };
}

/** What can be done with a job that has ended: the list of the result of each row, and its mapping for another file. */
function AfterEnd({
  api,
  job,
  onUseAgain,
  onError,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly onUseAgain: (mapping: EarlierMapping) => void;
  readonly onError: (sentence: string) => void;
}) {
  const { id, mapping, file_name: fileName = "an earlier file" } = job;
  const isImport = !job.dry_run && job.undo_of === undefined;
  const items = mapping?.event ? "its items" : `the ${countOf(job.succeeded_rows, "item")}`;
  const download = async (): Promise<void> => {
    try {
      const url = await api.listUrl(id, "results");
      if (url !== null) location.assign(url);
    } catch (caught) {
      onError(sentenceOf(caught));
    }
  };
  return (
    <p class="buttons">
      {isImport && job.succeeded_rows > 0 && (
        <a class="button main" href={`#items?upload=${id}`}>
          View {items}
        </a>
      )}
      {doneIn(job) > 0 && (
        <button type="button" onClick={() => void download()}>
          {job.undo_of === undefined ? "Download row-by-row results" : "Download item-by-item results"}
        </button>
      )}
      {mapping && job.undo_of === undefined && (
        <button type="button" onClick={() => onUseAgain({ jobId: id, fileName, mapping })}>
          Use this mapping for another file
        </button>
      )}
    </p>
  );
}

/** What a trial found, in a line. */
function shownFindings({ created_rows: created, updated_rows: updated, failed_rows: failed }: Job): string {
  const counts = [["created", created] as const, ["changed", updated] as const, ["failed", failed] as const];
  const shown = counts.filter(([, count]) => count > 0).map(([name, count]) => `${shownNumber(count)} ${name}`);
  return `Trial run: ${shown.join(", ") || "nothing would change"}`;
}

function importLabel({ repairs }: Sent): string {
  const corrected = [...repairs.values()].filter((cells) => cells.size > 0).length;
  return corrected === 0 ? "Import now" : `Import now with ${countOf(corrected, "corrected row")}`;
}

/** Whether the corrections are those with which the trial ran: others may change further items. */
function isTried(sent: Sent): boolean {
  return sent.tried === undefined || sent.tried === triedBy(sent);
}

/** One job: its progress while it is open, then what it did. @param sent its file, if this page has sent it */
export function JobView({
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
}) {
  const { job, error, setError, moments } = useJob(api, id);
  const [sending, setSending] = useState<number>();
  const [isStopping, setStopping] = useState(false);
  const hasTried = job?.dry_run === true && job.status === "completed";
  useEffect(() => {
    if (hasTried && sent && sent.tried === undefined)
      onSent({ ...sent, tried: triedBy(sent), trialId: id, found: shownFindings(job) });
  }, [hasTried, sent]);
  const cancel = (): void => {
    setStopping(true);
    api.cancel(id).catch((caught: unknown) => {
      setError(sentenceOf(caught));
      setStopping(false);
    });
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
        <Heading isStep={sent !== undefined}>Import</Heading>
        <Alert text={error} />
        {error === undefined && <p role="status">Loading…</p>}
      </>
    );
  }
  const running = !isEnded(job) && <Running job={job} moments={moments} isStopping={isStopping} onCancel={cancel} />;
  const afterEnd = isEnded(job) && <AfterEnd api={api} job={job} onUseAgain={onUseAgain} onError={setError} />;
  const times = (
    <p class="note">
      Started {shownTime(job.created_at)}, {isEnded(job) ? "ended" : "updated"} {shownTime(job.updated_at)}. Job{" "}
      {job.id}.
    </p>
  );
  if (job.undo_of !== undefined) {
    return (
      <>
        <UndoView api={api} job={job} error={error} afterEnd={afterEnd}>
          {running}
        </UndoView>
        {isEnded(job) && job.failed_rows > 0 && <FailedRows api={api} job={job} repairing={undefined} />}
        {times}
      </>
    );
  }
  const repairing = sent && {
    names: sent.table.names,
    mapping: sent.mapping,
    repairs: sent.repairs,
    before: job.mapping ?? sent.mapping,
    onRepair: (repairs: Repairs) => onSent({ ...sent, repairs }),
    onMapping: (mapping: Mapping) => onSent({ ...sent, mapping }),
  };
  const name = job.file_name ?? "The file";
  return (
    <>
      <Heading isStep={sent !== undefined}>{job.dry_run ? `Trial run of ${name}` : `Import of ${name}`}</Heading>
      <p role="status" class={`status ${job.status}`}>
        {statusOf(job, name)}
      </p>
      {job.error !== undefined && <p class="alert">{inPageWords(job.error)}</p>}
      <Alert text={error} />
      {running}
      <Counts job={job} />
      {hasTried && (
        <TrialNotes
          api={api}
          job={job}
          onPrefix={sent && ((prefix) => void sendAgain({ mapping: withPrefix(sent.mapping, prefix), dryRun: true }))}
        />
      )}
      {hasTried && sent && (
        <p class="buttons">
          {!isTried(sent) && (
            <button
              type="button"
              class="main"
              disabled={sending !== undefined}
              onClick={() => void sendAgain({ dryRun: true })}
            >
              {sending === undefined ? "Run the trial again with the corrections" : "Sending…"}
            </button>
          )}
          {sent.isChecked && (
            <button
              type="button"
              class={isTried(sent) ? "main" : undefined}
              disabled={sending !== undefined}
              onClick={() => void sendAgain({ dryRun: false })}
            >
              {sending === undefined ? importLabel(sent) : "Sending…"}
            </button>
          )}
          <a href="#import" class={sent.isChecked ? undefined : "button main"}>
            {sent.isChecked ? "Change the mapping" : "Check the likely columns, then import"}
          </a>
        </p>
      )}
      {(job.status === "failed" || job.status === "cancelled") && sent && (
        <p class="buttons">
          <button
            type="button"
            class="main"
            disabled={sending !== undefined}
            onClick={() => void sendAgain({ dryRun: job.dry_run })}
          >
            Start again
          </button>
        </p>
      )}
      {afterEnd}
      {isEnded(job) && job.failed_rows > 0 && (
        <FailedRows api={api} job={job} repairing={job.dry_run ? repairing : undefined} />
      )}
      {isEnded(job) && !job.dry_run && job.total_rows > 0 && <UndoOffer api={api} job={job} />}
      {times}
    </>
  );
}
