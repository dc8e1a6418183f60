import { type AttributeValue, QueryCommand } from "@aws-sdk/client-dynamodb";
import { toAttributeValues } from "../../aws/attribute-values.ts";
import { MalformedRecordError } from "../decode-record.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { ListingSource } from "./partition.ts";

/** Values by the names of attributes. */
type FilterValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One page of a list to read from an index. */
export interface ListingQuery extends Pick<RuntimeWith<"workItems">, "dynamodb" | "environment"> {
  readonly source: ListingSource;
  /** Values that projected attributes must have, or lists of values of which they must have one; undefined ones are ignored. */
  readonly filters: FilterValues;
  /** The same in lower case, for projected attributes of ASCII that are compared without case. @default none */
  readonly filtersIgnoringCase?: FilterValues;
  /** Lowest and highest place, both inclusive. */
  readonly range: { readonly low: string; readonly high: string };
  /** Only entries below this place are returned; the others were read before. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Read units after which no further query is made. */
  readonly workUnits: number;
}

/** The most entries that one query of a shard may read. */
const ENTRIES_PER_QUERY_MAX = 1000;
/** The least: a query costs as much as reading so many entries. */
const ENTRIES_PER_QUERY_MIN = 8;
/** So many times more entries are read at first if some are filtered out. */
const READ_AHEAD_WHEN_FILTERED = 4;

function newShard(partition: string) {
  return {
    partition,
    /** Places that were read, in descending order. */
    buffer: [] as string[],
    /** Place at which the last query stopped; all unread entries are below it. Undefined before the first query. */
    stoppedAt: undefined as string | undefined,
    exhausted: false,
    queries: 0,
  };
}
type Shard = ReturnType<typeof newShard>;

/** The place of an entry, without a schema library since it runs for every entry. @throws MalformedRecordError */
function placeIn(entry: Readonly<Record<string, AttributeValue>>): string {
  const { listing_sk: { S: place } = {} } = entry;
  if (place !== undefined) return place;
  throw new MalformedRecordError("listing entry", entry, "a place is required");
}

/**
 * Entries to read from each shard at first. Hashing puts `limit / shards` of the page's entries into each, give or take
 * its square root: with one and a half of these more, a second round of queries is rare.
 */
function firstSizeOf(limit: number, shards: number, isFiltered: boolean): number {
  const share = limit / shards;
  const expected = shards === 1 ? limit : Math.ceil(share + 1.5 * Math.sqrt(share));
  return Math.max(ENTRIES_PER_QUERY_MIN, expected) * (isFiltered ? READ_AHEAD_WHEN_FILTERED : 1);
}

type Filter = readonly [name: string, values: readonly string[]];
function filtersIn(filters: FilterValues = {}): Filter[] {
  return Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat()]]));
}

/**
 * The parts of a query that filter. DynamoDB cannot compare without case, but it leaves out texts of another length;
 * the others are compared here.
 */
function filterExpression(exact: readonly Filter[], ignoringCase: readonly Filter[]) {
  const filters = [
    ...exact.map(([name, values]) => ({ name, values, by: (alias: string) => alias })),
    ...ignoringCase.map(([name, values]) => ({
      name,
      values: values.map(({ length }) => length),
      by: (alias: string) => `size(${alias})`,
    })),
  ].map((filter, index) => ({ ...filter, alias: `#filter${index}`, placeholder: `:filter${index}` }));
  const values = filters.flatMap(({ placeholder, values: ofOne }) =>
    ofOne.map((value, index) => [`${placeholder}_${index}`, value] as const),
  );
  const conditions = filters.map(({ by, alias, placeholder, values: ofOne }) => {
    const placeholders = ofOne.map((_, index) => `${placeholder}_${index}`);
    return `${by(alias)} IN (${placeholders.join(", ")})`;
  });
  const names = filters.map(({ alias, name }) => [alias, name] as const);
  return {
    values: Object.fromEntries(values),
    projected: names.slice(exact.length).map(([alias]) => alias),
    ...(conditions.length > 0 && {
      expression: { FilterExpression: conditions.join(" AND "), ExpressionAttributeNames: Object.fromEntries(names) },
    }),
  };
}

function isLike(entry: Readonly<Record<string, AttributeValue>>, [name, values]: Filter): boolean {
  return values.includes(entry[name]?.S?.toLowerCase() ?? "");
}

function stoppedAt(shard: Shard): string {
  return shard.stoppedAt ?? "";
}
function placeAfter(shard: Shard): string {
  return shard.buffer[0] ?? "";
}

/**
 * Reads one page of a sharded index in descending order. It returns no entry below the place at which any unfinished
 * shard stopped, so that the order holds over all pages. The work of one call is bounded: a page may be short or empty
 * although `next` is set. Without filters it is only set if an entry follows: with filters, finding that out could mean
 * reading the whole index.
 * @returns the places of the page, which end with the ids of their records, and `after` of the next page: undefined at
 * the end of the list; and the read units that were spent
 */
export async function walkListing(
  query: ListingQuery,
): Promise<{ readonly places: readonly string[]; readonly next: string | undefined; readonly spent: number }> {
  const { dynamodb, environment, source, limit, after } = query;
  const ignoringCase = filtersIn(query.filtersIgnoringCase);
  const filter = filterExpression(filtersIn(query.filters), ignoringCase);
  const isFiltered = filter.expression !== undefined;
  const firstSize = firstSizeOf(limit, source.partitions.length, isFiltered);
  const top = after !== undefined && after < query.range.high ? after : query.range.high;
  let spent = 0;

  const fetch = async (shard: Shard): Promise<void> => {
    const {
      Items = [],
      LastEvaluatedKey,
      ConsumedCapacity,
    } = await dynamodb.send(
      new QueryCommand({
        TableName: environment.WORK_ITEMS_TABLE,
        IndexName: source.index,
        ScanIndexForward: false,
        KeyConditionExpression: `${source.partitionKey} = :partition AND listing_sk BETWEEN :low AND :high`,
        ProjectionExpression: ["listing_sk", ...filter.projected].join(", "),
        ExpressionAttributeValues: toAttributeValues({
          ":partition": shard.partition,
          ":low": query.range.low,
          ":high": shard.stoppedAt ?? top,
          ...filter.values,
        }),
        ...filter.expression,
        Limit: Math.min(firstSize * 2 ** shard.queries, ENTRIES_PER_QUERY_MAX),
        ReturnConsumedCapacity: "TOTAL",
      }),
    );
    const above = shard.stoppedAt ?? after;
    const found = Items.filter((entry) => ignoringCase.every((each) => isLike(entry, each))).map(placeIn);
    shard.buffer.push(...found.filter((place) => above === undefined || place < above));
    shard.exhausted = LastEvaluatedKey === undefined;
    shard.stoppedAt = LastEvaluatedKey && placeIn(LastEvaluatedKey);
    shard.queries += 1;
    spent += ConsumedCapacity?.CapacityUnits ?? 0;
  };

  const shards = source.partitions.map(newShard);
  // DynamoDB refuses a range that ends before it begins.
  if (query.range.low > top) return { places: [], next: undefined, spent };
  await Promise.all(shards.map(fetch));

  const places: string[] = [];
  for (;;) {
    if (isFiltered && places.length === limit) break;
    const head = shards.reduce((best, shard) => (placeAfter(shard) > placeAfter(best) ? shard : best));
    const place = placeAfter(head);
    const blocking = shards.filter(
      (shard) => !shard.exhausted && shard.buffer.length === 0 && stoppedAt(shard) > place,
    );
    if (blocking.length > 0) {
      if (spent >= query.workUnits) {
        const highest = blocking.map(stoppedAt).reduce((a, b) => (a > b ? a : b));
        return { places, next: highest, spent };
      }
      await Promise.all(blocking.map(fetch));
      continue;
    }
    if (place === "") return { places, next: undefined, spent };
    if (places.length === limit) break;
    places.push(place);
    head.buffer.shift();
  }
  const more = shards.some((shard) => !shard.exhausted || shard.buffer.length > 0);
  return { places, next: more ? places.at(-1) : undefined, spent };
}
