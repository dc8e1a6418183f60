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
  readonly countFitting?: (values: readonly (T | undefined)[]) => number;
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

/**
 * Reads a page of a list: the place in its cursor, the places after it in the index, the records at these places from
 * the table, and the cursor of the next page. A damaged record is logged and left out, unless it is the only one that
 * was asked for: an empty list would say that there is none.
 * @returns the values, and the cursor of the next page; undefined on the last one
 * @throws InvalidInputError for a cursor of another list; MalformedRecordError
 */
export async function readPage<T>(
  runtime: RuntimeWith<"workItems">,
  request: PageRequest<T>,
): Promise<{ readonly data: T[]; readonly next: string | undefined }> {
  const { scope, cursor, limit, from, keyOf, attributes, show, countFitting = countAll } = request;
  const { dynamodb, environment } = runtime;
  const after = cursor === undefined ? undefined : decodeCursor(scope, cursor);
  if ("pk" in from) {
    const [record] = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, [from], attributes);
    const value = record && (await show(record));
    return { data: value === undefined ? [] : [value], next: undefined };
  }
  const { places, next } = await walkListing({ ...runtime, ...from, after, limit });
  const once = uniqueById(places);
  const keys = once.map((place) => keyOf(idAt(place)));
  const records = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys, attributes);
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
  const values = keys.map((key) => shown.get(keyText(key)));
  const fitting = countFitting(values);
  const position = fitting < values.length ? once[fitting - 1] : next;
  return {
    data: values.slice(0, fitting).filter((value) => value !== undefined),
    next: position === undefined ? undefined : encodeCursor(scope, position),
  };
}
