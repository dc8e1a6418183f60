import { mapConcurrently } from "../../retry.ts";
import { batchGet } from "../../store/batch-get.ts";
import { leaveOutDamaged } from "../../store/decode-record.ts";
import { decodeCursor, encodeCursor } from "../../store/lists/cursor.ts";
import { idAt, listingSource } from "../../store/lists/partition.ts";
import { walkListing } from "../../store/lists/walk.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { UploadJobResponse, UploadStatus } from "./upload-job.ts";
import { isEnded, toUploadJobResponse, type UploadJob } from "./upload-record.ts";
import type { UploadStore } from "./upload-store.ts";
import { jobFrom, recordKeys } from "./upload-table.ts";

const CONCURRENT_READS = 8;

/**
 * Lists an organization's jobs, newest first. Counters of running jobs are the sums over their parts, as for a single
 * job.
 * @throws InvalidInputError for a cursor of another list
 */
export function createListUploads(runtime: RuntimeWith<"workItems">, store: UploadStore) {
  const { dynamodb, environment } = runtime;
  const leaveOut = leaveOutDamaged(runtime);

  const readableJobs = (record: Attributes): UploadJob[] => {
    try {
      return [jobFrom(record)];
    } catch (error) {
      return leaveOut(error) ?? [];
    }
  };

  const currentJob = async (job: UploadJob): Promise<UploadJobResponse | undefined> => {
    const snapshot = job.published && !isEnded(job) ? await store.read(job) : { job, parts: [] };
    return snapshot && toUploadJobResponse(snapshot);
  };

  return async (
    organization: Organization,
    query: { readonly limit: number; readonly cursor?: string | undefined; readonly status?: UploadStatus | undefined },
  ) => {
    const { limit, cursor, status } = query;
    const scope = { organization, list: "work_item_uploads", filters: { status } };
    const { places, next } = await walkListing({
      ...runtime,
      source: listingSource("LIST_UPLOAD", organization),
      filters: { status },
      range: { low: "0", high: "~" },
      after: cursor === undefined ? undefined : decodeCursor(scope, cursor),
      limit,
    });
    const ids = places.map(idAt);
    const keys = ids.map((id) => recordKeys.job({ organization: organization.id, id }));
    const items = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys);
    const byId = new Map(items.flatMap(readableJobs).map((job) => [job.id, job]));
    const found = ids.flatMap((id) => byId.get(id) ?? []);
    const jobs = await mapConcurrently(found, CONCURRENT_READS, (job) => currentJob(job).catch(leaveOut));
    // The index may be out of date: the status is checked again.
    const data = jobs.filter((job) => job !== undefined).filter((job) => status === undefined || job.status === status);
    return { data, next: next === undefined ? undefined : encodeCursor(scope, next) };
  };
}
