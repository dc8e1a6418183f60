import { DeleteObjectsCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { segmentKeys } from "../../../lib/changes/segment-store.ts";
import { isoTime } from "../../../lib/clock.ts";
import type { RecordKey } from "../../../lib/store/versioned-record.ts";
import { type Administration, getOrganization } from "./administration.ts";
import { StoreBusyError } from "../../../lib/errors.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "../../../lib/store/decode-record.ts";
import { listKeyNames, listKeys, revokeKey } from "./key-management.ts";
import { KEY_CACHE_SECONDS } from "../../../lib/organizations/authenticate.ts";
import { toOrganization } from "../../../lib/organizations/organization.ts";
import { type PartitionKind, type ResourceNameOf, resources, resourcesOfKind } from "../../../lib/resources.ts";
import type { RuntimeWith } from "../../../lib/aws/runtime.ts";
import { fileDue } from "../../../lib/uploads/files/upload-form.ts";
import { prefixesOf } from "../../../lib/uploads/files/upload-objects.ts";
import { FORM_MAX_BYTES } from "../../../lib/uploads/job/upload-job.ts";
import { jobFrom } from "../../../lib/uploads/job/upload-store.ts";
import { type OwnedRecord, type RecordsPage, scanOrganization } from "./customer-records.ts";
import { createErasureWrites, startErasing } from "./erasure-writes.ts";
import { transactionsOf } from "../../../lib/store/conditional-write.ts";
import { WORKERS_END_WITHIN_MS } from "./jobs-before.ts";
import { createEraseItems, type Deletions } from "../../../lib/work-items/erase-items.ts";
import { erasedAs, kindOf, lastRecords } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { INDEX_SHOWS_WITHIN_MS, walkOrganization } from "./walk-organization.ts";
import { webhookKeys } from "../../../lib/webhooks/webhook-store.ts";

/** What erasing an organization requires of a runtime. */
export type ErasureRuntime = Administration & RuntimeWith<ResourceNameOf<"table"> | "uploads">;

function noCounts() {
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

/** How an erasure reports its progress, and how it waits. */
export interface ErasureOptions {
  readonly onProgress?: (progress: ReadProgress & { readonly erased: Readonly<ErasureCounts> }) => void;
  /** Called before a wait. @param until milliseconds since the epoch */
  readonly onWait?: (until: number, reason: string) => void;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Called with each record that can't be read; it is erased too. @default throws */
  readonly onDamaged?: OnDamaged;
  /** Leaves out the scan of the whole table at the end. @default false */
  readonly withoutScan?: boolean;
}

/** After this time no call or worker knows the organization from its cache. */
const QUIET_AFTER_MS = 2 * KEY_CACHE_SECONDS * 1000 + WORKERS_END_WITHIN_MS;

/** Of items and events only keys are read: they hold megabytes, and nothing in them matters. */
const KEYS_ONLY: ReadonlySet<PartitionKind> = new Set(["ITEM"]);

/**
 * Until when a file may arrive by a form of this job, in milliseconds since the epoch; 0 if none may. Also of a job that has
 * ended: its form can be posted until it expires.
 */
function fileMayComeUntil(record: OwnedRecord, onDamaged: OnDamaged, since: string): number {
  if (erasedAs(record) !== "upload_jobs") return 0;
  const job = unlessDamaged(() => jobFrom(record), onDamaged);
  // Of a damaged job nothing is known: it may have the last form, for the largest file.
  if (job === undefined) return fileDue({ created_at: since, expected_size: FORM_MAX_BYTES }) + QUIET_AFTER_MS;
  return job.origin === "form" ? fileDue(job) : 0;
}

function countsOf(records: readonly RecordKey[]): Partial<ErasureCounts> {
  return Object.fromEntries([...Map.groupBy(records, erasedAs)].map(([kind, { length }]) => [kind, length]));
}

/** Why an erasure waits, in words. @param now milliseconds since the epoch, as all times */
function reasonOf(now: number, quiet: number, filesUntil: number): string {
  if (now < filesUntil && filesUntil > quiet) return "files may still arrive by forms";
  if (now < quiet) return "caches and workers may still know it";
  return "the index may not show everything yet, and workers may still know what was found";
}

function totalOf(counts: Readonly<ErasureCounts>): number {
  return Object.values(counts).reduce((sum: number, count: number) => sum + count, 0);
}

/** The keys of all objects of an organization, a page of up to 1,000 at a time. */
async function* objectsOf({ s3, environment }: ErasureRuntime, organization: string): AsyncGenerator<string[]> {
  for (const Prefix of prefixesOf(organization)) {
    const input = { Bucket: environment.UPLOADS_BUCKET, Prefix };
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, input)) {
      if (Contents.length > 0) yield Contents.flatMap(({ Key: key }) => key ?? []);
    }
  }
}

/** Deletes up to 1,000 objects. @throws StoreBusyError if S3 refuses one */
async function deleteObjects({ s3, environment }: ErasureRuntime, keys: readonly string[]): Promise<void> {
  const { Errors: errors = [] } = await s3.send(
    new DeleteObjectsCommand({
      Bucket: environment.UPLOADS_BUCKET,
      Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
    }),
  );
  if (errors.length > 0) throw new StoreBusyError(`S3 refuses to delete ${errors.length} objects: ${errors[0]?.Code}`);
}

/** Counts what erasing an organization would erase, as far as the index shows it. Nothing is changed. @throws NotFoundError */
export async function countForErasure(
  runtime: ErasureRuntime,
  organization: string,
  onProgress?: ErasureOptions["onProgress"],
): Promise<ReadProgress & { readonly erased: ErasureCounts }> {
  const erased = noCounts();
  const record = await getOrganization(runtime, organization);
  erased.keys = (await listKeyNames(runtime, organization)).length;
  const read = await walkOrganization(
    runtime,
    toOrganization(record),
    async ({ records }) => {
      for (const each of records) erased[erasedAs(each)] += 1;
    },
    { onProgress: (progress) => onProgress?.({ ...progress, erased }), keysOnly: KEYS_ONLY },
  );
  erased.other_records += (await webhookKeys(runtime, organization)).length;
  for await (const segments of segmentKeys(runtime, organization)) erased.other_records += segments.length;
  for await (const keys of objectsOf(runtime, organization)) erased.objects += keys.length;
  return { ...read, erased };
}

/**
 * Erases everything of an organization: notes that it is being erased, so that its keys and workers are refused, revokes its keys, deletes
 * its records and objects, waits until no cache, worker or form can bring any back and the index shows all that came
 * before, and repeats until a pass finds nothing. A scan of the whole table then finds what no index leads to. Then it
 * deletes the keys and the organization itself. An interrupted erasure continues when it is repeated.
 * @throws NotFoundError, StoreBusyError, StateConflictError if another command has finished the erasure meanwhile
 */
export async function eraseOrganization(
  runtime: ErasureRuntime,
  organization: string,
  { onProgress, onWait, sleep, onDamaged = stopAtDamaged, withoutScan = false }: ErasureOptions,
) {
  const { clock, environment } = runtime;
  const before = await startErasing(runtime, await getOrganization(runtime, organization), isoTime(clock()));
  const { erasing_since: since, files_until: mayCome = isoTime(0) } = before;
  const writes = createErasureWrites(runtime, organization, since);
  // From now on no key is made any more. If the erasure is not over now, those that were listed are its own.
  const keys = await listKeyNames(runtime, organization);
  const readable = await listKeys(runtime, organization, onDamaged);
  await writes.assertOwn();
  for (const key of readable) await revokeKey(runtime, organization, key.key_id);

  let erased: ErasureCounts = { ...noCounts(), ...before.erased, keys: keys.length };
  let readUnits = 0;
  let filesUntil = Date.parse(mayCome);
  let writing: Promise<unknown> = Promise.resolve();
  /** Carries out the deletions of one transaction, and saves with them what an erasure that is interrupted must know. */
  const commit = (deletions: Deletions, counted: Partial<ErasureCounts>): Promise<boolean> => {
    // One after the other: all of them write the organization's record.
    const own = writing.then(async () => {
      const next = { ...erased };
      for (const [kind, count] of Object.entries(counted)) next[kind as keyof ErasureCounts] += count;
      const isDone = await writes.save({ erased: next, files_until: isoTime(filesUntil) }, deletions);
      if (isDone) erased = next;
      return isDone;
    });
    writing = own;
    return own;
  };
  /** Deletes records of one transaction. */
  const erase = async (TableName: string, records: readonly RecordKey[], counted: Partial<ErasureCounts>) => {
    const deletions = records.map(({ pk, sk }) => ({ Delete: { TableName, Key: { pk, sk } } }));
    await commit(deletions, counted);
  };
  const eraseItems = createEraseItems(runtime, { commit, onRead: (units) => (readUnits += units) });

  const erasePage = async ({ records }: RecordsPage): Promise<void> => {
    // Saved with the deletion of the job: a repeated erasure must still wait for its file.
    filesUntil = Math.max(filesUntil, ...records.map((record) => fileMayComeUntil(record, onDamaged, since)));
    const { ITEM: ofItems = [], ...others } = Object.groupBy(records, kindOf);
    await eraseItems([...new Set(ofItems.map(({ pk }) => pk))]);
    for (const chunk of transactionsOf(Object.values(others).flat())) {
      await erase(environment.WORK_ITEMS_TABLE, chunk, countsOf(chunk));
    }
  };
  const report = (progress: ReadProgress): void => onProgress?.({ ...progress, erased });
  const walk = () =>
    walkOrganization(runtime, toOrganization(before), erasePage, {
      onProgress: report,
      listedLast: true,
      keysOnly: KEYS_ONLY,
    });
  const scan = () => scanOrganization(runtime, organization, erasePage, report);
  /** @param read reads the table's records @returns how many records and objects it found */
  const pass = async (read: () => Promise<ReadProgress>): Promise<number> => {
    const erasedBefore = totalOf(erased);
    // First, so that no endpoint is told of the erasure.
    for (const chunk of transactionsOf(await webhookKeys(runtime, organization))) {
      await erase(environment.WEBHOOKS_TABLE, chunk, countsOf(chunk));
    }
    const progress = await read();
    readUnits += progress.readUnits;
    for await (const segments of segmentKeys(runtime, organization)) {
      for (const chunk of transactionsOf(segments)) await erase(environment.CHANGES_TABLE, chunk, countsOf(chunk));
    }
    for await (const found of objectsOf(runtime, organization)) {
      // Their deletion cannot be conditional: it follows a check at once.
      await writes.assertOwn();
      await deleteObjects(runtime, found);
      await erase(environment.WORK_ITEMS_TABLE, [], { objects: found.length });
    }
    return totalOf(erased) - erasedBefore;
  };

  const quiet = Date.parse(since) + QUIET_AFTER_MS;
  let passes = 0;
  // An interrupted erasure may have deleted something just before this one began.
  let lastFound = clock();
  for (let isErased = false, isScanned = withoutScan; !isErased;) {
    const began = clock();
    const found = await pass(walk);
    passes += 1;
    if (found > 0) lastFound = clock();
    const forgotten = Math.max(quiet, filesUntil);
    const settled = Math.max(forgotten + INDEX_SHOWS_WITHIN_MS, lastFound + WORKERS_END_WITHIN_MS);
    if (found === 0 && began >= settled) {
      // No one writes any more. But what the scan finds may have been read by a worker just before.
      isErased = isScanned || (await pass(scan)) === 0;
      isScanned = true;
      if (!isErased) lastFound = clock();
      continue;
    }
    // Once no cache or worker knows the organization any more, what is still found is erased at once.
    const until = clock() < forgotten || found > 0 ? forgotten : settled;
    if (clock() < until) {
      onWait?.(until, reasonOf(clock(), quiet, filesUntil));
      await sleep(until - clock());
    }
  }

  for (const [name] of resourcesOfKind("table")) {
    for (const chunk of transactionsOf(lastRecords[name](organization, keys))) {
      await erase(environment[resources[name].variable], chunk, {});
    }
  }
  // Last: as long as it is there, the erasure can be repeated.
  await writes.finish();
  return {
    organization,
    region: runtime.region,
    /** ISO 8601: when the erasure began, and when a pass over everything found nothing any more. */
    began_at: since,
    finished_at: isoTime(clock()),
    erased,
    passes,
    /** Whether a scan of the whole table has shown that nothing is left which no index leads to. */
    scanned: !withoutScan,
    read_units: readUnits,
  };
}
