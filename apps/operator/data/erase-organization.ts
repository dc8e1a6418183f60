import { segmentKeys } from "@work-items/lib/changes/segment-store.ts";
import { type Clock, isoTime } from "@work-items/lib/clock.ts";
import { toOrganization } from "@work-items/lib/organizations/organization.ts";
import { type PartitionKind, resources, resourcesOfKind } from "@work-items/lib/resources.ts";
import { type OnDamaged, stopAtDamaged } from "@work-items/lib/store/decode-record.ts";
import { webhookKeys } from "@work-items/lib/webhooks/webhook-store.ts";
import { readForErasure, repairForErasure } from "./damaged-access.ts";
import { scanOrganization } from "./customer-records.ts";
import {
  createErasurePass,
  type ErasureCounts,
  type ErasureRuntime,
  type ErasureState,
  noCounts,
  objectsOf,
  QUIET_AFTER_MS,
} from "./erasure-pass.ts";
import { createErasureWrites, startErasing } from "./erasure-writes.ts";
import { WORKERS_END_WITHIN_MS } from "./jobs-before.ts";
import { listKeyNames, listKeys, revokeKey } from "./key-management.ts";
import { erasedAs, tablesOfData } from "./kinds-of-data.ts";
import type { ReadProgress } from "./metered-reads.ts";
import { INDEX_SHOWS_WITHIN_MS, traverseOrganization } from "./traverse-organization.ts";

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
  /** Called once nothing is left but the organization's record, without which the erasure can't be repeated. */
  readonly onErased?: () => Promise<void>;
}

/** Only the keys of items and events are read: they hold megabytes, and nothing in them matters. */
const KEYS_ONLY: ReadonlySet<PartitionKind> = new Set(["ITEM"]);

/** Why an erasure waits, in words. @param now milliseconds since the epoch, as all times */
function reasonOf(now: number, quiet: number, filesUntil: number): string {
  if (now < filesUntil && filesUntil > quiet) return "files may still arrive by forms";
  if (now < quiet) return "caches and workers may still know it";
  return "the index may not show everything yet, and workers may still know what was found";
}

/** Counts what erasing an organization would erase, as far as the index shows it. Nothing is changed. @throws NotFoundError */
export async function countForErasure(
  runtime: ErasureRuntime,
  organization: string,
  { onProgress, onDamaged = stopAtDamaged }: Pick<ErasureOptions, "onProgress" | "onDamaged"> = {},
): Promise<ReadProgress & { readonly erased: ErasureCounts }> {
  const erased = noCounts();
  const record = await readForErasure(runtime, organization, onDamaged);
  erased.keys = (await listKeyNames(runtime, organization)).length;
  const read = await traverseOrganization(
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

/** The two passes of an erasure. Each erases what it finds, and returns how many records and objects that were. */
interface Passes {
  /** By the organization's lists. */
  readonly byLists: () => Promise<number>;
  /** By a scan of the whole table, which also finds what no list leads to. */
  readonly byScan: () => Promise<number>;
}

/**
 * Repeats passes until nothing can come back and one has found nothing. Then scans the table, if it is to.
 * @param since when the erasure began, in milliseconds since the epoch
 * @returns how many passes it made by the lists
 */
async function repeatPasses(
  { byLists, byScan }: Passes,
  state: Readonly<ErasureState>,
  since: number,
  clock: Clock,
  { onWait, sleep, withoutScan = false }: ErasureOptions,
): Promise<number> {
  const quiet = since + QUIET_AFTER_MS;
  let isScanned = withoutScan;
  // An interrupted erasure may have deleted something just before this one began.
  let lastFound = clock();
  for (let passes = 1; ; passes++) {
    const began = clock();
    const found = await byLists();
    if (found > 0) lastFound = clock();
    const forgotten = Math.max(quiet, state.filesUntil);
    const settled = Math.max(forgotten + INDEX_SHOWS_WITHIN_MS, lastFound + WORKERS_END_WITHIN_MS);
    if (found === 0 && began >= settled) {
      if (isScanned || (await byScan()) === 0) return passes;
      isScanned = true;
      // A worker may have read what the scan found just before.
      lastFound = clock();
      continue;
    }
    // Once no cache or worker knows the organization, what is still found is erased at once.
    const until = clock() < forgotten || found > 0 ? forgotten : settled;
    if (clock() < until) {
      onWait?.(until, reasonOf(clock(), quiet, state.filesUntil));
      await sleep(until - clock());
    }
  }
}

/**
 * Erases everything of an organization. It first notes that the organization is being erased, so that keys and workers are refused,
 * and revokes the keys. Then it deletes records and objects, waits until no cache, worker or form can bring any back and the
 * index shows all earlier writes, and repeats this until it finds nothing. A scan of the whole table finds what no index
 * leads to. Last it deletes the keys and the organization itself. An interrupted erasure continues when it is repeated.
 * @throws NotFoundError, StoreBusyError, StateConflictError if another command has finished the erasure in the meantime
 */
export async function eraseOrganization(runtime: ErasureRuntime, organization: string, options: ErasureOptions) {
  const { onProgress, onDamaged = stopAtDamaged, withoutScan = false, onErased } = options;
  const { clock, environment } = runtime;
  const intact = await repairForErasure(runtime, organization, onDamaged);
  const before = await startErasing(runtime, intact, isoTime(clock()));
  const { erasing_since: since, files_until: filesUntil = isoTime(0) } = before;
  const writes = createErasureWrites(runtime, organization, since);
  // No key can be created from now on. If the erasure still goes on after the keys were listed, they are its own.
  const keys = await listKeyNames(runtime, organization);
  const readable = await listKeys(runtime, organization, onDamaged);
  await writes.assertOwn();
  for (const key of readable) await revokeKey(runtime, organization, key.key_id);

  const state: ErasureState = {
    erased: { ...noCounts(), ...before.erased, keys: keys.length },
    readUnits: 0,
    filesUntil: Date.parse(filesUntil),
  };
  const { pass, deleteAll } = createErasurePass(runtime, before, state, writes, onDamaged);
  const report = (progress: ReadProgress): void => onProgress?.({ ...progress, erased: state.erased });
  const traversal = { onProgress: report, listedLast: true, keysOnly: KEYS_ONLY };
  const passes: Passes = {
    byLists: () => pass((visit) => traverseOrganization(runtime, toOrganization(before), visit, traversal)),
    byScan: () => pass((visit) => scanOrganization(runtime, organization, visit, report)),
  };
  const passesMade = await repeatPasses(passes, state, Date.parse(since), clock, options);

  for (const [name] of resourcesOfKind("table")) {
    const last = tablesOfData[name].last(organization, keys);
    await deleteAll(environment[resources[name].variable], last, () => ({}));
  }
  await onErased?.();
  // Last: while it is there, the erasure can be repeated.
  await writes.finish();
  return {
    organization,
    region: runtime.region,
    /** ISO 8601: when the erasure began, and when nothing was left. */
    began_at: since,
    finished_at: isoTime(clock()),
    erased: state.erased,
    passes: passesMade,
    /** Whether the whole table was scanned for what no index leads to. */
    scanned: !withoutScan,
    read_units: state.readUnits,
  };
}
