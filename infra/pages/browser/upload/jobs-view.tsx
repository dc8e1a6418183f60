import type { Api, Job } from "./api.ts";
import { Alert, Heading, Table } from "./parts.tsx";
import { useList } from "./use-list.ts";
import { shownNumber, shownTime } from "./shown.ts";

/** The organization's imports, newest first. */
export const JobsView = ({ api }: { readonly api: Api }) => {
  const { entries, isLoading, error, more } = useList<Job>(api, "v1/work_items/upload", { limit: "20" });
  return (
    <>
      <Heading>Imports</Heading>
      <Alert text={error} />
      {entries.length > 0 && (
        <Table
          caption="Imports, newest first"
          columns={["File", "Begun", "Status", "Rows", "Failed"]}
          rows={entries.map((job) => [
            <a key={job.id} href={`#job=${job.id}`}>
              {job.file_name ?? job.id}
            </a>,
            shownTime(job.created_at),
            job.dry_run ? `${job.status} (trial)` : job.status,
            shownNumber(job.total_rows),
            shownNumber(job.failed_rows),
          ])}
        />
      )}
      <p role="status">
        {isLoading ? "Loading…" : entries.length === 0 && error === undefined ? "There are no imports yet." : ""}
      </p>
      {more && (
        <button type="button" disabled={isLoading} onClick={more}>
          Show more
        </button>
      )}
    </>
  );
};
