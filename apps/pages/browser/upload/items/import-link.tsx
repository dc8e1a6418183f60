import type { Api } from "../parts/api.ts";
import { shownTime } from "../parts/shown.ts";
import { useLoaded } from "../parts/use-calls.ts";

/** Names an import, with a link to it and to its undo if it was undone. */
export function ImportLink({ api, id }: { readonly api: Api; readonly id: string }) {
  const { value: job } = useLoaded(() => api.uploads.get(id), [id]);
  return (
    <>
      <a href={`#job=${id}`}>{job?.file_name ?? "an import"}</a>
      {job && ` of ${shownTime(job.created_at)}`}
      {job?.undone_by !== undefined && (
        <>
          {" "}
          (<a href={`#job=${job.undone_by}`}>its undo</a>)
        </>
      )}
    </>
  );
}
