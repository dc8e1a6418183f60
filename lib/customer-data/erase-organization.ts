import { isoTime } from "../clock.ts";
import type { Attributes, RecordKey } from "../dynamodb/versioned-record.ts";
import { keyRecordKey, listedKeyKey, organizationRecordKey } from "../organizations/access-store.ts";
import {
  type Administration,
  changeOrganization,
  getOrganization,
  listKeys,
  revokeKey,
} from "../organizations/administration.ts";
import { KEY_CACHE_SECONDS } from "../organizations/authenticate.ts";
import { keyUseKey } from "../organizations/key-use.ts";
import { rateLimitKey } from "../organizations/rate-limit.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { fileDue } from "../uploads/files/upload-form.ts";
import { jobFrom } from "../uploads/job/upload-table.ts";
import { deleteObjects, objectsOf } from "./customer-objects.ts";
import { deleteRecords, kindOf, type ScanPage, type ScanProgress, scanOrganization } from "./customer-records.ts";

/** What erasing an organization requires of a runtime. */
export type ErasureRuntime = Administration & RuntimeWith<"workItems" | "access" | "limits" | "uploads">;

const noCounts = () => ({
  work_items: 0,
  events: 0,
  upload_jobs: 0,
  conversation_uploads: 0,
  other_records: 0,
  objects: 0,
  keys: 0,
});
/** How many things of each kind were erased, or would be. */
export type ErasureCounts = ReturnType<typeof noCounts>;

/** How an erasure tells how far it is, and how it waits. */
export interface ErasureOptions {
  readonly onProgress?: (progress: ScanProgress & { readonly erased: Readonly<ErasureCounts> }) => void;
  /** Called before a wait. @param until milliseconds since the epoch */
  readonly onWait?: (until: number, reason: string) => void;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** The longest that a worker runs. One that has read a record before it was deleted may write until then. */
const WORKERS_END_WITHIN_MS = 120_000;
/** After this time no call or worker knows the organization from its cache. */
const QUIET_AFTER_MS = 2 * KEY_CACHE_SECONDS * 1000 + WORKERS_END_WITHIN_MS;

const countedAs = (record: RecordKey): keyof ErasureCounts => {
  const kind = kindOf(record);
  if (kind === "ITEM") return record.sk.startsWith("#") ? "work_items" : "events";
  if (kind === "UPLOAD" && record.sk === "#JOB") return "upload_jobs";
  return kind === "CONVERSATION" ? "conversation_uploads" : "other_records";
};

/** Until when a file may still arrive by a form of this job, in milliseconds since the epoch; 0 if none may. */
const fileMayComeUntil = (record: Attributes & RecordKey): number => {
  if (countedAs(record) !== "upload_jobs") return 0;
  const job = jobFrom(record);
  return job.origin === "form" && job.status === "pending" ? fileDue(job) : 0;
};

const totalOf = (counts: Readonly<ErasureCounts>): number =>
  Object.values(counts).reduce((sum: number, count: number) => sum + count, 0);

/** Counts what erasing an organization would erase, and what the scan costs. Nothing is changed. @throws NotFoundError */
export const countForErasure = async (
  runtime: ErasureRuntime,
  organization: string,
  onProgress?: ErasureOptions["onProgress"],
): Promise<ScanProgress & { readonly erased: ErasureCounts }> => {
  const erased = noCounts();
  await getOrganization(runtime, organization);
  erased.keys = (await listKeys(runtime, organization)).length;
  const scan = await scanOrganization(
    runtime,
    organization,
    async ({ records }) => {
      for (const record of records) erased[countedAs(record)] += 1;
    },
    (progress) => onProgress?.({ ...progress, erased }),
  );
  for await (const keys of objectsOf(runtime, organization)) erased.objects += keys.length;
  return { ...scan, erased };
};

/**
 * Erases everything of an organization: marks it, so that its keys and workers are refused, revokes its keys, deletes
 * its records and objects, waits until no cache, worker or form can bring any back, and repeats until a pass finds
 * nothing. Then it deletes the keys and the organization itself. An interrupted erasure goes on where it is repeated.
 * @throws NotFoundError
 */
export const eraseOrganization = async (
  runtime: ErasureRuntime,
  organization: string,
  { onProgress, onWait, sleep }: ErasureOptions,
) => {
  const { clock, environment } = runtime;
  const before = await getOrganization(runtime, organization);
  const { erasing_since: since = isoTime(clock()), files_until: mayCome = isoTime(0) } = before;
  await changeOrganization(runtime, organization, { erasing_since: since });
  const keys = await listKeys(runtime, organization);
  for (const key of keys) await revokeKey(runtime, organization, key.key_id);

  const erased: ErasureCounts = { ...noCounts(), ...before.erased, keys: keys.length };
  let readUnits = 0;
  let filesUntil = Date.parse(mayCome);
  let saving = Promise.resolve();
  /** Keeps what an erasure that is interrupted must know when it is repeated. */
  const save = (): Promise<void> => {
    // One after the other, so that nothing older replaces what is newer.
    saving = saving.then(async () => {
      await changeOrganization(runtime, organization, { erased: { ...erased }, files_until: isoTime(filesUntil) });
    });
    return saving;
  };

  const erasePage = async ({ records }: ScanPage): Promise<void> => {
    if (records.length === 0) return;
    const latest = Math.max(...records.map(fileMayComeUntil));
    if (latest > filesUntil) {
      filesUntil = latest;
      // Before the job is deleted: a repeated erasure must still wait for its file.
      await save();
    }
    await deleteRecords(runtime, environment.WORK_ITEMS_TABLE, records);
    for (const record of records) erased[countedAs(record)] += 1;
    await save();
  };
  /** @returns how many records and objects it found */
  const pass = async (): Promise<number> => {
    const erasedBefore = totalOf(erased);
    const scan = await scanOrganization(runtime, organization, erasePage, (progress) =>
      onProgress?.({ ...progress, erased }),
    );
    readUnits += scan.readUnits;
    for await (const found of objectsOf(runtime, organization)) {
      await deleteObjects(runtime, found);
      erased.objects += found.length;
      await save();
    }
    return totalOf(erased) - erasedBefore;
  };

  const quiet = Date.parse(since) + QUIET_AFTER_MS;
  let passes = 0;
  // An interrupted erasure may have deleted something just before this one began.
  let lastFound = clock();
  for (let isErased = false; !isErased;) {
    const began = clock();
    const found = await pass();
    passes += 1;
    if (found > 0) lastFound = clock();
    const forgotten = Math.max(quiet, filesUntil);
    const settled = Math.max(forgotten, lastFound + WORKERS_END_WITHIN_MS);
    isErased = found === 0 && began >= settled;
    // What is still found when nobody knows the organization any more is followed up at once.
    const until = found === 0 ? settled : forgotten;
    if (clock() < until) {
      onWait?.(until, filesUntil > quiet ? "files may still arrive by forms" : "caches and workers know it");
      await sleep(until - clock());
    }
  }

  const limits = [rateLimitKey(organization), ...keys.map(({ key_id: id }) => keyUseKey(id))];
  await deleteRecords(runtime, environment.LIMITS_TABLE, limits);
  const keyRecords = keys.flatMap((key) => [keyRecordKey(key.hash), listedKeyKey(key)]);
  await deleteRecords(runtime, environment.ACCESS_TABLE, keyRecords);
  // Last: as long as it is there, the erasure can be repeated.
  await deleteRecords(runtime, environment.ACCESS_TABLE, [organizationRecordKey(organization)]);
  return {
    organization,
    region: runtime.region,
    /** ISO 8601: when the erasure began, and when a pass over everything found nothing any more. */
    began_at: since,
    finished_at: isoTime(clock()),
    erased,
    passes,
    /** Read request units of the scans. */
    read_units: readUnits,
  };
};
