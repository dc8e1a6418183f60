import { mapConcurrently } from "../../retry.ts";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { batchGet, keyText } from "../batch-get.ts";
import { logDamaged, passDamaged } from "../decode-record.ts";
import type { RecordKey } from "../versioned-record.ts";
import { type CursorScope, decodeCursor, encodeCursor } from "./cursor.ts";
import { type ListingQuery, readIndexPage } from "./index-page.ts";
import { idFromKey } from "./partition.ts";

/** Records that are shown at the same time: showing one may read others. */
const CONCURRENT_READS = 8;

/** How many of the first values fit into one response. @param rest what else the response contains */
export type CountFitting = (values: readonly unknown[], rest?: unknown) => number;

/** Read units that a page may spend on the index: an eventually consistent read of 16 MB, at half a unit per 4 KB. */
const INDEX_UNITS_MAX = 2048;
/** Records that a page reads to find one that it shows: ten times as many as on the largest page. */
const RECORDS_READ_MAX = 1000;
/** Records that each round after the first reads, even if fewer are asked for. */
const RECORDS_PER_ROUND = 100;
/** No further records are read after this time. */
const SEARCH_MS_MAX = 5000;

/** A list, and the page of it that a caller asks for. */
export interface PageRequest<T> {
  readonly scope: CursorScope;
  readonly cursor: string | undefined;
  readonly limit: number;
  /** What to read from the index. Or the key of the only record that can be in the list; then no index is read. */
  readonly from: Pick<ListingQuery, "source" | "filters" | "filtersIgnoringCase" | "range"> | RecordKey;
  /** Key of the record with an id. */
  readonly keyOf: (id: string) => RecordKey;
  /** Attributes to read. @default all */
  readonly attributes?: readonly string[];
  /** What the list shows of a record; undefined if the record no longer belongs in the list, since indexes lag. */
  readonly show: (record: Attributes) => T | undefined | Promise<T | undefined>;
  /** How many of the values fit into one response. @default all */
  readonly countFitting?: CountFitting;
}

/** The first sort key of each record: a record that changes its sort key during the read may occur twice. */
function firstOfEach(sortKeys: readonly string[]): string[] {
  const byId = new Map<string, string>();
  for (const sortKey of sortKeys) {
    const id = idFromKey(sortKey);
    if (!byId.has(id)) byId.set(id, sortKey);
  }
  return [...byId.values()];
}

/** The range of all sort keys in a list. */
export const ALL_SORT_KEYS = { low: "0", high: "~" } as const;

/** How many of the first values to take so that at most `limit` of them are shown. */
function countUntil(values: readonly unknown[], limit: number): number {
  const shown = [...values.keys()].filter((index) => values[index] !== undefined);
  return shown[limit] ?? values.length;
}

/** Reads the records of some sort keys. @returns what the list shows of each, in order */
async function readRecords<T>(
  runtime: RuntimeWith<"workItems">,
  { keyOf, attributes, show }: PageRequest<T>,
  sortKeys: readonly string[],
): Promise<(T | undefined)[]> {
  const keys = sortKeys.map((sortKey) => keyOf(idFromKey(sortKey)));
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
 * Reads a page of a list: the sort keys after the cursor from the index, and their records from the table. If the list
 * shows none of these records, it continues with those after them, up to a limit. Then the page is empty and has a next
 * one. A damaged record is logged and left out. If it is the only record asked for, this throws: an empty list would say
 * that it doesn't exist.
 * @returns the values, and the cursor of the next page; undefined on the last one
 * @throws InvalidInputError for a cursor of another list; MalformedRecordError
 */
export async function readPage<T>(
  runtime: RuntimeWith<"workItems">,
  request: PageRequest<T>,
): Promise<{ readonly data: T[]; readonly next: string | undefined }> {
  const { scope, cursor, limit, from, attributes, show, countFitting = ({ length }) => length } = request;
  const { dynamodb, environment, clock } = runtime;
  let after = cursor === undefined ? undefined : decodeCursor(scope, cursor);
  if ("pk" in from) {
    const [record] = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, [from], attributes);
    const value = record && (await show(record));
    return { data: value === undefined ? [] : [value], next: undefined };
  }
  const until = clock() + SEARCH_MS_MAX;
  let asked = limit;
  let read = 0;
  let spent = 0;
  for (;;) {
    const page = await readIndexPage({ ...runtime, ...from, after, limit: asked, workUnits: INDEX_UNITS_MAX - spent });
    const sortKeys = firstOfEach(page.sortKeys);
    const values = await readRecords(runtime, request, sortKeys);
    const fitting = Math.min(countFitting(values.map((value) => value ?? null)), countUntil(values, limit));
    const next = fitting < values.length ? sortKeys[fitting - 1] : page.next;
    const data = values.slice(0, fitting).filter((value) => value !== undefined);
    read += sortKeys.length;
    spent += page.spent;
    const isSpent = read >= RECORDS_READ_MAX || spent >= INDEX_UNITS_MAX || clock() >= until;
    if (data.length > 0 || next === undefined || isSpent) {
      return { data, next: next === undefined ? undefined : encodeCursor(scope, next) };
    }
    after = next;
    asked = Math.min(RECORDS_PER_ROUND, RECORDS_READ_MAX - read);
  }
}
