import { randomBytes } from "node:crypto";

/** Primary key of a record. */
export interface RecordKey {
  readonly pk: string;
  readonly sk: string;
}

/** What every record that several writers may change carries beside its own attributes. */
export interface Versioned {
  /** 1 at first, one more with every write; each write is conditional on the one that it was planned on. */
  readonly version: number;
  /** Write id of the write that made the record; until another write, `writes` holds it alone. */
  readonly first_write?: string;
  /** The last four writes, newest first: `<version>:<write id>`, separated by spaces. */
  readonly writes: string;
}

export type Attributes = Readonly<Record<string, unknown>>;
export type StoredRecord = RecordKey & Versioned & Attributes;

/** What a new record stores of them: absent is null to whoever reads it, and costs neither bytes nor time. */
export const withoutNulls = (attributes: Attributes): Attributes => {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(attributes)) {
    const value = attributes[name];
    if (value !== null && value !== undefined) kept[name] = value;
  }
  return kept;
};

/** Four: a writer whose answer was lost retries within seconds, and an item rarely takes four other writes meanwhile. */
const REMEMBERED_WRITES = 4;

export const newWriteId = (): string => randomBytes(6).toString("base64url");

/** One try to write a record: enough to recognize it later. */
export interface WriteAttempt {
  readonly version: number;
  readonly writeId: string;
}

/** @param writeId may be that of other records written at the same time */
export const attemptOn = (before: Versioned | undefined, writeId = newWriteId()): WriteAttempt => ({
  version: (before?.version ?? 0) + 1,
  writeId,
});

const firstWriteOf = ({ first_write: first, writes }: Versioned): string => first ?? writes.slice("1:".length);

/** The version attributes after an attempt succeeds. */
export const versionedBy = (before: Versioned | undefined, { version, writeId }: WriteAttempt): Versioned => {
  const write = `${version}:${writeId}`;
  if (before === undefined) return { version, writes: write };
  const writes = [write, ...before.writes.split(" ")].slice(0, REMEMBERED_WRITES).join(" ");
  return { version, first_write: firstWriteOf(before), writes };
};

/**
 * What became of an attempt whose condition failed or whose answer was lost, by the record as it is now:
 * `applied`: it was written after all; `absent`: it was not; `unknown`: too many writes came after to tell.
 */
export const fateOf = (attempt: WriteAttempt, now: Versioned | undefined): "applied" | "absent" | "unknown" => {
  if (now === undefined || now.version < attempt.version) return "absent";
  if (attempt.version === 1) return firstWriteOf(now) === attempt.writeId ? "applied" : "absent";
  const writes = now.writes.split(" ");
  if (writes.includes(`${attempt.version}:${attempt.writeId}`)) return "applied";
  return writes.some((write) => write.startsWith(`${attempt.version}:`)) ? "absent" : "unknown";
};
