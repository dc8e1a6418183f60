import { randomBytes } from "node:crypto";
import type { Attributes } from "../aws/attribute-values.ts";
import { MalformedRecordError } from "./decode-record.ts";

/** Primary key of a record. */
export interface RecordKey {
  readonly pk: string;
  readonly sk: string;
}

/** Attributes by which concurrent writers notice each other. */
export interface Versioned {
  /** Starts at 1 and grows by one with every write. Each write is conditional on the version that it was planned on. */
  readonly version: number;
  /** Id of the write that created the record. Absent until the second write: `writes` holds it until then. */
  readonly first_write?: string | undefined;
  /** The last four writes, newest first: `<version>:<write id>`, separated by spaces. */
  readonly writes: string;
}

/** A record as read from the table. Only its key and version are checked. */
export type StoredRecord = RecordKey & Versioned & Attributes;

function isStoredRecord(item: Attributes): item is StoredRecord {
  return (
    typeof item["pk"] === "string" &&
    typeof item["sk"] === "string" &&
    typeof item["version"] === "number" &&
    typeof item["writes"] === "string"
  );
}

/**
 * Checks the key and version of an item. Without a schema library, since it runs for every record that is read.
 * @throws MalformedRecordError
 */
export function storedRecordFrom(item: Attributes): StoredRecord {
  if (isStoredRecord(item)) return item;
  throw new MalformedRecordError("versioned record", item, "key, version and writes are required");
}

/** The attributes without those that are null: absent attributes are read as null and take no space. */
export function withoutNulls(attributes: Attributes): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(attributes)) {
    const value = attributes[name];
    if (value !== null && value !== undefined) kept[name] = value;
  }
  return kept;
}

/** A writer whose response was lost retries within seconds. A record rarely gets four other writes in that time. */
const REMEMBERED_WRITES = 4;

/** A random id of a write. */
export function newWriteId(): string {
  return randomBytes(6).toString("base64url");
}

/** Identifies an attempt to write a record. */
export interface WriteAttempt {
  readonly version: number;
  readonly writeId: string;
}

/** The attempt that follows the stored version. @param writeId may be shared by records written together */
export function attemptOn(before: Versioned | undefined, writeId = newWriteId()): WriteAttempt {
  return { version: (before?.version ?? 0) + 1, writeId };
}

function firstWriteOf({ first_write: first, writes }: Versioned): string {
  return first ?? writes.slice("1:".length);
}

/** The version attributes after an attempt succeeds. */
export function versionedBy(before: Versioned | undefined, { version, writeId }: WriteAttempt): Versioned {
  const write = `${version}:${writeId}`;
  if (before === undefined) return { version, writes: write };
  const writes = [write, ...before.writes.split(" ")].slice(0, REMEMBERED_WRITES).join(" ");
  return { version, first_write: firstWriteOf(before), writes };
}

/**
 * Whether an attempt whose response was lost was carried out, as the current record shows.
 * `written`: it was; `absent`: it wasn't; `unknown`: too many writes followed.
 */
export function resultOfAttempt(attempt: WriteAttempt, now: Versioned | undefined): "written" | "absent" | "unknown" {
  if (now === undefined || now.version < attempt.version) return "absent";
  if (attempt.version === 1) return firstWriteOf(now) === attempt.writeId ? "written" : "absent";
  const writes = now.writes.split(" ");
  if (writes.includes(`${attempt.version}:${attempt.writeId}`)) return "written";
  return writes.some((write) => write.startsWith(`${attempt.version}:`)) ? "absent" : "unknown";
}
