import { setTimeout as wait } from "node:timers/promises";
import type { RuntimeWith } from "../aws/runtime.ts";
import { StoreBusyError } from "../errors.ts";
import { type Organization, toOrganization } from "../organizations/organization.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "../store/decode-record.ts";
import type { UploadJob } from "../uploads/job/upload-record.ts";
import { isEnded } from "../uploads/job/upload-record.ts";
import { jobFrom } from "../uploads/job/upload-store.ts";
import { getOrganization } from "./administration.ts";
import { deleteRecords, type OwnedRecord, type RecordsPage, scanOrganization } from "./customer-records.ts";
import { emptyPerson } from "./empty-person.ts";
import { CALLS_END_WITHIN_MS, createJobsBefore } from "./jobs-before.ts";
import { erasedAs, kindOf } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { type Mention, PersonAddress } from "./person-address.ts";
import { INDEX_SHOWS_WITHIN_MS, walkOrganization } from "./walk-organization.ts";

/** What erasing a person requires of a runtime. */
export type PersonRuntime = RuntimeWith<"workItems" | "access" | "uploads">;

/** How the erasure of a person reports its progress, and how it waits. */
export interface PersonOptions {
  readonly dryRun?: boolean;
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Leaves out the scan of the whole table at the end. @default false */
  readonly withoutScan?: boolean;
  /** Called before it waits for upload jobs, with their ids. None: for calls and workers that have started, and for the index. */
  readonly onWait?: (jobs: readonly string[]) => void;
  /** Called with each record that can't be read, in every pass: it keeps the person. @default throws */
  readonly onDamaged?: OnDamaged;
  /** @default waits */
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
}

/** An upload whose file, chunks and lists may hold the person's address until they expire. */
interface FileOfPerson {
  readonly job: string;
  readonly file_name: string;
  readonly created_at: string;
}

/** What was erased of a person, and what may still hold the address. */
export interface ErasedPerson {
  /** Items whose agent was emptied. */
  readonly work_items: number;
  /** Events whose actor was emptied. */
  readonly events: number;
  readonly mentions: readonly Mention[];
  readonly files: readonly FileOfPerson[];
  /** Whether a scan of the whole table has shown that nothing is left which no index leads to. */
  readonly scanned: boolean;
  readonly read_units: number;
}

/** What one pass over the organization's records has found. */
interface Pass {
  /** Ids of jobs that have not ended. */
  readonly open: readonly string[];
  /** Until when workers of jobs that have ended may write, in milliseconds since the epoch. */
  readonly workersUntil: number;
  readonly mentions: readonly Mention[];
  readonly files: readonly FileOfPerson[];
  /** Items and events that had the person. */
  readonly found: number;
  readonly items: number;
  readonly events: number;
  readonly readUnits: number;
}

/** How often it asks whether upload jobs have ended. */
const ASK_AGAIN_MS = 5000;
/** Passes after which others keep bringing the address back: their source must be stopped first. */
const PASSES_MAX = 5;

function fileOf({ id, file_name: name = "", created_at }: UploadJob): FileOfPerson {
  return { job: id, file_name: name, created_at };
}

/** The steps of an erasure. */
class PersonErasure {
  readonly #runtime: PersonRuntime;
  readonly #organization: Organization;
  readonly #person: PersonAddress;
  readonly #options: PersonOptions;
  readonly #onDamaged: OnDamaged;
  /** Until when calls may write that were under way when the erasure began, in milliseconds since the epoch. */
  readonly callsUntil: number;
  /** Those that came before the erasure, and those of calls that were under way when it began. */
  readonly #jobs: ReturnType<typeof createJobsBefore>;

  constructor(runtime: PersonRuntime, organization: Organization, address: string, options: PersonOptions) {
    this.#runtime = runtime;
    this.#organization = organization;
    this.#person = new PersonAddress(address);
    this.#options = options;
    this.#onDamaged = options.onDamaged ?? stopAtDamaged;
    this.callsUntil = runtime.clock() + CALLS_END_WITHIN_MS;
    this.#jobs = createJobsBefore(runtime, organization.id, this.callsUntil, this.#onDamaged);
  }

  /** Waits for calls under way, and for the upload jobs whose files have come by then. */
  async waitForJobs(): Promise<void> {
    await this.#wait(CALLS_END_WITHIN_MS, []);
    await this.waitFor(await this.#jobs.listed());
  }

  /** Waits until jobs have ended. */
  async waitFor(jobs: readonly string[]): Promise<void> {
    for (let open = await this.openOf(jobs); open.length > 0; open = await this.openOf(jobs)) {
      await this.#wait(ASK_AGAIN_MS, open);
    }
  }

  /** The jobs among some whose rows may still be applied. */
  openOf(jobs: readonly string[]): Promise<string[]> {
    return this.#jobs.openOf(jobs);
  }

  /** @param time milliseconds since the epoch. @returns false if it has come already */
  async waitUntil(time: number): Promise<boolean> {
    const left = time - this.#runtime.clock();
    if (left <= 0) return false;
    await this.#wait(left, []);
    return true;
  }

  /** Reads what the index shows of the organization, and empties the records that have the person. */
  walk(): Promise<Pass> {
    return this.#pass((visit) => walkOrganization(this.#runtime, this.#organization, visit, this.#options));
  }

  /** Reads the whole table, for the records that no index leads to, and empties those that have the person. */
  scan(): Promise<Pass> {
    return this.#pass((visit) =>
      scanOrganization(this.#runtime, this.#organization.id, visit, this.#options.onProgress),
    );
  }

  async #pass(read: (visit: (page: RecordsPage) => Promise<void>) => Promise<ReadProgress>): Promise<Pass> {
    const mentions: Mention[] = [];
    const files: FileOfPerson[] = [];
    const open: string[] = [];
    let [workersUntil, found, items, events] = [0, 0, 0, 0];
    const { readUnits } = await read(async ({ records }) => {
      const jobs = records
        .filter((record) => erasedAs(record) === "upload_jobs")
        .flatMap((record) => unlessDamaged(() => jobFrom(record), this.#onDamaged) ?? []);
      files.push(...jobs.map(fileOf));
      workersUntil = Math.max(workersUntil, ...jobs.map((job) => this.#jobs.workersUntil(job)));
      // The index of open jobs may not have shown them.
      open.push(...jobs.filter((job) => !isEnded(job)).map(({ id }) => id));
      const plans = await this.#deletePlans(records);
      mentions.push(
        ...records.filter((record) => !plans.includes(record)).flatMap((record) => this.#person.mentionsIn(record)),
      );
      const named = records.filter((record) => this.#person.isPersonOf(record));
      if (named.length === 0) return;
      let damaged = 0;
      const onDamaged: OnDamaged = (record) => {
        damaged += 1;
        this.#onDamaged(record);
      };
      const emptied = await emptyPerson(
        this.#runtime,
        this.#organization,
        this.#person,
        named,
        this.#isDryRun,
        onDamaged,
      );
      found += named.length - damaged;
      items += emptied.items;
      events += emptied.events;
    });
    return { workersUntil, open, mentions, files, found, items, events, readUnits };
  }

  get #isDryRun(): boolean {
    return this.#options.dryRun === true;
  }

  async #wait(milliseconds: number, jobs: readonly string[]): Promise<void> {
    const { onWait = () => undefined, sleep = wait } = this.#options;
    onWait(jobs);
    await sleep(milliseconds);
  }

  /** Deletes the plans of dry runs that hold the address. Dry runs that came later keep theirs, and are named. */
  async #deletePlans(records: readonly OwnedRecord[]): Promise<readonly OwnedRecord[]> {
    if (this.#isDryRun) return [];
    const plans = records.filter((record) => kindOf(record) === "DRY_RUN" && this.#person.isHeldBy(record));
    const came = await Promise.all(plans.map(({ pk }) => this.#jobs.cameBefore(pk.split("#")[2] ?? "")));
    const old = plans.filter((_, index) => came[index]);
    await deleteRecords(this.#runtime, this.#runtime.environment.WORK_ITEMS_TABLE, old);
    return old;
  }
}

/**
 * Empties the agent of every item and the actor of every event that has this email address, whatever its case, also in
 * deleted items, and deletes the plans of dry runs that hold it. First waits for calls under way, and for the upload jobs
 * whose files have come by then. Repeats until a walk finds none that began once the index showed all that these have
 * written. A scan of the whole table then finds what no index leads to. Texts are not changed: the result names those that
 * hold the address.
 * @throws NotFoundError, StoreBusyError
 */
export async function erasePerson(
  runtime: PersonRuntime,
  organizationId: string,
  address: string,
  options: PersonOptions = {},
): Promise<ErasedPerson> {
  const { clock } = runtime;
  const { dryRun = false, withoutScan = dryRun } = options;
  const organization = toOrganization(await getOrganization(runtime, organizationId));
  const erasure = new PersonErasure(runtime, organization, address, options);
  if (!dryRun) await erasure.waitForJobs();
  let [items, events, readUnits] = [0, 0, 0];
  let writtenUntil = erasure.callsUntil;
  /** Makes a pass. @returns what it found, which jobs are open, and whether all had been written, and was shown, when it began */
  const look = async (read: () => Promise<Pass>) => {
    const began = clock();
    const pass = await read();
    items += pass.items;
    events += pass.events;
    readUnits += pass.readUnits;
    writtenUntil = Math.max(writtenUntil, pass.workersUntil);
    const open = dryRun ? [] : await erasure.openOf(pass.open);
    return { pass, open, isSettled: open.length === 0 && began >= writtenUntil + INDEX_SHOWS_WITHIN_MS };
  };
  let scanned: Pass | undefined;
  for (let repeated = 0; ;) {
    let { pass, open, isSettled } = await look(() => erasure.walk());
    if (isSettled && pass.found === 0 && !withoutScan && scanned === undefined) {
      ({ pass, open, isSettled } = await look(() => erasure.scan()));
      if (isSettled) scanned = pass;
    }
    if (dryRun || (isSettled && pass.found === 0)) {
      const { mentions, files } = scanned ?? pass;
      const isScanned = scanned !== undefined;
      return { work_items: items, events, mentions, files, scanned: isScanned, read_units: readUnits };
    }
    if (open.length > 0) {
      await erasure.waitFor(open);
      continue;
    }
    const hasWaited = await erasure.waitUntil(writtenUntil + INDEX_SHOWS_WITHIN_MS);
    if (!hasWaited && pass.found > 0 && ++repeated === PASSES_MAX) {
      throw new StoreBusyError(
        `${address} is being added again: stop the system that sends it, then run the command again`,
      );
    }
  }
}
