import { mapConcurrently } from "../../retry.ts";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { batchGet, keyText } from "../batch-get.ts";
import { logDamaged, passDamaged } from "../decode-record.ts";
import type { RecordKey } from "../versioned-record.ts";
import { type CursorScope, decodeCursor, encodeCursor } from "./cursor.ts";
import { idAt } from "./partition.ts";
import { type ListingQuery, walkListing } from "./walk.ts";

/** A list may read more than the record of each value. */
const CONCURRENT_READS = 8;

/** How many values, counted from the first, fit into one response. @param rest what is in the response beside them */
export type CountFitting = (values: readonly unknown[], rest?: unknown) => number;

/** Read units that a page may spend on the index: those of an eventually consistent read of 16 MB (half a unit per 4 KB). */
const INDEX_UNITS_MAX = 2048;
/** Records that a page reads to find one that it shows: with records of up to 4 KB, ten times the units of the largest page. */
const RECORDS_READ_MAX = 1000;
/** After the first, so many records are read at once, however few are asked for. */
const RECORDS_PER_ROUND = 100;
/** No further records are read after this time. */
const SEARCH_MS_MAX = 5000;

/** A list, and the page of it that a caller asks for. */
export interface PageRequest<T> {
  readonly scope: CursorScope;
  readonly cursor: string | undefined;
  readonly limit: number;
  /** Where the places are read; or the key of the only record that can be in the list, for which no index is read. */
  readonly from: Pick<ListingQuery, "source" | "filters" | "filtersIgnoringCase" | "range"> | RecordKey;
  /** Key of the record with an id. */
  readonly keyOf: (id: string) => RecordKey;
  /** Attributes to read. @default all */
  readonly attributes?: readonly string[];
  /** What the list shows of a record; undefined if it does not belong in the list any more, since indexes lag. */
  readonly show: (record: Attributes) => T | undefined | Promise<T | undefined>;
  /** How many of the values fit into one response. @default all */
  readonly countFitting?: CountFitting;
}

function countAll(values: readonly unknown[]): number {
  return values.length;
}

/** Places without those of records that occurred before: one that changes its place during a walk may occur twice. */
function uniqueById(places: readonly string[]): string[] {
  const seen = new Set<string>();
  return places.filter((place) => seen.size < seen.add(idAt(place)).size);
}

/** The range of all places in a list. */
export const ALL_PLACES = { low: "0", high: "~" } as const;

/** How many of the first values hold so many that are shown. */
function countHolding(values: readonly unknown[], shown: number): number {
  const places = values.flatMap((value, place) => (value === undefined ? [] : [place]));
  return places.length > shown ? places[shown]! : values.length;
}

/** Reads the records at some places of a list. @returns what the list shows of each, in order */
async function readRecords<T>(
  runtime: RuntimeWith<"workItems">,
  { keyOf, attributes, show }: PageRequest<T>,
  places: readonly string[],
): Promise<(T | undefined)[]> {
  const keys = places.map((place) => keyOf(idAt(place)));
  const records = await batchGet(runtime.dynamodb, runtime.environment.WORK_ITEMS_TABLE, keys, attributes);
  const leaveOut = passDamaged(logDamaged(runtime));
  const shown = new Map<string, T | undefined>();
  await mapConcurrently(records, CONCURRENT_READS, async (record) => {
    const key = keyText(record as Attributes & RecordKey);
    try {
      shown.set(key, await show(record));
    } catch (error) {
      leaveOut(error);
    }
  });
  return keys.map((key) => shown.get(keyText(key)));
}

/**
 * Reads a page of a list: the place in its cursor, the places after it in the index, the records at these places from
 * the table, and the cursor of the next page. If the list shows none of them, it continues with the records after them, up
 * to a limit: such a page is empty and has a next one. A damaged record is logged and left out, unless it is the only one
 * that was asked for: an empty list would say that there is none.
 * @returns the values, and the cursor of the next page; undefined on the last one
 * @throws InvalidInputError for a cursor of another list; MalformedRecordError
 */
export async function readPage<T>(
  runtime: RuntimeWith<"workItems">,
  request: PageRequest<T>,
): Promise<{ readonly data: T[]; readonly next: string | undefined }> {
  const { scope, cursor, limit, from, attributes, show, countFitting = countAll } = request;
  const { dynamodb, environment, clock } = runtime;
  let after = cursor === undefined ? undefined : decodeCursor(scope, cursor);
  if ("pk" in from) {
    const [record] = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, [from], attributes);
    const value = record && (await show(record));
    return { data: value === undefined ? [] : [value], next: undefined };
  }
  const until = clock() + SEARCH_MS_MAX;
  let [asked, read, spent] = [limit, 0, 0];
  for (;;) {
    const walked = await walkListing({ ...runtime, ...from, after, limit: asked, workUnits: INDEX_UNITS_MAX - spent });
    const places = uniqueById(walked.places);
    const values = await readRecords(runtime, request, places);
    const fitting = Math.min(countFitting(values.map((value) => value ?? null)), countHolding(values, limit));
    const next = fitting < values.length ? places[fitting - 1] : walked.next;
    const data = values.slice(0, fitting).filter((value) => value !== undefined);
    read += places.length;
    spent += walked.spent;
    const isSpent = read >= RECORDS_READ_MAX || spent >= INDEX_UNITS_MAX || clock() >= until;
    if (data.length > 0 || next === undefined || isSpent) {
      return { data, next: next === undefined ? undefined : encodeCursor(scope, next) };
    }
    after = next;
    asked = Math.min(RECORDS_PER_ROUND, RECORDS_READ_MAX - read);
  }
}
