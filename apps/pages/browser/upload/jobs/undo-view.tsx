import { UNDO_DAYS } from "@work-items/lib/periods.ts";
import { type Api, hasStatus, type Job, sentenceOf } from "../parts/api.ts";
import { Alert, Button } from "../parts/parts.tsx";
import { countOf, shownAgo } from "../parts/shown.ts";
import { useWork } from "../parts/use-calls.ts";

const TOO_LATE = `This import ended more than ${UNDO_DAYS} days ago. It can no longer be undone.`;
/** What to know before an undo. */
const FINAL = "An undo can’t be undone: to apply the values again, import the file again.";
/** Why an import can’t be shown or undone. */
export const NOT_KNOWN =
  "This import doesn’t exist. If your organization’s data was moved, earlier imports can’t be shown or undone.";

function reasonOf(error: unknown): string {
  if (hasStatus(error, 410)) return TOO_LATE;
  return hasStatus(error, 404) ? NOT_KNOWN : sentenceOf(error);
}

/** A button that asks for an undo and shows its job. */
function UndoButton({
  api,
  importId,
  isTrial = false,
  children,
}: {
  readonly api: Api;
  readonly importId: string;
  readonly isTrial?: boolean;
  readonly children: string;
}) {
  const { isRunning, error, run } = useWork();
  const start = async (): Promise<void> => {
    const { id } = await api.uploads.undo(importId, { dryRun: isTrial }).catch((caught: unknown) => {
      const sentence = reasonOf(caught);
      throw new Error(sentence, { cause: caught });
    });
    location.hash = `#job=${id}`;
  };
  return (
    <>
      <Alert text={error} />
      <div class={isTrial ? undefined : "dock"}>
        <p class="buttons">
          <Button kind={isTrial ? undefined : "main loss"} disabled={isRunning} onClick={() => void run(start)}>
            {isRunning ? "Starting…" : children}
          </Button>
        </p>
        {!isTrial && <p class="note">{FINAL}</p>}
      </div>
    </>
  );
}

/** What the undo of an import did, or does. */
function stateOf({ status, ...undo }: Job): string {
  if (status === "cancelled") return "The undo of this import was cancelled.";
  if (status === "failed") return "The undo of this import failed.";
  if (status !== "completed") return "This import is being undone.";
  const kept = undo.partly_undone_rows + undo.kept_rows;
  const keeps = kept === 0 ? "" : ` ${countOf(kept, "row")} kept changes made since.`;
  return `This import was undone ${shownAgo(undo.updated_at)}.${keeps}`;
}

/** Says that an import was undone, or is being undone. @param undo undefined until it is loaded */
export function UndoState({ undoneBy, undo }: { readonly undoneBy: string; readonly undo: Job | undefined }) {
  return (
    <p>
      {undo && `${stateOf(undo)} `}
      <a href={`#job=${undoneBy}`}>View the undo</a>
    </p>
  );
}

/** Offers to undo an import that has ended, or says why it can’t be undone. @param undo an earlier undo of it */
export function UndoOffer({
  api,
  job,
  undo,
}: {
  readonly api: Api;
  readonly job: Job;
  readonly undo: Job | undefined;
}) {
  const isTooLate = Date.now() > Date.parse(job.updated_at) + UNDO_DAYS * 86_400_000;
  if (job.undone_by !== undefined && undo?.status !== "cancelled" && undo?.status !== "failed") return null;
  return (
    <section aria-labelledby="undo">
      <h2 id="undo">Undo</h2>
      {isTooLate ? (
        <p>{TOO_LATE}</p>
      ) : (
        <>
          <p class="note">
            A trial run first shows what would be deleted and restored. Changes that people or other imports have made
            since are kept. {FINAL}
          </p>
          <UndoButton api={api} importId={job.id} isTrial>
            Undo this import…
          </UndoButton>
        </>
      )}
    </section>
  );
}

/** What comes after an undo, or after its trial. */
export function NextOfUndo({ api, job }: { readonly api: Api; readonly job: Job }) {
  const { status, dry_run: isTrial, undo_of: importId = "" } = job;
  const props = { api, importId };
  if (!isTrial) {
    const isStopped = status === "failed" || status === "cancelled";
    return isStopped ? <UndoButton {...props}>Undo the rest</UndoButton> : null;
  }
  if (status !== "completed") return null;
  const hasEffect = job.deleted_rows + job.undone_rows + job.partly_undone_rows > 0;
  if (!hasEffect) return <p>Nothing would change, so there is nothing to undo.</p>;
  return <UndoButton {...props}>Undo now</UndoButton>;
}
