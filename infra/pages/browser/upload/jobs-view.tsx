import type { Api, Job } from "./api.ts";
import { Alert, Heading, Table } from "./parts.tsx";
import { useList } from "./use-list.ts";
import { shownNumber, shownTime } from "./shown.ts";

const STATUS = {
  pending: "Waiting",
  processing: "Running",
  completed: "Finished",
  failed: "Failed",
  cancelled: "Cancelled",
} as const;

function linkTo(id: string, text: string) {
  return <a href={`#job=${id}`}>{text}</a>;
}

/** The name of a job, and of the import that it undoes, with links to both. */
function nameOf({ id, file_name: name, undo_of: importId, dry_run: isTrial }: Job) {
  if (importId === undefined) return linkTo(id, name ?? id);
  return (
    <>
      {linkTo(id, isTrial ? "Trial undo" : "Undo")} of {linkTo(importId, name ?? importId)}
    </>
  );
}

function statusOf({ status, dry_run: isTrial }: Job): string {
  return isTrial ? `Trial run, ${STATUS[status].toLowerCase()}` : STATUS[status];
}

/** The organization's imports, newest first. */
export function JobsView({ api }: { readonly api: Api }) {
  const { entries, isLoading, error, more } = useList<Job>(api, "v1/work_items/upload", { limit: "20" });
  // An undo is newer than its import, and stands before it. Of several, the last counts.
  const undos = entries.filter(({ undo_of: importId, dry_run: isTrial }) => importId !== undefined && !isTrial);
  const undoOf = new Map(undos.toReversed().map((job) => [job.undo_of, job]));
  return (
    <>
      <Heading>Imports</Heading>
      <Alert text={error} />
      {entries.length > 0 && (
        <Table
          caption="Imports, newest first"
          columns={["File", "Started", "Key", "Status", "Rows", "Failed"]}
          rows={entries.map((job) => [
            nameOf(job),
            shownTime(job.created_at),
            job.key_name ?? "",
            <>
              <span class={`status ${job.status}`}>{statusOf(job)}</span>
              {undoOf.get(job.id)?.status === "completed" && <>, {linkTo(undoOf.get(job.id)!.id, "undone")}</>}
            </>,
            shownNumber(job.total_rows),
            <span key={`${job.id} failed`} class={job.failed_rows === 0 ? "zero" : "failed"}>
              {shownNumber(job.failed_rows)}
            </span>,
          ])}
        />
      )}
      <p role="status">
        {isLoading && "Loading…"}
        {!isLoading && entries.length === 0 && error === undefined && (
          <>
            No imports yet. <a href="#import">Import a file</a> to begin.
          </>
        )}
      </p>
      {more && (
        <button type="button" disabled={isLoading} onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}
