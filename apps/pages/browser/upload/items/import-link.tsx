import { readFirstResults } from "@work-items/importer/checks/first-results.ts";
import type { Api, Item, Job } from "../parts/api.ts";
import { isUndo } from "../jobs/job-progress.tsx";
import { useLoaded } from "../parts/use-calls.ts";

/** An import with more rows isn't searched for an item. */
const SEARCHED_ROWS = 100_000;

/** The import whose results say that it created an item; undefined if none of the latest did. */
export async function importOf(
  api: Api,
  { id, created_at: at }: Item,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { data } = await api.list<Job>("v1/work_items/upload", { limit: "100" });
  for (const job of data) {
    if (job.dry_run || isUndo(job) || job.created_at > at || job.updated_at < at) continue;
    if (job.created_rows === 0 || job.total_rows > SEARCHED_ROWS) continue;
    let isFound = false;
    const results = api.uploads.results(job.id, { signal });
    await readFirstResults(results, (row) => (isFound = row.id === id && row.outcome === "created"));
    if (isFound) return job.id;
  }
  return undefined;
}

/** Names an import, with a link to it and to its undo if it was undone. */
export function ImportLink({ api, id }: { readonly api: Api; readonly id: string }) {
  const { value: job } = useLoaded(() => api.uploads.get(id), [id]);
  return (
    <>
      <a href={`#job=${id}`}>{job?.file_name ?? "an import"}</a>
      {job?.undone_by !== undefined && (
        <>
          {" "}
          (<a href={`#job=${job.undone_by}`}>its undo</a>)
        </>
      )}
    </>
  );
}
