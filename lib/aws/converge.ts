import { backOff } from "../backoff.ts";
import type { Clock } from "../clock.ts";
import { type ConditionalWrite, keyText, type RecordStore, type WriteOutcome } from "./record-store.ts";
import {
  attemptOn,
  type Attributes,
  fateOf,
  newWriteId,
  type RecordKey,
  type StoredRecord,
  versionedBy,
  withoutNulls,
  type WriteAttempt,
} from "./versioned-record.ts";

/** A record with contention on it is retried this often before we say that it is busy. */
const ATTEMPTS_MAX = 8;

/** One record and the rule that says what it should become. */
export interface RecordTarget<R> {
  readonly key: RecordKey;
  /**
   * Pure in the stored record; asked again after every lost race.
   * `set`: the attributes that the record should have, null where nothing is to be written.
   */
  plan(stored: StoredRecord | undefined): { readonly set: Attributes | null; readonly result: R };
}

/** What became of a target: its plan's result, or why it could not be carried out. */
export type Converged<R> =
  | { readonly result: R; readonly record: StoredRecord | undefined }
  | { readonly error: string; readonly permanent: boolean };

export interface ConvergeOptions {
  readonly clock: Clock;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
  readonly dryRun?: boolean;
  /** Called after every read that a plan is based on and before the writes; throws to stop all writing. */
  readonly guard?: () => void;
  /** Records as just read, strongly consistent, so that the first round need not read again. */
  readonly read?: ReadonlyMap<string, StoredRecord>;
}

interface Attempted<R> extends WriteAttempt {
  readonly result: R;
  readonly record: StoredRecord;
}

interface Pending<R> {
  readonly index: number;
  readonly target: RecordTarget<R>;
  readonly attempts: Attempted<R>[];
}

const OUT_OF_TIME = "time ran out before it was applied; send it again";
const CONFLICT = "the store is busy or others change it at the same time; send it again";
const UNKNOWN = "the store did not answer and others changed it since, so its outcome is unknown; send it again";

/** Undefined where a re-read fails: by then some records are written, and what became of them must still be told. */
const readOrEmpty = async (store: RecordStore, pending: readonly Pending<unknown>[], round: number) => {
  const reading = store.read(pending.map(({ target }) => target.key));
  return round === 0 ? reading : reading.catch(() => undefined);
};

/** Attributes of `set` that differ from the stored ones, where absent is null; undefined ones are to be removed. */
const changesOf = (stored: StoredRecord | undefined, set: Attributes) => {
  if (stored === undefined) return { set: withoutNulls(set), remove: [] };
  const changed = Object.entries(set).filter(([name, value]) => (stored[name] ?? null) !== (value ?? null));
  return {
    set: Object.fromEntries(changed.filter(([, value]) => value !== undefined)),
    remove: changed.flatMap(([name, value]) => (value === undefined ? [name] : [])),
  };
};

/**
 * Brings every target's record to what its plan says: reads, plans, writes on condition of the version read, and plans
 * the losers of a race again. A write whose answer was lost is recognized by its write id, so nothing is applied twice
 * and a plan's result stands although its answer never came.
 * @returns one entry a target, in order; throws only what `guard`, a plan or the first read throws
 */
export const converge = async <R>(
  store: RecordStore,
  targets: readonly RecordTarget<R>[],
  options: ConvergeOptions,
): Promise<Converged<R>[]> => {
  const settled: Converged<R>[] = [];
  let pending: Pending<R>[] = targets.map((target, index) => ({ index, target, attempts: [] }));

  for (let round = 0; pending.length > 0; round++) {
    if (round > 0) await backOff(round);
    const late = options.clock() > options.deadline;
    const giveUp = late || round >= ATTEMPTS_MAX;
    const known = round === 0 ? options.read : undefined;
    const records = known ?? (await readOrEmpty(store, pending, round));
    if (records === undefined) {
      if (!giveUp) continue;
      for (const { index } of pending) settled[index] = { error: CONFLICT, permanent: false };
      break;
    }
    options.guard?.();

    const writeId = newWriteId();
    const writes: { readonly entry: Pending<R>; readonly write: ConditionalWrite; readonly attempted: Attempted<R> }[] =
      [];
    for (const entry of pending) {
      const { index, target, attempts } = entry;
      const stored = records.get(keyText(target.key));
      const fates = attempts.map((attempt) => fateOf(attempt, stored));
      const applied = attempts[fates.indexOf("applied")];
      if (applied) {
        settled[index] = applied;
        continue;
      }
      if (giveUp || fates.includes("unknown")) {
        const error = fates.includes("unknown") ? UNKNOWN : late ? OUT_OF_TIME : CONFLICT;
        settled[index] = { error, permanent: false };
        continue;
      }
      const { set, result } = target.plan(stored);
      if (set === null || options.dryRun === true) {
        settled[index] = { result, record: stored };
        continue;
      }
      const attempt = attemptOn(stored, writeId);
      const { set: changed, remove } = changesOf(stored, { ...set, ...versionedBy(stored, attempt) });
      const write = { key: target.key, before: stored, set: changed, remove };
      const record = { ...stored, ...target.key, ...changed } as StoredRecord;
      writes.push({ entry, write, attempted: { ...attempt, result, record } });
    }

    const batch = writes.map(({ write }) => write);
    const outcomes: WriteOutcome[] = round === 0 ? await store.write(batch) : await store.writeNatively(batch);
    pending = [];
    for (const [position, { entry, attempted }] of writes.entries()) {
      const outcome = outcomes[position];
      if (outcome === "written") settled[entry.index] = attempted;
      else if (outcome instanceof Error) settled[entry.index] = { error: "the store refused it", permanent: true };
      else {
        entry.attempts.push(attempted);
        pending.push(entry);
      }
    }
  }
  return settled;
};
