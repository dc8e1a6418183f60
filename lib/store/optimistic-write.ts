import { backOff, CONFLICT_CAP_MS } from "../retry.ts";
import type { Clock } from "../clock.ts";
import { StoreBusyError } from "../errors.ts";
import { keyText } from "./batch-get.ts";
import type { ConditionalWrite, ReadRecords, RecordStore } from "./record-store.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import {
  attemptOn,
  newWriteId,
  type RecordKey,
  resultOfAttempt,
  type StoredRecord,
  storedRecordFrom,
  versionedBy,
  withoutNulls,
  type WriteAttempt,
} from "./versioned-record.ts";
import type { WriteOutcome } from "./write-outcome.ts";

/** Retries are limited by time, not by number. Even forty writers of one record succeed within a few seconds. */
export const WRITE_WITHIN_MS = 20_000;
/** Attempts on a table that can't be used. A busy table is retried until time runs out. */
const OUTAGES_MAX = 3;

/** A write to a record that was read. */
export interface RecordWrite {
  readonly record: StoredRecord;
  /** The attributes that it should have. */
  readonly set: Attributes;
}

/** A record to write, and the rule for its new attributes. */
export interface WriteTarget<R> {
  readonly key: RecordKey;
  /**
   * A pure function of the stored record. It is called again if another writer changed the record first.
   * `set`: the attributes that the record should have, or null to write nothing. `together`: a write in the same
   * transaction.
   */
  plan(stored: StoredRecord | undefined): {
    readonly set: Attributes | null;
    readonly together?: RecordWrite | undefined;
    readonly result: R;
  };
}

/** The result of a target's plan and the record after it, or why the plan wasn't carried out. */
export type WriteResult<R> =
  | { readonly result: R; readonly record: StoredRecord | undefined }
  | {
      readonly error: string;
      readonly permanent: boolean;
      /** What the plan, or the check of the stored record, threw. */
      readonly cause?: unknown;
    };

export interface OptimisticWriteOptions {
  readonly clock: Clock;
  /** Time after which no attempt is made, in milliseconds since the epoch. It takes at most 20 s in any case. */
  readonly deadline: number;
  /** Makes plans without writing. @default false */
  readonly dryRun?: boolean | undefined;
  /**
   * Called in every round between the read and the writes, and between many writes. It throws to prevent further writes.
   * @param isRetry whether this is a later round, in which others write to the records too
   */
  readonly guard?: ((isRetry: boolean) => Promise<void>) | undefined;
  /** Reads the records. @default the store's `read` */
  readonly read?: ReadRecords | undefined;
  /** Records that were just read, by `keyText`. The first round doesn't read them again. */
  readonly prefetched?: ReadonlyMap<string, StoredRecord> | undefined;
}

/** A planned write, with its result and how to recognize it later. */
class Attempted<R> implements WriteAttempt {
  readonly version: number;
  readonly writeId: string;
  readonly write: ConditionalWrite;
  readonly result: R;

  constructor({ version, writeId }: WriteAttempt, write: ConditionalWrite, result: R) {
    this.version = version;
    this.writeId = writeId;
    this.write = write;
    this.result = result;
  }

  /** The record after the write. A getter, since batches of many records don't use it. */
  get record(): StoredRecord {
    const { key, before, set } = this.write;
    return { ...before, ...key, ...set } as StoredRecord;
  }
}

/** A target and its outcome so far. */
interface Pending<R> {
  readonly target: WriteTarget<R>;
  /** Attempts whose responses were lost. They may have been carried out. */
  readonly uncertain: Attempted<R>[];
  outages: number;
  result: WriteResult<R> | undefined;
}

function failed(error: string, permanent = false) {
  return { error, permanent };
}

/** The result, if an attempt's response was lost and the stored record shows its outcome. */
function settledBy<R>(stored: StoredRecord | undefined, { uncertain }: Pending<R>): WriteResult<R> | undefined {
  const isUnknown = (attempt: WriteAttempt): boolean => resultOfAttempt(attempt, stored) === "unknown";
  return (
    uncertain.find((attempt) => resultOfAttempt(attempt, stored) === "written") ??
    (uncertain.some(isUnknown) ? failed(UNKNOWN) : undefined)
  );
}

const OUT_OF_TIME = "time ran out before it was applied; send it again";
const OUTAGE = "the store is unavailable; send it again";
const UNKNOWN = "the store didn't respond and others have changed it since, so the outcome is unknown; send it again";
const REFUSED = "it is too large to be stored";
const NOT_PLANNED = "it doesn't fit what is stored";

/** The attributes of `set` that differ from the stored ones. Absent equals null; undefined ones are removed. */
function changesOf(stored: StoredRecord, set: Attributes) {
  const changed = Object.entries(set).filter(([name, value]) => (stored[name] ?? null) !== (value ?? null));
  return {
    set: Object.fromEntries(changed.filter(([, value]) => value !== undefined)),
    remove: changed.filter(([, value]) => value === undefined).map(([name]) => name),
  };
}

/** The write that gives a record the attributes in `set`. */
function writeOf(
  key: RecordKey,
  before: StoredRecord | undefined,
  set: Attributes,
  attempt: WriteAttempt,
): ConditionalWrite {
  const versioned = versionedBy(before, attempt);
  if (before === undefined) return { key, before, set: Object.assign(withoutNulls(set), versioned), remove: [] };
  const { set: changed, remove } = changesOf(before, { ...set, ...versioned });
  return { key, before, set: changed, remove };
}

/** A write in the same transaction. */
function alsoOf({ record, set }: RecordWrite, writeId: string): ConditionalWrite {
  return writeOf({ pk: record.pk, sk: record.sk }, record, set, attemptOn(record, writeId));
}

/** The next step of a target: it has its result, or a write is attempted. */
type Step<R> = { readonly result: WriteResult<R> } | { readonly attempt: Attempted<R> };

/** @param found the record as it was read @param isLate whether no more attempts may be made */
function nextStep<R>(entry: Pending<R>, found: StoredRecord | undefined, isLate: boolean, writeId: string): Step<R> {
  const { target, outages } = entry;
  try {
    const stored = found && storedRecordFrom(found);
    const settled = settledBy(stored, entry);
    if (settled !== undefined) return { result: settled };
    if (isLate) return { result: failed(OUT_OF_TIME) };
    if (outages >= OUTAGES_MAX) return { result: failed(OUTAGE) };
    const { set, together, result } = target.plan(stored);
    if (set === null) return { result: { result, record: stored } };
    const attempt = attemptOn(stored, writeId);
    const write = writeOf(target.key, stored, set, attempt);
    const both = together ? { ...write, also: alsoOf(together, writeId) } : write;
    return { attempt: new Attempted(attempt, both, result) };
  } catch (cause) {
    return { result: { error: NOT_PLANNED, permanent: true, cause } };
  }
}

/** Notes the outcome of an attempt. After a conflict or a busy store, nothing is noted and the next round attempts again. */
function noteOutcome<R>(entry: Pending<R>, attempt: Attempted<R>, kind: WriteOutcome["kind"]): void {
  if (kind === "written") entry.result = attempt;
  else if (kind === "refused") entry.result = failed(REFUSED, true);
  else if (kind === "unknown") entry.uncertain.push(attempt);
  else if (kind === "outage") entry.outages += 1;
}

/** Plans all pending targets and attempts their writes. @returns whether the store was busy */
async function attemptAll<R>(
  pending: readonly Pending<R>[],
  records: ReadonlyMap<string, StoredRecord>,
  isLate: boolean,
  { dryRun = false, guard }: OptimisticWriteOptions,
  send: RecordStore["write"],
): Promise<boolean> {
  const writeId = newWriteId();
  const attempts: { readonly entry: Pending<R>; readonly attempt: Attempted<R> }[] = [];
  for (const entry of pending) {
    const step = nextStep(entry, records.get(keyText(entry.target.key)), isLate, writeId);
    if ("result" in step) entry.result = step.result;
    // Plans for other records see what this one would become.
    else if (dryRun) entry.result = step.attempt;
    else attempts.push({ entry, attempt: step.attempt });
  }
  const writes = attempts.map(({ attempt }) => attempt.write);
  const outcomes = await send(writes, async () => guard?.(false));
  for (const [index, { entry, attempt }] of attempts.entries()) {
    noteOutcome(entry, attempt, outcomes[index]?.kind ?? "unknown");
  }
  return outcomes.some(({ kind }) => kind === "busy" || kind === "outage");
}

/**
 * Writes records in rounds. Each round reads the records of the targets without a result, plans, and writes on condition that
 * each record still has the version that was read. A target whose condition failed takes part in the next round. A write whose
 * response was lost is recognized by its write id, so nothing is applied twice. If a plan throws, or a stored record is
 * damaged, the result is a permanent error.
 * @returns one result for each target, in order
 * @throws only errors of `guard` and of the first read
 */
export async function optimisticWrite<R>(
  store: RecordStore,
  targets: readonly WriteTarget<R>[],
  options: OptimisticWriteOptions,
): Promise<WriteResult<R>[]> {
  const { clock, deadline, guard, read = store.read, prefetched } = options;
  const until = Math.min(deadline, clock() + WRITE_WITHIN_MS);
  const all = targets.map((target): Pending<R> => ({ target, uncertain: [], outages: 0, result: undefined }));
  let pending: readonly Pending<R>[] = all;
  let wasBusy = false;
  for (let round = 0; pending.length > 0; round++) {
    const isRetry = round > 0;
    if (isRetry) await backOff(round, wasBusy ? undefined : CONFLICT_CAP_MS);
    const keys = pending.map(({ target }) => target.key);
    // If a later read fails, records written before must still get their results.
    const records = isRetry ? await read(keys).catch(() => undefined) : (prefetched ?? (await read(keys)));
    // Checked after the read: a call that was frozen during it must not overwrite what others wrote since.
    const isLate = clock() > until;
    if (records !== undefined) {
      await guard?.(isRetry);
      wasBusy = await attemptAll(pending, records, isLate, options, isRetry ? store.writeNatively : store.write);
    } else if (isLate) {
      for (const entry of pending) entry.result = failed(OUT_OF_TIME);
    }
    pending = pending.filter(({ result }) => result === undefined);
  }
  return all.map(({ result }) => result!);
}

/** `optimisticWrite` of one record. @throws StoreBusyError if the plan couldn't be carried out, and errors of the plan */
export async function optimisticWriteOne<R>(
  store: RecordStore,
  target: WriteTarget<R>,
  options: OptimisticWriteOptions,
): Promise<{ readonly result: R; readonly record: StoredRecord | undefined }> {
  const [written] = await optimisticWrite(store, [target], options);
  if (written === undefined) throw new StoreBusyError("not attempted");
  if ("error" in written) throw written.cause ?? new StoreBusyError(written.error);
  return written;
}
