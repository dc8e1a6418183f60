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

/** Limits retries by time, not by number: even forty competing writers of one record succeed within a few seconds. */
const WITHIN_MS = 20_000;
/** Attempts on a table that cannot be used; a busy one is retried until the time is over. */
const OUTAGES_MAX = 3;

/** A record to write, and the rule for its new attributes. */
export interface WriteTarget<R> {
  readonly key: RecordKey;
  /**
   * A pure function of the stored record; called again if another writer changed the record first.
   * `set`: the attributes that the record should have, or null to write nothing.
   */
  plan(stored: StoredRecord | undefined): { readonly set: Attributes | null; readonly result: R };
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

/** Options of `optimisticWrite`. */
export interface OptimisticWriteOptions {
  readonly clock: Clock;
  /** Milliseconds since the epoch after which no further attempt is made. At most 20 s are spent in any case. */
  readonly deadline: number;
  /** Makes plans without writing. @default false */
  readonly dryRun?: boolean | undefined;
  /** Called in every round between the read and the writes; throws to prevent all further writes. */
  readonly guard?: (() => void) | undefined;
  /** Called if a request was refused or had no response that can be read. */
  readonly onRefused?: (() => void) | undefined;
  /** Reads the records. @default the store's `read` */
  readonly read?: ReadRecords | undefined;
  /** Records that were just read, by `keyText`, so that the first round does not read them again. */
  readonly known?: ReadonlyMap<string, StoredRecord> | undefined;
}

/** A write and what is known of it once it is carried out, by which it is also recognized later. */
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

  /** The record after the write. Made when it is read: of a batch's many records it is not. */
  get record(): StoredRecord {
    const { key, before, set } = this.write;
    return { ...before, ...key, ...set } as StoredRecord;
  }
}

interface Pending<R> {
  readonly index: number;
  readonly target: WriteTarget<R>;
  /** Attempts that may have been carried out although their responses were lost. */
  readonly uncertain: Attempted<R>[];
  outages: number;
}

const OUT_OF_TIME = "time ran out before it was applied; send it again";
const OUTAGE = "the store cannot be used at the moment; send it again";
const UNKNOWN = "the store did not answer and others changed it since, so its outcome is unknown; send it again";
const REFUSED = "the store refused it: it is too large";
const NOT_PLANNED = "what is stored does not let it be applied";

/** The attributes of `set` that differ from the stored ones, where absent equals null; undefined ones are removed. */
function changesOf(stored: StoredRecord, set: Attributes) {
  const changed = Object.entries(set).filter(([name, value]) => (stored[name] ?? null) !== (value ?? null));
  return {
    set: Object.fromEntries(changed.filter(([, value]) => value !== undefined)),
    remove: changed.flatMap(([name, value]) => (value === undefined ? [name] : [])),
  };
}

/** The write that gives a record the attributes in `set`. */
function attemptOf<R>(
  key: RecordKey,
  before: StoredRecord | undefined,
  set: Attributes,
  result: R,
  writeId: string,
): Attempted<R> {
  const attempt = attemptOn(before, writeId);
  const versioned = versionedBy(before, attempt);
  if (before === undefined) {
    const write = { key, before, set: Object.assign(withoutNulls(set), versioned), remove: [] };
    return new Attempted(attempt, write, result);
  }
  const { set: changed, remove } = changesOf(before, { ...set, ...versioned });
  return new Attempted(attempt, { key, before, set: changed, remove }, result);
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
  { clock, deadline, dryRun = false, guard, onRefused, read = store.read, known }: OptimisticWriteOptions,
): Promise<WriteResult<R>[]> {
  const results: WriteResult<R>[] = [];
  const until = Math.min(deadline, clock() + WITHIN_MS);
  let pending: Pending<R>[] = targets.map((target, index) => ({
    index,
    target,
    uncertain: [],
    outages: 0,
  }));
  let waitCap = CONFLICT_CAP_MS as number | undefined;

  const fail = ({ index }: Pending<R>, error: string, permanent = false): void => {
    results[index] = { error, permanent };
  };

  for (let round = 0; pending.length > 0; round++) {
    if (round > 0) await backOff(round, waitCap);
    const keys = pending.map(({ target }) => target.key);
    // From the second round on, some records are written: their results must be returned even if a read fails.
    const records = round === 0 ? (known ?? (await read(keys))) : await read(keys).catch(() => undefined);
    // After the read: a call that was frozen in it must not write on what others have written since.
    const isLate = clock() > until;
    if (records === undefined) {
      onRefused?.();
      if (!isLate) continue;
      for (const entry of pending) fail(entry, OUT_OF_TIME);
      break;
    }
    guard?.();

    const writeId = newWriteId();
    const writing: Pending<R>[] = [];
    const attempts: Attempted<R>[] = [];
    for (const entry of pending) {
      try {
        const { index, target, uncertain } = entry;
        const found = records.get(keyText(target.key));
        const stored = found && storedRecordFrom(found);
        const written = uncertain.find((attempt) => resultOfAttempt(attempt, stored) === "written");
        if (written) results[index] = written;
        else if (uncertain.some((attempt) => resultOfAttempt(attempt, stored) === "unknown")) fail(entry, UNKNOWN);
        else if (isLate) fail(entry, OUT_OF_TIME);
        else if (entry.outages >= OUTAGES_MAX) fail(entry, OUTAGE);
        else {
          const { set, result } = target.plan(stored);
          if (set === null || dryRun) results[index] = { result, record: stored };
          else {
            attempts.push(attemptOf(target.key, stored, set, result, writeId));
            writing.push(entry);
          }
        }
      } catch (cause) {
        results[entry.index] = { error: NOT_PLANNED, permanent: true, cause };
      }
    }

    const batch = attempts.map(({ write }) => write);
    const outcomes = await (round === 0 ? store.write(batch) : store.writeNatively(batch));
    waitCap = outcomes.some(({ kind }) => kind === "busy" || kind === "outage") ? undefined : CONFLICT_CAP_MS;
    pending = [];
    for (let position = 0; position < writing.length; position++) {
      const entry = writing[position]!;
      const kind = outcomes[position]?.kind ?? "unknown";
      if (kind === "written") results[entry.index] = attempts[position]!;
      else if (kind === "refused") fail(entry, REFUSED, true);
      else {
        if (kind === "unknown") entry.uncertain.push(attempts[position]!);
        if (kind === "outage") entry.outages += 1;
        if (kind !== "lost") onRefused?.();
        pending.push(entry);
      }
    }
  }
  return results;
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
