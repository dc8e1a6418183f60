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

/** A target and its outcome so far. */
class Pending<R> {
  readonly target: WriteTarget<R>;
  /** Attempts that may have been carried out although their responses were lost. */
  readonly uncertain: Attempted<R>[] = [];
  outages = 0;
  result: WriteResult<R> | undefined;

  constructor(target: WriteTarget<R>) {
    this.target = target;
  }

  fail(error: string, permanent = false): void {
    this.result = { error, permanent };
  }

  /** The result, if the stored record shows the outcome of an attempt whose response was lost. */
  settleBy(stored: StoredRecord | undefined): void {
    const written = this.uncertain.find((attempt) => resultOfAttempt(attempt, stored) === "written");
    if (written) this.result = written;
    else if (this.uncertain.some((attempt) => resultOfAttempt(attempt, stored) === "unknown")) this.fail(UNKNOWN);
  }
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

/** The rounds in which records are read, planned and written until each target has its result. */
class OptimisticWrite<R> {
  readonly #store: RecordStore;
  readonly #options: OptimisticWriteOptions;
  readonly #until: number;
  /** The longest wait before the next round; undefined for that of a busy store. */
  #waitCap: number | undefined = CONFLICT_CAP_MS;

  constructor(store: RecordStore, options: OptimisticWriteOptions) {
    this.#store = store;
    this.#options = options;
    this.#until = Math.min(options.deadline, options.clock() + WITHIN_MS);
  }

  async run(targets: readonly WriteTarget<R>[]): Promise<WriteResult<R>[]> {
    const all = targets.map((target) => new Pending(target));
    let pending: readonly Pending<R>[] = all;
    for (let round = 0; pending.length > 0; round++) {
      if (round > 0) await backOff(round, this.#waitCap);
      await this.#runRound(round, pending);
      pending = pending.filter(({ result }) => result === undefined);
    }
    return all.map(({ result }) => result!);
  }

  async #runRound(round: number, pending: readonly Pending<R>[]): Promise<void> {
    const { clock, guard } = this.#options;
    const records = await this.#read(round, pending);
    // After the read: a call that was frozen in it must not write on what others have written since.
    const isLate = clock() > this.#until;
    if (records === undefined) {
      if (isLate) for (const entry of pending) entry.fail(OUT_OF_TIME);
      return;
    }
    await guard?.(round > 0);

    const writeId = newWriteId();
    const writing: Pending<R>[] = [];
    const attempts: Attempted<R>[] = [];
    for (const entry of pending) {
      const attempt = this.#plan(entry, records, isLate, writeId);
      if (attempt === undefined) continue;
      writing.push(entry);
      attempts.push(attempt);
    }
    const writes = attempts.map(({ write }) => write);
    const send = round === 0 ? this.#store.write : this.#store.writeNatively;
    const outcomes = await send(writes, async () => guard?.(false));
    const isBusy = outcomes.some(({ kind }) => kind === "busy" || kind === "outage");
    this.#waitCap = isBusy ? undefined : CONFLICT_CAP_MS;
    for (const [position, entry] of writing.entries()) {
      this.#settle(entry, attempts[position]!, outcomes[position]?.kind ?? "unknown");
    }
  }

  /** @returns undefined if a later read failed: some records are written then, and their results must be returned */
  async #read(round: number, pending: readonly Pending<R>[]): Promise<ReadonlyMap<string, StoredRecord> | undefined> {
    const { read = this.#store.read, known } = this.#options;
    if (round === 0 && known) return known;
    const keys = pending.map(({ target }) => target.key);
    return round === 0 ? read(keys) : read(keys).catch(() => undefined);
  }

  /** @returns the write to attempt; undefined if the target has its result */
  #plan(
    entry: Pending<R>,
    records: ReadonlyMap<string, StoredRecord>,
    isLate: boolean,
    writeId: string,
  ): Attempted<R> | undefined {
    const { target } = entry;
    try {
      const found = records.get(keyText(target.key));
      const stored = found && storedRecordFrom(found);
      entry.settleBy(stored);
      if (entry.result !== undefined) return undefined;
      if (isLate) entry.fail(OUT_OF_TIME);
      else if (entry.outages >= OUTAGES_MAX) entry.fail(OUTAGE);
      else {
        const { set, together, result } = target.plan(stored);
        if (set === null) entry.result = { result, record: stored };
        else {
          const attempt = attemptOn(stored, writeId);
          const write = writeOf(target.key, stored, set, attempt);
          const attempted = new Attempted(
            attempt,
            together ? { ...write, also: alsoOf(together, writeId) } : write,
            result,
          );
          if (!this.#options.dryRun) return attempted;
          // Plans for other records take this one for what it would become.
          entry.result = attempted;
        }
      }
    } catch (cause) {
      entry.result = { error: NOT_PLANNED, permanent: true, cause };
    }
    return undefined;
  }

  #settle(entry: Pending<R>, attempt: Attempted<R>, kind: WriteOutcome["kind"]): void {
    if (kind === "written") entry.result = attempt;
    else if (kind === "refused") entry.fail(REFUSED, true);
    else {
      if (kind === "unknown") entry.uncertain.push(attempt);
      if (kind === "outage") entry.outages += 1;
    }
  }
}

/**
 * Gives every target's record the attributes of its plan: reads the records, plans, and writes on condition that each
 * record still has the version that was read. Targets whose condition failed are read and planned again. A write whose
 * response was lost is recognized by its write id, so that nothing is applied twice.
 * @returns one result for each target, in order
 * If a plan throws, or a stored record is damaged, the target's result is a permanent error with the cause.
 * @throws only errors of `guard` and of the first read
 */
export function optimisticWrite<R>(
  store: RecordStore,
  targets: readonly WriteTarget<R>[],
  options: OptimisticWriteOptions,
): Promise<WriteResult<R>[]> {
  return new OptimisticWrite<R>(store, options).run(targets);
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
