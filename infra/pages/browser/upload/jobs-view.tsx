import type { Api, Job } from "./api.ts";
import { Alert, Heading, Table } from "./parts.tsx";
import { useList } from "./use-list.ts";
import { shownNumber, shownTime } from "./shown.ts";

const STATUS = {
  pending: "Waiting",
  processing: "Importing",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
} as const;

/** The organization's imports, newest first. */
export function JobsView({ api }: { readonly api: Api }) {
  const { entries, isLoading, error, more } = useList<Job>(api, "v1/work_items/upload", { limit: "20" });
  return (
    <>
      <Heading>Imports</Heading>
      <Alert text={error} />
      {entries.length > 0 && (
        <Table
          caption="Imports, newest first"
          columns={["File", "Started", "Key", "Status", "Rows", "Failed"]}
          rows={entries.map((job) => [
            <a key={job.id} href={`#job=${job.id}`}>
              {job.file_name ?? job.id}
            </a>,
            shownTime(job.created_at),
            job.key_name ?? "",
            <span key={job.id} class={`status ${job.status}`}>
              {job.dry_run ? `Trial run ${job.status}` : STATUS[job.status]}
            </span>,
            shownNumber(job.total_rows),
            <span key={`${job.id} failed`} class={job.failed_rows === 0 ? "zero" : "failed"}>
              {shownNumber(job.failed_rows)}
            </span>,
          ])}
        />
      )}
      <p role="status">
        {isLoading ? "Loading…" : entries.length === 0 && error === undefined ? "No imports yet." : ""}
      </p>
      {more && (
        <button type="button" disabled={isLoading} onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}
