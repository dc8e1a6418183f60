import type { Api, Job } from "./api.ts";
import { isUndo } from "./job-progress.tsx";
import { Heading, List, Table } from "./parts.tsx";
import { shownNumber, shownTime } from "./shown.ts";
import { useList } from "./use-calls.ts";

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

export function JobsView({ api }: { readonly api: Api }) {
  const list = useList((cursor) => api.list<Job>("v1/work_items/upload", { limit: "20", cursor }));
  const { entries } = list;
  // An undo comes before its import, since it is newer. The newest of several undos counts.
  const undos = entries.filter((job) => isUndo(job) && !job.dry_run);
  const undoOf = new Map(undos.toReversed().map((job) => [job.undo_of, job]));
  const rowOf = (job: Job) => {
    const { status, dry_run: isTrial, failed_rows: failed } = job;
    const undo = undoOf.get(job.id);
    return [
      <span class="lines">{nameOf(job)}</span>,
      shownTime(job.created_at),
      job.key_name ?? "",
      <>
        <span class={`status ${status}`}>
          {isTrial ? `Trial run, ${STATUS[status].toLowerCase()}` : STATUS[status]}
        </span>
        {undo?.status === "completed" && <>, {linkTo(undo.id, "undone")}</>}
      </>,
      shownNumber(job.total_rows),
      <span key="failed" class={failed === 0 ? "zero" : "failed"}>
        {shownNumber(failed)}
      </span>,
    ];
  };
  const empty = (
    <>
      No imports yet. <a href="#import">Import a file</a> to begin.
    </>
  );
  return (
    <>
      <Heading>Imports</Heading>
      <List list={list} status={entries.length === 0 && empty}>
        <Table
          caption="Imports, newest first"
          kind="list"
          columns={["File", "Started", "Key", "Status", "Rows", "Failed"]}
          rows={entries.map(rowOf)}
        />
      </List>
    </>
  );
}
