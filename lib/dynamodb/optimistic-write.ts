import { backOff, CONFLICT_CAP_MS } from "../backoff.ts";
import type { Clock } from "../clock.ts";
import { StoreBusyError } from "../errors.ts";
import { keyText } from "./batch-get.ts";
import type { ConditionalWrite, ReadRecords, RecordStore } from "./record-store.ts";
import {
  attemptOn,
  type Attributes,
  newWriteId,
  type RecordKey,
  resultOfAttempt,
  type StoredRecord,
  versionedBy,
  withoutNulls,
  type WriteAttempt,
} from "./versioned-record.ts";

/** Writers that meet at one record are bounded by time, not by attempts: forty of them each win within a few seconds. */
const WITHIN_MS = 20_000;
/** A store that cannot be used is not asked for as long as one that is only busy. */
const OUTAGES_MAX = 3;

/** One record and the rule that says what it should become. */
export interface WriteTarget<R> {
  readonly key: RecordKey;
  /**
   * Pure in the stored record; asked again after every lost race.
   * `set`: the attributes that the record should have, null where nothing is to be written.
   */
  plan(stored: StoredRecord | undefined): { readonly set: Attributes | null; readonly result: R };
}

/** The plan's result for one target with the record as it is now, or why the plan could not be carried out. */
export type WriteResult<R> =
  | { readonly result: R; readonly record: StoredRecord | undefined }
  | { readonly error: string; readonly permanent: boolean };

export interface OptimisticWriteOptions {
  readonly clock: Clock;
  /** Milliseconds since the epoch after which no further attempt is made. At most 20 s are spent in any case. */
  readonly deadline: number;
  /** Plans and does not write. @default false */
  readonly dryRun?: boolean | undefined;
  /** Called after every read that a plan is based on and before the writes; throws to stop all writing. */
  readonly guard?: (() => void) | undefined;
  /** How records are read. @default the store's own */
  readonly read?: ReadRecords | undefined;
  /** Records as just read, so that the first round need not read again. */
  readonly known?: ReadonlyMap<string, StoredRecord> | undefined;
}

interface Attempted<R> extends WriteAttempt {
  readonly result: R;
  readonly record: StoredRecord;
}

interface Pending<R> {
  readonly index: number;
  readonly target: WriteTarget<R>;
  /** Attempts that may have been written although their answers were lost. */
  readonly uncertain: Attempted<R>[];
  outages: number;
}

const OUT_OF_TIME = "time ran out before it was applied; send it again";
const OUTAGE = "the store cannot be used at the moment; send it again";
const UNKNOWN = "the store did not answer and others changed it since, so its outcome is unknown; send it again";
const REFUSED = "the store refused it: it is too large";

/** Attributes of `set` that differ from the stored ones, where absent is null; undefined ones are to be removed. */
const changesOf = (stored: StoredRecord | undefined, set: Attributes) => {
  if (stored === undefined) return { set: withoutNulls(set), remove: [] };
  const changed = Object.entries(set).filter(([name, value]) => (stored[name] ?? null) !== (value ?? null));
  return {
    set: Object.fromEntries(changed.filter(([, value]) => value !== undefined)),
    remove: changed.flatMap(([name, value]) => (value === undefined ? [name] : [])),
  };
};

/** The write that makes a record what `set` says, and what to remember of it. */
const attemptOf = <R>(
  key: RecordKey,
  stored: StoredRecord | undefined,
  set: Attributes,
  result: R,
  writeId: string,
) => {
  const attempt = attemptOn(stored, writeId);
  const versioned = versionedBy(stored, attempt);
  const changes = changesOf(stored, { ...set, ...versioned });
  const write: ConditionalWrite = { key, before: stored, ...changes };
  const record: StoredRecord = { ...stored, ...key, ...changes.set, ...versioned };
  return { write, attempted: { ...attempt, result, record } satisfies Attempted<R> };
};

/**
 * Brings every target's record to what its plan says: reads, plans, writes on condition of the version read, and plans
 * the losers of a race again. A write whose answer was lost is recognized by its write id, so nothing is applied twice
 * and a plan's result stands although its answer never came.
 * @returns one result a target, in order; throws only what `guard`, a plan or the first read throws
 */
export const optimisticWrite = async <R>(
  store: RecordStore,
  targets: readonly WriteTarget<R>[],
  { clock, deadline, dryRun = false, guard, read = store.read, known }: OptimisticWriteOptions,
): Promise<WriteResult<R>[]> => {
  const results: WriteResult<R>[] = [];
  const until = Math.min(deadline, clock() + WITHIN_MS);
  let pending: Pending<R>[] = targets.map((target, index) => ({ index, target, uncertain: [], outages: 0 }));
  let waitCap = CONFLICT_CAP_MS as number | undefined;

  const fail = ({ index }: Pending<R>, error: string, permanent = false): void => {
    results[index] = { error, permanent };
  };

  for (let round = 0; pending.length > 0; round++) {
    if (round > 0) await backOff(round, waitCap);
    const isLate = clock() > until;
    const keys = pending.map(({ target }) => target.key);
    // By the second round some records are written, and what became of them must be told even where a read fails.
    const records = round === 0 ? (known ?? (await read(keys))) : await read(keys).catch(() => undefined);
    if (records === undefined) {
      if (!isLate) continue;
      for (const entry of pending) fail(entry, OUT_OF_TIME);
      break;
    }
    guard?.();

    const writeId = newWriteId();
    const writes: { readonly entry: Pending<R>; readonly write: ConditionalWrite; readonly attempted: Attempted<R> }[] =
      [];
    for (const entry of pending) {
      const { index, target, uncertain } = entry;
      const stored = records.get(keyText(target.key));
      const found = uncertain.map((attempt) => resultOfAttempt(attempt, stored));
      const written = uncertain[found.indexOf("written")];
      if (written) results[index] = written;
      else if (found.includes("unknown")) fail(entry, UNKNOWN);
      else if (isLate) fail(entry, OUT_OF_TIME);
      else if (entry.outages >= OUTAGES_MAX) fail(entry, OUTAGE);
      else {
        const { set, result } = target.plan(stored);
        if (set === null || dryRun) results[index] = { result, record: stored };
        else writes.push({ entry, ...attemptOf(target.key, stored, set, result, writeId) });
      }
    }

    const batch = writes.map(({ write }) => write);
    const outcomes = await (round === 0 ? store.write(batch) : store.writeNatively(batch));
    waitCap = outcomes.some(({ kind }) => kind === "busy" || kind === "outage") ? undefined : CONFLICT_CAP_MS;
    pending = [];
    for (const [position, { entry, attempted }] of writes.entries()) {
      const kind = outcomes[position]?.kind ?? "unknown";
      if (kind === "written") results[entry.index] = attempted;
      else if (kind === "refused") fail(entry, REFUSED, true);
      else {
        if (kind === "unknown") entry.uncertain.push(attempted);
        if (kind === "outage") entry.outages += 1;
        pending.push(entry);
      }
    }
  }
  return results;
};

/** As `optimisticWrite`, of one record. @throws StoreBusyError where the plan could not be carried out */
export const optimisticWriteOne = async <R>(
  store: RecordStore,
  target: WriteTarget<R>,
  options: OptimisticWriteOptions,
): Promise<{ readonly result: R; readonly record: StoredRecord | undefined }> => {
  const [written] = await optimisticWrite(store, [target], options);
  if (written === undefined || "error" in written) throw new StoreBusyError(written?.error ?? "not attempted");
  return written;
};
