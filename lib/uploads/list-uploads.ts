import { createRecordStore, keyText, mapConcurrently } from "../aws/record-store.ts";
import type { Runtime } from "../aws/runtime.ts";
import type { RecordKey } from "../aws/versioned-record.ts";
import { decodeCursor, encodeCursor } from "../listing/cursor.ts";
import { walkListing } from "../listing/walk-listing.ts";
import type { Organization } from "../organizations/organization.ts";
import type { UploadJobResponse, UploadStatus } from "./upload-job.ts";
import { isEnded, toUploadJobResponse } from "./upload-record.ts";
import { LISTING } from "./open-uploads.ts";
import type { UploadStore } from "./upload-store.ts";
import { jobFrom } from "./upload-table.ts";

const CONCURRENT_READS = 8;

export interface UploadQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly status?: UploadStatus | undefined;
}

/**
 * Lists an organization's jobs, newest first. Counters are as fresh as those of a single job: those of jobs under way
 * are summed from their parts.
 * @throws InvalidInputError for a cursor of another list
 */
export const createListUploads = (
  { dynamodb, environment }: Pick<Runtime<{ workItems: { actions: []; keys: [] } }>, "dynamodb" | "environment">,
  store: UploadStore,
) => {
  const table = environment.WORK_ITEMS_TABLE;
  const records = createRecordStore({ dynamodb, table, path: "native" });

  const currentJob = async (item: Readonly<Record<string, unknown>>): Promise<UploadJobResponse | undefined> => {
    const job = jobFrom(item);
    const snapshot = job.published && !isEnded(job) ? await store.read(job) : { job, parts: [] };
    return snapshot && toUploadJobResponse(snapshot);
  };

  return async (organization: Organization, { limit, cursor, status }: UploadQuery) => {
    const scope = { organization, list: "work_item_uploads", filters: { status } };
    const { entries, next } = await walkListing({
      dynamodb,
      table,
      kind: LISTING,
      organization,
      filters: { status },
      range: { low: "0", high: "~" },
      after: cursor === undefined ? undefined : decodeCursor(scope, cursor),
      limit,
    });
    const keys: RecordKey[] = entries.map(({ pk, sk }) => ({ pk, sk }));
    const read = await records.read(keys);
    const found = keys.flatMap((key) => read.get(keyText(key)) ?? []);
    const jobs = await mapConcurrently(found, CONCURRENT_READS, currentJob);
    // The index may lag behind: what it gave is checked again.
    const data = jobs.filter((job) => job !== undefined).filter((job) => status === undefined || job.status === status);
    return { data, next: next === undefined ? undefined : encodeCursor(scope, next) };
  };
};
