import { DeleteObjectsCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { segmentKeys } from "@work-items/lib/changes/segment-store.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { StoreBusyError } from "@work-items/lib/errors.ts";
import { KEY_CACHE_SECONDS } from "@work-items/lib/organizations/authenticate.ts";
import type { ResourceNameOf } from "@work-items/lib/resources.ts";
import { transactionsOf } from "@work-items/lib/store/conditional-write.ts";
import { type OnDamaged, unlessDamaged } from "@work-items/lib/store/decode-record.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { fileDue } from "@work-items/lib/uploads/files/upload-form.ts";
import { prefixesOf } from "@work-items/lib/uploads/files/upload-objects.ts";
import { FORM_MAX_BYTES } from "@work-items/lib/uploads/job/upload-job.ts";
import { jobFrom } from "@work-items/lib/uploads/job/upload-store.ts";
import { webhookKeys } from "@work-items/lib/webhooks/webhook-store.ts";
import { createEraseItems, type Deletions } from "@work-items/lib/work-items/erase-items.ts";
import type { Administration } from "./administration.ts";
import type { OwnedRecord, RecordsPage } from "./customer-records.ts";
import type { createErasureWrites, startErasing } from "./erasure-writes.ts";
import { WORKERS_END_WITHIN_MS } from "./jobs-before.ts";
import { erasedAs, kindOf } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";

/** What erasing an organization requires of a runtime. */
export type ErasureRuntime = Administration & RuntimeWith<ResourceNameOf<"table"> | "uploads">;

export function noCounts() {
  return {
    work_items: 0,
    events: 0,
    upload_jobs: 0,
    conversation_uploads: 0,
    other_records: 0,
    objects: 0,
    keys: 0,
  };
}
/** How many things of each kind were erased, or would be. */
export type ErasureCounts = ReturnType<typeof noCounts>;

/** What an erasure has done and found out so far. */
export interface ErasureState {
  erased: ErasureCounts;
  readUnits: number;
  /** Until when files may arrive by forms, in milliseconds since the epoch. */
  filesUntil: number;
}

type Erased = Awaited<ReturnType<typeof startErasing>>;

/** After this time no call or worker knows the organization from its cache. */
export const QUIET_AFTER_MS = 2 * KEY_CACHE_SECONDS * 1000 + WORKERS_END_WITHIN_MS;

/**
 * Until when a form of this job accepts a file, in milliseconds since the epoch; 0 if none does. A form stays open after its job
 * has ended.
 */
function formOpenUntil(record: OwnedRecord, onDamaged: OnDamaged, since: string): number {
  if (erasedAs(record) !== "upload_jobs") return 0;
  const job = unlessDamaged(() => jobFrom(record), onDamaged);
  // A damaged job may have the last form, for the largest file.
  if (job === undefined) return fileDue({ created_at: since, expected_size: FORM_MAX_BYTES }) + QUIET_AFTER_MS;
  return job.origin === "form" ? fileDue(job) : 0;
}

function countsOf(records: readonly RecordKey[]): Partial<ErasureCounts> {
  return Object.fromEntries([...Map.groupBy(records, erasedAs)].map(([kind, { length }]) => [kind, length]));
}

function totalOf(counts: Readonly<ErasureCounts>): number {
  return Object.values(counts).reduce((sum: number, count: number) => sum + count, 0);
}

/** The keys of all objects of an organization or of one of its jobs, a page of up to 1,000 at a time. */
export async function* objectsOf(
  { s3, environment }: RuntimeWith<"uploads">,
  organization: string,
  job?: string,
): AsyncGenerator<string[]> {
  for (const Prefix of prefixesOf(organization, job)) {
    const input = { Bucket: environment.UPLOADS_BUCKET, Prefix };
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, input)) {
      if (Contents.length > 0) yield Contents.flatMap(({ Key: key }) => key ?? []);
    }
  }
}

/** Deletes up to 1,000 objects. @throws StoreBusyError if S3 refuses one */
export async function deleteObjects(
  { s3, environment }: RuntimeWith<"uploads">,
  keys: readonly string[],
): Promise<void> {
  const { Errors: errors = [] } = await s3.send(
    new DeleteObjectsCommand({
      Bucket: environment.UPLOADS_BUCKET,
      Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
    }),
  );
  if (errors.length > 0) throw new StoreBusyError(`S3 refuses to delete ${errors.length} objects: ${errors[0]?.Code}`);
}

/**
 * Makes the functions that erase an organization's data and count it in a state. Each transaction also saves the state, for a
 * command that repeats an interrupted erasure.
 */
export function createErasurePass(
  runtime: ErasureRuntime,
  { organization, erasing_since: since }: Erased,
  state: ErasureState,
  writes: ReturnType<typeof createErasureWrites>,
  onDamaged: OnDamaged,
) {
  const { environment } = runtime;
  let lastCommit: Promise<unknown> = Promise.resolve();
  const commitNow = async (deletions: Deletions, counted: Partial<ErasureCounts>): Promise<boolean> => {
    const erased = { ...state.erased };
    for (const [kind, count] of Object.entries(counted)) erased[kind as keyof ErasureCounts] += count;
    const isDone = await writes.save({ erased, files_until: isoTime(state.filesUntil) }, deletions);
    if (isDone) state.erased = erased;
    return isDone;
  };
  /** Carries out one transaction. @returns false if a condition of its deletions didn't hold */
  const commit = (deletions: Deletions, counted: Partial<ErasureCounts>): Promise<boolean> => {
    // One at a time, since each writes the organization's record.
    const own = lastCommit.then(() => commitNow(deletions, counted));
    lastCommit = own;
    return own;
  };
  /** Deletes records in as many transactions as they need. @param count how the records of one transaction are counted */
  const deleteAll = async (TableName: string, records: readonly RecordKey[], count = countsOf): Promise<void> => {
    for (const some of transactionsOf(records)) {
      const deletions = some.map(({ pk, sk }) => ({ Delete: { TableName, Key: { pk, sk } } }));
      await commit(deletions, count(some));
    }
  };
  const eraseItems = createEraseItems(runtime, { commit, onRead: (units) => (state.readUnits += units) });
  /** Erases some records of the WorkItems table. */
  const erasePage = async ({ records }: RecordsPage): Promise<void> => {
    // Before the jobs are deleted, so that a repeated erasure still waits for their files.
    state.filesUntil = Math.max(state.filesUntil, ...records.map((record) => formOpenUntil(record, onDamaged, since)));
    const { ITEM: ofItems = [], ...others } = Object.groupBy(records, kindOf);
    await eraseItems([...new Set(ofItems.map(({ pk }) => pk))]);
    await deleteAll(environment.WORK_ITEMS_TABLE, Object.values(others).flat());
  };
  /**
   * Erases what the organization has now.
   * @param read reads the WorkItems table and passes its records to a visitor
   * @returns how many records and objects it found
   */
  const pass = async (read: (visit: typeof erasePage) => Promise<ReadProgress>): Promise<number> => {
    const totalBefore = totalOf(state.erased);
    // Webhooks first, so that none reports the erasure.
    await deleteAll(environment.WEBHOOKS_TABLE, await webhookKeys(runtime, organization));
    const { readUnits } = await read(erasePage);
    state.readUnits += readUnits;
    for await (const segments of segmentKeys(runtime, organization)) {
      await deleteAll(environment.CHANGES_TABLE, segments);
    }
    for await (const found of objectsOf(runtime, organization)) {
      // S3 can't delete on this condition, so it is checked just before.
      await writes.assertOwn();
      await deleteObjects(runtime, found);
      await commit([], { objects: found.length });
    }
    return totalOf(state.erased) - totalBefore;
  };
  return { pass, deleteAll };
}
