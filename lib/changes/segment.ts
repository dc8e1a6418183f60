import * as z from "zod";
import { partitionKeyOf, TIME_TO_LIVE } from "../resources.ts";
import { decoderOf } from "../store/decode-record.ts";

/** The most entries of one segment. With 16 bytes for each, in base64, writing a full one costs 11 units. */
export const SEGMENT_ENTRIES_MAX = 500;
/** Bytes of an id. */
const ID_BYTES = 16;
/** Digits of a number in a key: those of the greatest safe integer. */
const NUMBER_DIGITS = 16;

/**
 * A part of an organization's log: entries with consecutive numbers, each the id of a work item that was written. A gap
 * has none: it stands for changes that may have been lost.
 */
export interface Segment {
  /** Number of the first entry. */
  readonly first: number;
  /** The number after the last entry, with which the next segment begins. */
  readonly next: number;
  readonly ids: readonly string[];
  readonly isGap: boolean;
  /** When it was appended, in milliseconds since the epoch; never earlier than the previous segment. */
  readonly time: number;
  /** When it expires, in seconds since the epoch. The newest segment has none. */
  readonly expiresAt: number | undefined;
}

function toBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}
function toId(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Packs ids for storage. */
export function packIds(ids: readonly string[]): string {
  return Buffer.concat(ids.map(toBytes)).toString("base64");
}

/** Unpacks stored ids. */
export function unpackIds(packed: string): string[] {
  const bytes = Buffer.from(packed, "base64");
  return Array.from({ length: bytes.length / ID_BYTES }, (_, index) =>
    toId(bytes.subarray(index * ID_BYTES, (index + 1) * ID_BYTES)),
  );
}

/** A number as part of a key: the keys sort as their numbers do. */
export function numberKey(number: number): string {
  return String(number).padStart(NUMBER_DIGITS, "0");
}

/** The partition of an organization's log. */
export function logPartition(organization: string): string {
  return partitionKeyOf("LOG", organization);
}

/** Primary key of the segment that begins with a number. */
export function segmentKey(organization: string, first: number) {
  return { pk: logPartition(organization), sk: numberKey(first) };
}

const decode = decoderOf(
  "segment of a change log",
  z.object({
    sk: z.string(),
    next: z.int(),
    time: z.int(),
    /** Absent for a gap. */
    ids: z.string().optional(),
    [TIME_TO_LIVE]: z.int().optional(),
  }),
);

/** Decodes a segment. @throws MalformedRecordError */
export function segmentFrom(record: Readonly<Record<string, unknown>>): Segment {
  const { sk, next, time, ids, [TIME_TO_LIVE]: expiresAt } = decode(record);
  return { first: Number(sk), next, time, expiresAt, isGap: ids === undefined, ids: unpackIds(ids ?? "") };
}

/** Whether a segment is kept. An expired one counts as absent, although DynamoDB removes it days later. */
export function isKept({ expiresAt }: Segment, now: number): boolean {
  return expiresAt === undefined || now < expiresAt * 1000;
}
