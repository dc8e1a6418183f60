import { randomBytes } from "node:crypto";
import { MalformedRecordError } from "./decode-record.ts";

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
  readonly first_write?: string | undefined;
  /** The last four writes, newest first: `<version>:<write id>`, separated by spaces. */
  readonly writes: string;
}

/** Attributes by name, as the document client gives and takes them. */
export type Attributes = Readonly<Record<string, unknown>>;
/** A record as it was read: key and version are known, every other attribute is as it is stored. */
export type StoredRecord = RecordKey & Versioned & Attributes;

const isStoredRecord = (item: Attributes): item is StoredRecord =>
  typeof item["pk"] === "string" &&
  typeof item["sk"] === "string" &&
  typeof item["version"] === "number" &&
  typeof item["writes"] === "string";

/**
 * A record whose key and version can be relied on. Written out: it stands before every record that is read.
 * @throws MalformedRecordError
 */
export const storedRecordFrom = (item: Attributes): StoredRecord => {
  if (isStoredRecord(item)) return item;
  throw new MalformedRecordError("versioned record", item, "key, version and writes are required");
};

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
 * Whether an attempt whose answer was lost has written, by the record as it is now:
 * `written`: it has; `absent`: it has not; `unknown`: too many writes came after to tell.
 */
export const resultOfAttempt = (
  attempt: WriteAttempt,
  now: Versioned | undefined,
): "written" | "absent" | "unknown" => {
  if (now === undefined || now.version < attempt.version) return "absent";
  if (attempt.version === 1) return firstWriteOf(now) === attempt.writeId ? "written" : "absent";
  const writes = now.writes.split(" ");
  if (writes.includes(`${attempt.version}:${attempt.writeId}`)) return "written";
  return writes.some((write) => write.startsWith(`${attempt.version}:`)) ? "absent" : "unknown";
};
