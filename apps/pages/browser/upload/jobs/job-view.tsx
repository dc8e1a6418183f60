import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { hasEnded } from "work-items-client/upload-calls.ts";
import { type Api, hasStatus, type Job, sentenceOf } from "../parts/api.ts";
import { undecidedEmptyCells } from "@work-items/importer/checks/empty-cells.ts";
import { readTrialRows } from "@work-items/importer/checks/trial-rows.ts";
import { BlankQuestion } from "./blank-question.tsx";
import { FailedRows } from "./failed-rows.tsx";
import { inPageWords } from "../parts/field-names.ts";
import { titleOfStep } from "../parts/import-steps.ts";
import { countsOf, doneIn, isUndo, Running, sentenceOfStatus } from "./job-progress.tsx";
import { Ago, Alert, Button, Facts, Heading, Loading } from "../parts/parts.tsx";
import { type Moment, withMoment } from "../parts/progress.ts";
import { send, type Sent, triedBy } from "../file/send.ts";
import { countOf, shownNumber } from "../parts/shown.ts";
import { asSentence } from "../file/table-file.ts";
import { TrialNotes, withPrefix } from "./trial-notes.tsx";
import { UndoResults } from "./undo-results.tsx";
import { NextOfUndo, NOT_KNOWN, UndoOffer, UndoState } from "./undo-view.tsx";
import { useLoaded, useWork } from "../parts/use-calls.ts";

/** When a job is asked for again after a failed request. The job continues in the meantime. */
const AFTER_FAILURE_MS = 5000;

/** Follows a job until it has ended. */
function useJob(api: Api, id: string) {
  const [job, setJob] = useState<Job>();
  const [error, setError] = useState<string>();
  const [moments, setMoments] = useState<readonly Moment[]>([]);
  const onProgress = (next: Job): void => {
    setJob(next);
    setError(undefined);
    setMoments((before) => withMoment(before, { at: Date.now(), rows: doneIn(next) }));
  };
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const follow = (): void =>
      void api.uploads.wait(id, { signal, onProgress }).catch((caught: unknown) => {
        if (signal.aborted) return;
        setError(hasStatus(caught, 404) ? NOT_KNOWN : sentenceOf(caught));
        if (!hasStatus(caught, 401, 403, 404, 422)) setTimeout(follow, AFTER_FAILURE_MS);
      });
    follow();
    return () => controller.abort();
  }, [api, id]);
  return { job, error, moments, onProgress };
}

/** What a trial found, in a line. */
function foundBy(job: Job): string {
  const { created_rows: created, updated_rows: updated, failed_rows: failed } = job;
  const counts = [
    ["would be created", created] as const,
    ["would be changed", updated] as const,
    ["would be restored", job.restored_rows] as const,
    ["would fail", failed] as const,
  ];
  const shown = counts.filter(([, count]) => count > 0).map(([name, count]) => `${shownNumber(count)} ${name}`);
  return `Trial run: ${shown.join(", ") || "nothing would change"}`;
}

/** What a button imports: "Import 2, leave out 4". @param job the trial */
function importLabel({ succeeded_rows: succeeded, failed_rows: failed }: Job, { leftOut }: Sent): string {
  const left = failed + leftOut.size;
  return left === 0
    ? `Import ${countOf(succeeded, "row")}`
    : `Import ${shownNumber(succeeded)}, leave out ${shownNumber(left)}`;
}

/** What comes after a trial: another one with the corrections, or the import. */
function NextOfTrial({
  api,
  job,
  sent,
  isInDoubt,
  isSending,
  onSend,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly sent: Sent;
  /** Whether the items that would change may be those of another system. */
  readonly isInDoubt: boolean;
  readonly isSending: boolean;
  readonly onSend: (changes: { readonly dryRun: boolean }) => void;
}) {
  const { trial } = sent;
  const me = useLoaded(() => api.me()).value;
  // Corrections made since the trial may change further items.
  const isTried = trial === undefined || trial.of === triedBy(sent);
  const label = isTried ? importLabel(job, sent) : "Import now with the corrections";
  const isAsked = isInDoubt || (trial !== undefined && trial.reopened > 0);
  return (
    <div class="dock">
      <p class="buttons">
        {!isTried && (
          <Button kind="main" disabled={isSending} onClick={() => onSend({ dryRun: true })}>
            {isSending ? "Sending…" : "Run the trial again with the corrections"}
          </Button>
        )}
        <Button
          kind={isTried ? "main" : undefined}
          disabled={isSending || isAsked || trial === undefined}
          onClick={() => onSend({ dryRun: false })}
        >
          {isSending ? "Sending…" : label}
        </Button>
      </p>
      {isAsked && <p>Answer the question above before you import.</p>}
      {me && !isAsked && (
        <p class="note">
          Imports into the organization <b>{me.organization}</b> with the key <b>{me.key.name}</b>.
        </p>
      )}
    </div>
  );
}

interface JobViewProps {
  readonly api: Api;
  readonly id: string;
  /** Its file, if this page sent it. */
  readonly sent: Sent | undefined;
  readonly onSent: (sent: Sent) => void;
  /** Uses its mapping for another file. */
  readonly onUseAgain: (job: Job) => void;
}

/** What can be done after a job has ended: download row-by-row results, and use its mapping for another file. */
function AfterEnd({ api, job, onUseAgain }: Pick<JobViewProps, "api" | "onUseAgain"> & { readonly job: Job }) {
  const { error, run } = useWork();
  const { id, mapping, succeeded_rows: succeeded } = job;
  const download = async (): Promise<void> => {
    const url = await api.listUrl(id, "results");
    if (url !== null) location.assign(url);
  };
  return (
    <>
      <p class="buttons">
        {!job.dry_run && !isUndo(job) && succeeded > 0 && (
          <a
            class={job.status === "completed" && !job.undone_by ? "button main" : "button"}
            href={`#items?upload=${id}`}
          >
            View its items
          </a>
        )}
        {doneIn(job) > 0 && <Button onClick={() => void run(download)}>Download row-by-row results</Button>}
        {mapping && !isUndo(job) && <Button onClick={() => onUseAgain(job)}>Use this mapping for another file</Button>}
      </p>
      <Alert text={error} />
    </>
  );
}

function titleOf(job: Job): string {
  if (isUndo(job)) return job.dry_run ? "Trial undo" : "Undo";
  return job.dry_run ? "Trial run" : "Import";
}

/** One job: its progress while it runs, then what it did. */
export function JobView({ api, id, sent, onSent, onUseAgain }: JobViewProps) {
  const { job, error, moments, onProgress } = useJob(api, id);
  const undoneBy = job?.undone_by;
  const undo = useLoaded(async () => undoneBy && (await api.uploads.get(undoneBy)), [undoneBy]).value || undefined;
  const sending = useWork();
  const titled = (title: string): string => (sent ? titleOfStep(sent.dryRun ? "Check" : "Import", title) : title);
  const isImportTrial = job?.dry_run === true && !isUndo(job);
  const hasTried = isImportTrial && job.status === "completed";
  const cells = sent ? undecidedEmptyCells(sent.mapping, sent.table.names, sent.table.survey) : [];
  const reading = useLoaded(
    async () => (hasTried ? readTrialRows(api.uploads.results(id), job, cells) : undefined),
    [hasTried],
  );
  const { reopened } = reading.value ?? {};
  useEffect(() => {
    if (!hasTried || !sent || sent.trial || reopened === undefined) return;
    onSent({ ...sent, trial: { id, of: triedBy(sent), found: foundBy(job), reopened } });
  }, [hasTried, sent, reopened]);
  const isOver = job !== undefined && hasEnded(job);
  const status = useRef<HTMLParagraphElement>(null);
  // The button that cancelled it is gone.
  useLayoutEffect(() => {
    if (isOver && document.activeElement === document.body) status.current?.focus({ preventScroll: true });
  }, [isOver]);
  if (!job) {
    const isMissing = error === NOT_KNOWN;
    return (
      <>
        <Loading key={isMissing} isStep={sent !== undefined} error={error}>
          {isMissing ? "Import not found" : titled("Import")}
        </Loading>
        {isMissing && (
          <p>
            <a href="#jobs">All imports</a>
          </p>
        )}
      </>
    );
  }
  const name = job.file_name ?? (isUndo(job) ? "the import" : "The file");
  const sendAgain = (changes: Partial<Sent> & { readonly dryRun: boolean }): void => {
    if (sent) void sending.run(() => send(api, { ...sent, ...changes }, onSent));
  };
  const failed = isOver && job.failed_rows > 0 && (
    <FailedRows api={api} job={job} sent={isImportTrial ? sent : undefined} onSent={onSent} />
  );
  return (
    <>
      <Heading isStep={sent !== undefined}>{titled(`${titleOf(job)} of ${name}`)}</Heading>
      <p role="status" class={`status ${job.status}`} ref={status} tabIndex={-1}>
        {sentenceOfStatus(job, name)}
      </p>
      {undoneBy !== undefined && <UndoState undoneBy={undoneBy} undo={undo} />}
      {isUndo(job) && (
        <p>
          <a href={`#job=${job.undo_of!}`}>View the import of {name}</a>
        </p>
      )}
      {job.error !== undefined && <p class="alert">{asSentence(inPageWords(job.error))}</p>}
      <Alert text={sending.error ?? error} />
      {!isOver && <Running api={api} job={job} moments={moments} onJob={onProgress} />}
      {(job.status === "completed" || doneIn(job) > 0) && <Facts kind="counts" facts={countsOf(job)} />}
      {hasTried && (
        <TrialNotes
          api={api}
          job={job}
          reading={reading}
          sent={sent}
          onSame={() => sent && onSent({ ...sent, areSame: true })}
          onPrefix={(prefix) => sent && sendAgain({ mapping: withPrefix(sent.mapping, prefix), dryRun: true })}
          question={
            sent && <BlankQuestion {...{ job, sent, onSent, cells }} isSending={sending.isRunning} onSend={sendAgain} />
          }
          next={(isInDoubt) =>
            sent && <NextOfTrial {...{ api, job, sent, isInDoubt }} isSending={sending.isRunning} onSend={sendAgain} />
          }
        >
          {failed}
        </TrialNotes>
      )}
      {(job.status === "failed" || job.status === "cancelled") && sent && (
        <p class="buttons">
          <Button kind="main" disabled={sending.isRunning} onClick={() => sendAgain({ dryRun: job.dry_run })}>
            Start again
          </Button>
        </p>
      )}
      {job.status === "failed" && !sent && !isUndo(job) && (
        <p>
          Correct the file, then <a href="#import">import it again</a>.
        </p>
      )}
      {isUndo(job) && (
        <UndoResults api={api} job={job}>
          <NextOfUndo api={api} job={job} />
        </UndoResults>
      )}
      {isOver && <AfterEnd api={api} job={job} onUseAgain={onUseAgain} />}
      {!hasTried && failed}
      {isOver && !job.dry_run && !isUndo(job) && job.total_rows > 0 && <UndoOffer api={api} job={job} undo={undo} />}
      <p class="note">
        Started <Ago time={job.created_at} />, {isOver ? "ended" : "updated"} <Ago time={job.updated_at} />. ID {job.id}
        .
      </p>
    </>
  );
}
