import { type Api, hasStatus, type Job } from "../parts/api.ts";
import { isUndo } from "./job-progress.tsx";
import { Ago, Heading, List, Table } from "../parts/parts.tsx";
import { countOf } from "../parts/shown.ts";
import { useList } from "../parts/use-calls.ts";

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

/** A trial belongs to the import of the same file that starts within this time. */
const TRIAL_MS = 86_400_000;

/** The import that a trial run led to, or whose undo it tried. @param later the jobs after it, newest first */
function importOf(trial: Job, jobs: readonly Job[], later: readonly Job[]): Job | undefined {
  if (isUndo(trial)) return jobs.find(({ id }) => id === trial.undo_of);
  const end = Date.parse(trial.created_at) + TRIAL_MS;
  const isOfFile = (job: Job): boolean => !job.dry_run && !isUndo(job) && job.file_name === trial.file_name;
  return later.findLast((job) => isOfFile(job) && Date.parse(job.created_at) < end);
}

/** Folded trial runs of an import. */
function Trials({ trials }: { readonly trials: readonly Job[] }) {
  return (
    <details>
      <summary>{countOf(trials.length, "trial run")}</summary>
      <ul class="folded-trials">
        {trials.map((trial) => (
          <li key={trial.id}>
            {linkTo(trial.id, isUndo(trial) ? "Trial undo" : "Trial run")}, {STATUS[trial.status].toLowerCase()},{" "}
            <Ago time={trial.created_at} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The rows of a table of jobs, newest first. Trial runs are below their imports. */
function rowsOf(jobs: readonly Job[]) {
  // An undo comes before its import, since it is newer. The newest of several undos counts.
  const undos = jobs.filter((job) => isUndo(job) && !job.dry_run);
  const undoOf = new Map(undos.toReversed().map((job) => [job.undo_of, job]));
  const trials = Map.groupBy(jobs, (job) => {
    const owner = job.dry_run ? importOf(job, jobs, jobs.slice(0, jobs.indexOf(job))) : undefined;
    return owner?.id;
  });
  return (trials.get(undefined) ?? []).map((job) => {
    const { status, dry_run: isTrial } = job;
    const undo = undoOf.get(job.id);
    const isUndone = undo?.status === "completed";
    const own = trials.get(job.id) ?? [];
    return [
      <>
        <span class="lines">{isUndone ? <s>{nameOf(job)}</s> : nameOf(job)}</span>
        {own.length > 0 && <Trials trials={own} />}
      </>,
      <>
        <span class={`status ${status}`}>
          {isTrial ? `Trial run, ${STATUS[status].toLowerCase()}` : STATUS[status]}
        </span>
        {isUndone && <> {linkTo(undo.id, "Undone")}</>}
      </>,
      <Ago key="started" time={job.created_at} />,
      job.key_name ?? "",
      job.total_rows,
      ...[job.created_rows, job.updated_rows].map((count) => (isUndo(job) ? "" : count)),
      job.failed_rows,
    ];
  });
}

/** A table of jobs. @param name what they are */
function JobsTable({ name, jobs }: { readonly name: string; readonly jobs: readonly Job[] }) {
  return (
    <Table
      caption={`${name}, newest first`}
      kind="list"
      columns={["File", "Status", "Started", "Key", "Rows", "Created", "Changed", "Failed"]}
      rows={rowsOf(jobs)}
    />
  );
}

function loadJobs(api: Api, limit: number, cursor: string) {
  return api.list<Job>("v1/work_items/upload", { limit: String(limit), cursor });
}

const LATEST_JOBS = 5;
const NO_JOBS = { data: [], meta: { page: {} } };

/** The last imports, with a link to all; nothing if there are none, or if the key can't read them. */
export function LatestImports({ api }: { readonly api: Api }) {
  const { more, ...list } = useList((cursor) =>
    loadJobs(api, LATEST_JOBS, cursor).catch((error: unknown) => {
      if (hasStatus(error, 403)) return NO_JOBS;
      throw error;
    }),
  );
  if (list.entries.length === 0 && list.error === undefined) return null;
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">Latest imports</h2>
      {/* More of them are on the page of all, but a list that couldn't be loaded is loaded again. */}
      <List list={{ ...list, more: list.error === undefined ? undefined : more }} status={undefined}>
        <JobsTable name="Latest imports" jobs={list.entries} />
        <p>
          <a href="#jobs">All imports</a>
        </p>
      </List>
    </section>
  );
}

export function JobsView({ api }: { readonly api: Api }) {
  const list = useList((cursor) => loadJobs(api, 20, cursor));
  const { entries } = list;
  const empty = (
    <>
      No imports yet. <a href="#import">Import a file</a> to create items from its rows.
    </>
  );
  return (
    <>
      <Heading>Imports</Heading>
      <List list={list} status={entries.length === 0 && empty}>
        <JobsTable name="Imports" jobs={entries} />
      </List>
    </>
  );
}
