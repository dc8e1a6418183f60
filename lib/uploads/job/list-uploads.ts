import { ALL_SORT_KEYS, readPage } from "../../store/lists/page.ts";
import { listingSource } from "../../store/lists/partition.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { UploadJobResponse, UploadStatus } from "./upload-job.ts";
import { isEnded, toUploadJobResponse, type UploadJob, withUndo } from "./upload-record.ts";
import { createFindUndoneBy } from "./undos.ts";
import { jobFrom, jobKey, type UploadStore } from "./upload-store.ts";

/**
 * Lists an organization's jobs, newest first. Counters of running jobs are sums over their shards, as for a single job.
 * @throws InvalidInputError for a cursor of another list
 */
export function createListUploads(runtime: RuntimeWith<"workItems">, store: UploadStore) {
  const currentJob = async (job: UploadJob): Promise<UploadJobResponse | undefined> => {
    const snapshot = job.chunks && !isEnded(job) ? await store.read(job) : { job, shards: [] };
    return snapshot && toUploadJobResponse(snapshot);
  };

  const findUndoneBy = createFindUndoneBy(runtime);
  return async (
    organization: Organization,
    query: { readonly limit: number; readonly cursor?: string | undefined; readonly status?: UploadStatus | undefined },
  ) => {
    const { limit, cursor, status } = query;
    const { data, next } = await readPage(runtime, {
      scope: { organization, list: "work_item_uploads", filters: { status } },
      cursor,
      limit,
      from: { source: listingSource("LIST_UPLOAD", organization), filters: { status }, range: ALL_SORT_KEYS },
      keyOf: (id) => jobKey({ organization: organization.id, id }),
      show: async (record) => {
        const job = await currentJob(jobFrom(record));
        return status === undefined || job?.status === status ? job : undefined;
      },
    });
    const undoneBy = await findUndoneBy(organization, data);
    return { data: data.map((job) => withUndo(job, undoneBy.get(job.id))), next };
  };
}
