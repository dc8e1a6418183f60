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

/** Limits retries by time, not by number: even forty competing writers of one record succeed within a few seconds. */
const WITHIN_MS = 20_000;
/** Attempts on a table that cannot be used; a busy one is retried until the time is over. */
const OUTAGES_MAX = 3;

/** What is written to a record that was read. */
export interface RecordWrite {
  readonly record: StoredRecord;
  /** The attributes that it should have. */
  readonly set: Attributes;
}

/** A record to write, and the rule for its new attributes. */
export interface WriteTarget<R> {
  readonly key: RecordKey;
  /**
   * A pure function of the stored record; called again if another writer changed the record first.
   * `set`: the attributes that the record should have, or null to write nothing. `together`: another record that is written
   * in one transaction with it.
   */
  plan(stored: StoredRecord | undefined): {
    readonly set: Attributes | null;
    readonly together?: RecordWrite | undefined;
    readonly result: R;
  };
}

/** The plan's result for one target and the record after it, or the reason why the plan was not carried out. */
export type WriteResult<R> =
  | { readonly result: R; readonly record: StoredRecord | undefined }
  | {
      readonly error: string;
      readonly permanent: boolean;
      /** What the plan, or the check of the stored record, has thrown. */
      readonly cause?: unknown;
    };

export interface OptimisticWriteOptions {
  readonly clock: Clock;
  /** Milliseconds since the epoch after which no further attempt is made. At most 20 s are spent in any case. */
  readonly deadline: number;
  /** Makes plans without writing. @default false */
  readonly dryRun?: boolean | undefined;
  /**
   * Called in every round between the read and the writes, and between them where they are many; throws to prevent all
   * further writes.
   * @param isRetry whether it is a later round: others write to the records too
   */
  readonly guard?: ((isRetry: boolean) => Promise<void>) | undefined;
  /** Reads the records. @default the store's `read` */
  readonly read?: ReadRecords | undefined;
  /** Records that were just read, by `keyText`, so that the first round does not read them again. */
  readonly known?: ReadonlyMap<string, StoredRecord> | undefined;
}

/** A write and what is known of it once it is carried out, by which it is also recognized later. */
function attempted<R>(attempt: WriteAttempt, write: ConditionalWrite, result: R) {
  return {
    ...attempt,
    write,
    result,
    /** The record after the write. Made when it is read: of a batch's many records it is not. */
    get record(): StoredRecord {
      const { key, before, set } = write;
      return { ...before, ...key, ...set } as StoredRecord;
    },
  };
}
type Attempted<R> = ReturnType<typeof attempted<R>>;

/** A target and its outcome so far. */
interface Pending<R> {
  readonly target: WriteTarget<R>;
  /** Attempts that may have been carried out although their responses were lost. */
  readonly uncertain: Attempted<R>[];
  outages: number;
  result: WriteResult<R> | undefined;
}

function failed(error: string, permanent = false) {
  return { error, permanent };
}

/** The result, if the stored record shows the outcome of an attempt whose response was lost. */
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

/** The attributes of `set` that differ from the stored ones, where absent equals null; undefined ones are removed. */
function changesOf(stored: StoredRecord, set: Attributes) {
  const changed = Object.entries(set).filter(([name, value]) => (stored[name] ?? null) !== (value ?? null));
  return {
    set: Object.fromEntries(changed.filter(([, value]) => value !== undefined)),
    remove: changed.flatMap(([name, value]) => (value === undefined ? [name] : [])),
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

/** The write of another record in one transaction. */
function alsoOf({ record, set }: RecordWrite, writeId: string): ConditionalWrite {
  return writeOf({ pk: record.pk, sk: record.sk }, record, set, attemptOn(record, writeId));
}

/**
 * Gives every target's record the attributes of its plan: reads the records, plans, and writes on condition that each
 * record still has the version that was read. Targets whose condition failed are read and planned again. A write whose
 * response was lost is recognized by its write id, so that nothing is applied twice.
 * @returns one result for each target, in order
 * If a plan throws, or a stored record is damaged, the target's result is a permanent error with the cause.
 * @throws only errors of `guard` and of the first read
 */
export async function optimisticWrite<R>(
  store: RecordStore,
  targets: readonly WriteTarget<R>[],
  { clock, deadline, dryRun = false, guard, read = store.read, known }: OptimisticWriteOptions,
): Promise<WriteResult<R>[]> {
  const until = Math.min(deadline, clock() + WITHIN_MS);
  /** The longest wait before the next round; undefined for that of a busy store. */
  let waitCap: number | undefined = CONFLICT_CAP_MS;

  /** @returns undefined if a later read failed: some records are written then, and their results must be returned */
  const readRound = async (round: number, pending: readonly Pending<R>[]) => {
    if (round === 0 && known) return known;
    const reading = read(pending.map(({ target }) => target.key));
    return round === 0 ? reading : reading.catch(() => undefined);
  };
  /** @returns the write to attempt; undefined if the target has its result */
  const plan = (
    entry: Pending<R>,
    found: StoredRecord | undefined,
    isLate: boolean,
    writeId: string,
  ): Attempted<R> | undefined => {
    const { target } = entry;
    try {
      const stored = found && storedRecordFrom(found);
      entry.result = settledBy(stored, entry);
      if (entry.result !== undefined) return undefined;
      if (isLate) entry.result = failed(OUT_OF_TIME);
      else if (entry.outages >= OUTAGES_MAX) entry.result = failed(OUTAGE);
      else {
        const { set, together, result } = target.plan(stored);
        if (set === null) entry.result = { result, record: stored };
        else {
          const attempt = attemptOn(stored, writeId);
          const write = writeOf(target.key, stored, set, attempt);
          const both = together ? { ...write, also: alsoOf(together, writeId) } : write;
          const planned = attempted(attempt, both, result);
          if (!dryRun) return planned;
          // Plans for other records take this one for what it would become.
          entry.result = planned;
        }
      }
    } catch (cause) {
      entry.result = { error: NOT_PLANNED, permanent: true, cause };
    }
    return undefined;
  };
  const settle = (entry: Pending<R>, attempt: Attempted<R>, kind: WriteOutcome["kind"]): void => {
    if (kind === "written") entry.result = attempt;
    else if (kind === "refused") entry.result = failed(REFUSED, true);
    else if (kind === "unknown") entry.uncertain.push(attempt);
    else if (kind === "outage") entry.outages += 1;
  };
  const runRound = async (round: number, pending: readonly Pending<R>[]): Promise<void> => {
    const records = await readRound(round, pending);
    // After the read: a call that was frozen in it must not write on what others have written since.
    const isLate = clock() > until;
    if (records === undefined) {
      if (isLate) for (const entry of pending) entry.result = failed(OUT_OF_TIME);
      return;
    }
    await guard?.(round > 0);

    const writeId = newWriteId();
    const attempts = pending.flatMap((entry) => {
      const attempt = plan(entry, records.get(keyText(entry.target.key)), isLate, writeId);
      return attempt === undefined ? [] : [{ entry, attempt }];
    });
    const writes = attempts.map(({ attempt }) => attempt.write);
    const send = round === 0 ? store.write : store.writeNatively;
    const outcomes = await send(writes, async () => guard?.(false));
    const isBusy = outcomes.some(({ kind }) => kind === "busy" || kind === "outage");
    waitCap = isBusy ? undefined : CONFLICT_CAP_MS;
    for (const [position, { entry, attempt }] of attempts.entries()) {
      settle(entry, attempt, outcomes[position]?.kind ?? "unknown");
    }
  };

  const all = targets.map((target): Pending<R> => ({ target, uncertain: [], outages: 0, result: undefined }));
  let pending: readonly Pending<R>[] = all;
  for (let round = 0; pending.length > 0; round++) {
    if (round > 0) await backOff(round, waitCap);
    await runRound(round, pending);
    pending = pending.filter(({ result }) => result === undefined);
  }
  return all.map(({ result }) => result!);
}

/** `optimisticWrite` of one record. @throws StoreBusyError if the plan could not be carried out, and errors of the plan */
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
