import { setTimeout as wait } from "node:timers/promises";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { StoreBusyError } from "@work-items/lib/errors.ts";
import { toOrganization } from "@work-items/lib/organizations/organization.ts";
import { type ResourceNameOf, resources, resourcesOfKind } from "@work-items/lib/resources.ts";
import { readPartition } from "@work-items/lib/store/all-items.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "@work-items/lib/store/decode-record.ts";
import { jobKeptUntil } from "@work-items/lib/uploads/job/kept-until.ts";
import { isEnded, type UploadJob } from "@work-items/lib/uploads/job/upload-record.ts";
import { jobFrom } from "@work-items/lib/uploads/job/upload-store.ts";
import { CALLS_END_WITHIN_MS } from "@work-items/lib/work-items/erase-items.ts";
import { deleteRecords, type OwnedRecord, type RecordsPage, scanOrganization } from "./customer-records.ts";
import { readForErasure } from "./damaged-access.ts";
import { deleteObjects, objectsOf } from "./erasure-pass.ts";
import { emptyPerson } from "./empty-person.ts";
import { createJobsBefore } from "./jobs-before.ts";
import { erasedAs, kindOf, tablesOfData } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { type Mention, PersonAddress } from "./person-address.ts";
import { INDEX_SHOWS_WITHIN_MS, traverseOrganization } from "./traverse-organization.ts";

/** What erasing a person requires of a runtime. */
export type PersonRuntime = RuntimeWith<ResourceNameOf<"table"> | "uploads">;

/** How the erasure of a person reports its progress, and how it waits. */
export interface PersonOptions {
  readonly dryRun?: boolean;
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Leaves out the scan of the whole table at the end. @default false */
  readonly withoutScan?: boolean;
  /** Deletes the files of uploads that have ended. @default false */
  readonly withFiles?: boolean;
  /** Called before a wait for upload jobs, with their ids, or for calls, workers and the index until a time in milliseconds. */
  readonly onWait?: (waiting: { readonly jobs: readonly string[] } | { readonly until: number }) => void;
  /** Called in every pass with each record that can't be read. It keeps the person. @default throws */
  readonly onDamaged?: OnDamaged;
  /** @default waits */
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
}

/** An upload whose files, and those of its undo, may hold the person's address until they expire. */
interface FileOfPerson {
  readonly job: string;
  readonly file_name: string;
  readonly created_at: string;
  readonly kept_until: string;
}

/** What was erased, and what may still hold the address. */
export interface ErasedPerson {
  /** Items whose agent was emptied. */
  readonly work_items: number;
  /** Events whose actor was emptied. */
  readonly events: number;
  readonly mentions: readonly Mention[];
  readonly files: readonly FileOfPerson[];
  /** Uploads whose files were deleted, or would be, by id. They can't be undone any more. */
  readonly deleted_files: readonly string[];
  /** Whether the whole table was scanned for what no index leads to. */
  readonly scanned: boolean;
  readonly read_units: number;
}

/** What one pass over the organization's records found. */
interface Pass {
  /** Ids of jobs that haven't ended. */
  readonly open: readonly string[];
  /** Until when workers of jobs that have ended may write, in milliseconds since the epoch. */
  readonly workersUntil: number;
  readonly mentions: readonly Mention[];
  readonly uploads: readonly UploadJob[];
  /** Items and events that had the person. */
  readonly found: number;
  readonly items: number;
  readonly events: number;
  readonly readUnits: number;
}

/** How often it checks whether upload jobs have ended. */
const ASK_AGAIN_MS = 5000;
/** If the last of so many passes still finds the address, a system keeps sending it and must be stopped first. */
const PASSES_MAX = 5;

function fileOf(job: UploadJob, now: number): FileOfPerson {
  const { id, file_name: name = "", created_at } = job;
  return { job: id, file_name: name, created_at, kept_until: isoTime(jobKeptUntil(job, now)) };
}

type Read = (visit: (page: RecordsPage) => Promise<void>) => Promise<ReadProgress>;

/** A pass over records: empties those that have the person, and deletes old plans with the address. */
function createPass(
  runtime: PersonRuntime,
  address: string,
  jobs: ReturnType<typeof createJobsBefore>,
  { dryRun = false, onDamaged = stopAtDamaged }: PersonOptions,
) {
  const person = new PersonAddress(address);
  /** Deletes plans that hold the address. Later dry runs keep theirs, and the result mentions them. */
  const deletePlans = async (records: readonly OwnedRecord[]): Promise<readonly OwnedRecord[]> => {
    if (dryRun) return [];
    const plans = records.filter((record) => kindOf(record) === "DRY_RUN" && person.isHeldBy(record));
    const came = await Promise.all(plans.map(({ pk }) => jobs.cameBefore(pk.split("#")[2] ?? "")));
    const old = plans.filter((_, index) => came[index]);
    await deleteRecords(runtime, runtime.environment.WORK_ITEMS_TABLE, old);
    return old;
  };

  return async (read: Read): Promise<Pass> => {
    const mentions: Mention[] = [];
    const jobsFound: UploadJob[] = [];
    const open: string[] = [];
    let workersUntil = 0;
    let found = 0;
    let items = 0;
    let events = 0;
    const { readUnits } = await read(async ({ records }) => {
      const uploads = records
        .filter((record) => erasedAs(record) === "upload_jobs")
        .flatMap((record) => unlessDamaged(() => jobFrom(record), onDamaged) ?? []);
      jobsFound.push(...uploads);
      workersUntil = Math.max(workersUntil, ...uploads.map((job) => jobs.workersUntil(job)));
      // Includes jobs that the index of open jobs doesn't show yet.
      open.push(...uploads.filter((job) => !isEnded(job)).map(({ id }) => id));
      const plans = await deletePlans(records);
      mentions.push(
        ...records.filter((record) => !plans.includes(record)).flatMap((record) => person.mentionsIn(record)),
      );
      const named = records.filter((record) => person.isPersonOf(record));
      if (named.length === 0) return;
      const emptied = await emptyPerson(runtime, person, named, dryRun, (record) => {
        found -= 1;
        onDamaged(record);
      });
      found += named.length;
      items += emptied.items;
      events += emptied.events;
    });
    return { workersUntil, open, mentions, uploads: jobsFound, found, items, events, readUnits };
  };
}

/** Deletes the files of jobs that have ended, but not what the undo of one still reads. @returns ids of those jobs */
async function deleteFiles(
  runtime: PersonRuntime,
  organization: string,
  uploads: readonly UploadJob[],
  dryRun: boolean,
): Promise<string[]> {
  const open = uploads.filter((job) => !isEnded(job));
  const inUse = new Set(open.flatMap(({ id, undo_of: undone }) => [id, undone ?? id]));
  const ids = uploads.map(({ id }) => id).filter((id) => !inUse.has(id));
  for (const id of dryRun ? [] : ids) {
    for await (const keys of objectsOf(runtime, organization, id)) await deleteObjects(runtime, keys);
  }
  return ids;
}

/** The texts in other tables than that of work items that hold the address. */
async function mentionsElsewhere(
  { dynamodb, environment }: PersonRuntime,
  organization: string,
  person: PersonAddress,
): Promise<Mention[]> {
  const mentions: Mention[] = [];
  for (const [name] of resourcesOfKind("table")) {
    for (const pk of tablesOfData[name].texts(organization)) {
      const records = (await readPartition(dynamodb, environment[resources[name].variable], pk)) as OwnedRecord[];
      mentions.push(...records.flatMap((record) => person.mentionsIn(record)));
    }
  }
  return mentions;
}

/**
 * Empties the agent of every item, deleted or not, and the actor of every event that has this email address in any case. Deletes
 * the plans of dry runs that hold it. First waits for running calls, and for the upload jobs whose files have arrived by then.
 * Repeats until the index shows all that these wrote and a traversal finds nothing. A scan of the whole table then finds
 * what no index leads to. Texts aren't changed: the result names those that hold the address. Files stay, unless they are to be
 * deleted too.
 * @throws NotFoundError, StoreBusyError
 */
export async function erasePerson(
  runtime: PersonRuntime,
  organizationId: string,
  address: string,
  options: PersonOptions = {},
): Promise<ErasedPerson> {
  const { clock } = runtime;
  const { dryRun = false, withoutScan = dryRun, onProgress, onDamaged = stopAtDamaged } = options;
  const { withFiles = false, onWait = () => undefined, sleep = wait } = options;
  const organization = toOrganization(await readForErasure(runtime, organizationId, onDamaged));
  /** Until when calls that were running when the erasure began may write, in milliseconds since the epoch. */
  const callsUntil = clock() + CALLS_END_WITHIN_MS;
  const jobs = createJobsBefore(runtime, organization.id, callsUntil, onDamaged);
  const makePass = createPass(runtime, address, jobs, options);
  const waitUntil = async (until: number): Promise<void> => {
    onWait({ until });
    await sleep(until - clock());
  };
  const waitForJobs = async (ids: readonly string[]): Promise<void> => {
    for (let open = await jobs.openOf(ids); open.length > 0; open = await jobs.openOf(ids)) {
      onWait({ jobs: open });
      await sleep(ASK_AGAIN_MS);
    }
  };
  const traverse: Read = (visit) => traverseOrganization(runtime, organization, visit, { onProgress });
  /** For the records that no index leads to. */
  const scan: Read = (visit) => scanOrganization(runtime, organization.id, visit, onProgress);

  if (!dryRun) {
    await waitUntil(callsUntil);
    await waitForJobs(await jobs.listed());
  }
  let items = 0;
  let events = 0;
  let readUnits = 0;
  let writtenUntil = callsUntil;
  /** Makes a pass. @returns what it found, which jobs are open, and whether the index showed all earlier writes when it began */
  const look = async (read: Read) => {
    const began = clock();
    const pass = await makePass(read);
    items += pass.items;
    events += pass.events;
    readUnits += pass.readUnits;
    writtenUntil = Math.max(writtenUntil, pass.workersUntil);
    const open = dryRun ? [] : await jobs.openOf(pass.open);
    return { pass, open, isSettled: open.length === 0 && began >= writtenUntil + INDEX_SHOWS_WITHIN_MS };
  };
  let scanned: Pass | undefined;
  for (let repeated = 0; ;) {
    let { pass, open, isSettled } = await look(traverse);
    if (isSettled && pass.found === 0 && !withoutScan && scanned === undefined) {
      ({ pass, open, isSettled } = await look(scan));
      if (isSettled) scanned = pass;
    }
    if (dryRun || (isSettled && pass.found === 0)) {
      const { mentions: inItems, uploads } = scanned ?? pass;
      const kept = uploads.filter((job) => jobKeptUntil(job, clock()) > clock());
      const deleted = withFiles ? await deleteFiles(runtime, organization.id, kept, dryRun) : [];
      const files = kept.filter(({ id }) => !deleted.includes(id)).map((job) => fileOf(job, clock()));
      const mentions = [...inItems, ...(await mentionsElsewhere(runtime, organization.id, new PersonAddress(address)))];
      const isScanned = scanned !== undefined;
      return {
        work_items: items,
        events,
        mentions,
        files,
        deleted_files: deleted,
        scanned: isScanned,
        read_units: readUnits,
      };
    }
    if (open.length > 0) {
      await waitForJobs(open);
      continue;
    }
    const shownFrom = writtenUntil + INDEX_SHOWS_WITHIN_MS;
    if (clock() < shownFrom) await waitUntil(shownFrom);
    else if (pass.found > 0 && ++repeated === PASSES_MAX) {
      throw new StoreBusyError(
        `${address} is being added again: stop the system that sends it, then run the command again`,
      );
    }
  }
}
