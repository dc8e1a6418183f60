import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Api, CallError, type Job } from "./api.ts";
import { Alert, Heading, Table } from "./parts.tsx";
import { countOf, sentenceOf, shownNumber, shownTime } from "./shown.ts";
import { type KeptItem, type KeptItems, readKeptItems } from "./undo-results.ts";

const UNDO_DAYS = 28;

/** Asks for an undo and shows its job. @returns why there is none */
async function startUndo(api: Api, importId: string, isTrial: boolean): Promise<string | undefined> {
  try {
    const { id } = await api.undo(importId, isTrial);
    location.hash = `#job=${id}`;
    return undefined;
  } catch (caught) {
    const status = caught instanceof CallError ? caught.status : 0;
    if (status === 410) return TOO_LATE;
    return status === 404 ? NOT_KNOWN : sentenceOf(caught);
  }
}

const TOO_LATE = `This import ended more than ${UNDO_DAYS} days ago. It can’t be undone any more.`;
/** Why an import can’t be shown or undone. */
export const NOT_KNOWN =
  "This import isn’t stored here. Imports from before your organization’s data was moved can’t be shown or undone.";

/** A button that asks for an undo. */
function UndoButton({
  api,
  importId,
  isTrial,
  label,
}: {
  readonly api: Api;
  readonly importId: string;
  readonly isTrial: boolean;
  readonly label: string;
}) {
  const [isStarting, setStarting] = useState(false);
  const [error, setError] = useState<string>();
  const start = async (): Promise<void> => {
    setStarting(true);
    setError(await startUndo(api, importId, isTrial));
    setStarting(false);
  };
  return (
    <>
      <p class="buttons">
        <button type="button" class={isTrial ? undefined : "main"} disabled={isStarting} onClick={() => void start()}>
          {isStarting ? "Starting…" : label}
        </button>
      </p>
      <Alert text={error} />
    </>
  );
}

/** What the undo of an import did, or does. */
function stateOf({ status, ...undo }: Job): string {
  if (status === "cancelled") return "The undo of this import was cancelled.";
  if (status === "failed") return "The undo of this import failed.";
  if (status !== "completed") return "This import is being undone.";
  const kept = undo.partly_undone_rows + undo.kept_rows;
  const keeps = kept === 0 ? "" : ` ${countOf(kept, "item")} kept changes made since.`;
  return `This import was undone on ${shownTime(undo.updated_at)}.${keeps}`;
}

/** Offers to undo an import that has ended, or says that it was undone, or why it can’t be. */
export function UndoOffer({ api, job }: { readonly api: Api; readonly job: Job }) {
  const [undo, setUndo] = useState<Job>();
  const { undone_by: undoneBy } = job;
  useEffect(() => {
    if (undoneBy !== undefined)
      api.getJob(undoneBy).then(
        (answer) => setUndo(answer.job),
        () => undefined,
      );
  }, [api, undoneBy]);
  const isTooLate = Date.now() > Date.parse(job.updated_at) + UNDO_DAYS * 86_400_000;
  const canStart = undoneBy === undefined || undo?.status === "cancelled" || undo?.status === "failed";
  return (
    <section aria-labelledby="undo">
      <h2 id="undo">Undo</h2>
      {undoneBy !== undefined && (
        <p>
          {undo && `${stateOf(undo)} `}
          <a href={`#job=${undoneBy}`}>View the undo</a>
        </p>
      )}
      {canStart && isTooLate && <p>{TOO_LATE}</p>}
      {canStart && !isTooLate && (
        <>
          <p class="note">
            A trial run first shows what would go back. Changes that people or other imports have made since are kept.
          </p>
          <UndoButton api={api} importId={job.id} isTrial label="Undo this import…" />
        </>
      )}
    </section>
  );
}

/** What is said of an undo while it runs and after it. */
function statusOf({ status, dry_run: isTrial }: Job, name: string): string {
  const sentences = {
    pending: isTrial
      ? "The trial run is waiting to start."
      : "The undo is waiting to start. It starts 40 seconds after the import has ended, or later.",
    processing: isTrial ? `Checking what the undo of ${name} would change…` : `Undoing ${name}…`,
    completed: isTrial ? "Trial run finished. Nothing was changed." : "Undo finished.",
    failed: isTrial ? "Trial run failed. Nothing was changed." : "Undo failed. Items undone so far stay undone.",
    cancelled: isTrial
      ? "Trial run cancelled. Nothing was changed."
      : "Undo cancelled. Items undone so far stay undone.",
  } as const;
  return sentences[status];
}

function Counts({ job }: { readonly job: Job }) {
  const isTrial = job.dry_run;
  const counts = [
    ["restored", isTrial ? "would go back" : "went back", job.undone_rows],
    ["changed", isTrial ? "would go back in part" : "went back in part", job.partly_undone_rows],
    ["", isTrial ? "would stay as they are" : "stayed as they are", job.kept_rows],
    ["", isTrial ? "have nothing to undo" : "had nothing to undo", job.unchanged_rows],
    ["failed", isTrial ? "would fail" : "failed", job.failed_rows],
  ] as const;
  return (
    <dl class="counts">
      {counts.map(([kind, name, count]) => (
        <div key={name} class={count === 0 ? "zero" : kind}>
          <dt>{name}</dt>
          <dd>{shownNumber(count)}</dd>
        </div>
      ))}
    </dl>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  changed: "Changed since",
  in_use: "Item used since",
  forgotten: "Too many later imports",
};

/** The cells of an item's kept fields, a row each. */
function rowsOf({ id, externalId, reason, fields, more }: KeptItem): ComponentChildren[][] {
  const link = <a href={`#item=${id}`}>{externalId}</a>;
  const why = REASONS[reason] ?? reason;
  if (fields.length === 0) return [[link, "(whole item)", "", "", why]];
  const rows = fields.map(({ label, imported, now }) => [link, label, imported, now, why]);
  return more === 0 ? rows : [...rows, [link, `and ${countOf(more, "other field")}`, "", "", why]];
}

/** The items of which an undo keeps something, with both values of each field. */
function Kept({ api, job }: { readonly api: Api; readonly job: Job }) {
  const [kept, setKept] = useState<KeptItems>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    const load = async (): Promise<void> => {
      const list = await api.readList(job.id, "results");
      if (list !== undefined) setKept(await readKeptItems(list.content));
    };
    load().catch((caught: unknown) => setError(sentenceOf(caught)));
  }, [api, job.id]);
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">{job.dry_run ? "What would be kept" : "What was kept"}</h2>
      <Alert text={error} />
      {kept && (
        <>
          <p>
            Someone has changed or used these items since the import.
            {!kept.isWhole && ` These are the first ${shownNumber(kept.items.length)}; the results have all of them.`}
          </p>
          <Table
            caption="Kept values"
            columns={["Item", "Field", "Value in the file", "Value now", "Why it’s kept"]}
            rows={kept.items.flatMap(rowsOf)}
          />
        </>
      )}
    </section>
  );
}

/** An undo, or its trial: what it takes back and what it keeps. @param children its progress, while it runs */
export function UndoView({
  api,
  job,
  error,
  children,
  afterEnd,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly error: string | undefined;
  readonly children: ComponentChildren;
  /** What can be downloaded once it has ended. */
  readonly afterEnd: ComponentChildren;
}) {
  const { status, dry_run: isTrial, undo_of: importId = "" } = job;
  const name = job.file_name ?? "the import";
  const hasEffect = job.undone_rows + job.partly_undone_rows > 0;
  const isStopped = !isTrial && (status === "failed" || status === "cancelled");
  return (
    <>
      <Heading>{isTrial ? `Trial undo of ${name}` : `Undo of ${name}`}</Heading>
      <p role="status" class={`status ${status}`}>
        {statusOf(job, name)}
      </p>
      <p>
        <a href={`#job=${importId}`}>View the import of {name}</a>
      </p>
      {job.error !== undefined && <p class="alert">{job.error}</p>}
      <Alert text={error} />
      {children}
      <Counts job={job} />
      {isTrial && status === "completed" && hasEffect && (
        <UndoButton api={api} importId={importId} isTrial={false} label="Undo now" />
      )}
      {isTrial && status === "completed" && !hasEffect && <p>Nothing would go back, so there is nothing to undo.</p>}
      {isStopped && <UndoButton api={api} importId={importId} isTrial={false} label="Undo the rest" />}
      {afterEnd}
      {afterEnd && job.partly_undone_rows + job.kept_rows > 0 && <Kept api={api} job={job} />}
      {!isTrial && afterEnd && (
        <p class="note">You can’t undo an undo. To set the values again, import the file again.</p>
      )}
    </>
  );
}
