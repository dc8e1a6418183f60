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
  /** The value that a projected attribute must have, or several of which it must have one. Undefined ones are ignored. */
  readonly filters: FilterValues;
  /** The same in lower case, for attributes of ASCII text that are compared without case. @default none */
  readonly filtersIgnoringCase?: FilterValues;
  /** Lowest and highest sort key, both inclusive. */
  readonly range: { readonly low: string; readonly high: string };
  /** Only entries with lower sort keys are returned; the others were on earlier pages. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Read units after which no further query is made. */
  readonly workUnits: number;
}

/** The most entries that one query of a shard may read. */
const ENTRIES_PER_QUERY_MAX = 1000;
/** The fewest: a query for one entry costs as much as one for eight. */
const ENTRIES_PER_QUERY_MIN = 8;
/** How many times more entries are read at first if a filter may leave some out. */
const READ_AHEAD_WHEN_FILTERED = 4;

function newShard(partition: string) {
  return {
    partition,
    /** Sort keys that were read and not yet returned, in descending order. */
    buffer: [] as string[],
    /** Sort key at which the last query stopped: all unread entries are below it. Undefined before the first query. */
    stoppedAt: undefined as string | undefined,
    exhausted: false,
    queries: 0,
  };
}
type Shard = ReturnType<typeof newShard>;

/** The sort key of an entry. Without a schema library, since it runs for every entry. @throws MalformedRecordError */
function sortKeyOf(entry: Readonly<Record<string, AttributeValue>>): string {
  const sortKey = entry["listing_sk"]?.S;
  if (sortKey !== undefined) return sortKey;
  throw new MalformedRecordError("listing entry", entry, "a sort key is required");
}

/**
 * Entries to read from each shard at first. Hashing puts about `limit / shards` of a page's entries into each shard, with
 * a standard deviation of its square root. Reading one and a half deviations more makes a second round of queries rare.
 */
function firstSizeOf(limit: number, shards: number, isFiltered: boolean): number {
  const share = limit / shards;
  const expected = shards === 1 ? limit : Math.ceil(share + 1.5 * Math.sqrt(share));
  return Math.max(ENTRIES_PER_QUERY_MIN, expected) * (isFiltered ? READ_AHEAD_WHEN_FILTERED : 1);
}

type Filter = readonly [name: string, values: readonly string[]];
function filtersIn(filters: FilterValues = {}): Filter[] {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return given.map(([name, value = []]) => [name, [value].flat()]);
}

/**
 * The parts of a query that filter. DynamoDB can't compare without case, but it leaves out texts of another length;
 * `isLike` compares the others.
 */
function filterExpression(exact: readonly Filter[], ignoringCase: readonly Filter[]) {
  const conditions: string[] = [];
  const names: Record<string, string> = {};
  const values: Record<string, string | number> = {};
  const add = (name: string, operandOf: (alias: string) => string, accepted: readonly (string | number)[]): void => {
    const alias = `#filter${conditions.length}`;
    const placeholders = accepted.map((_, index) => `:filter${conditions.length}_${index}`);
    names[alias] = name;
    for (const [index, placeholder] of placeholders.entries()) values[placeholder] = accepted[index]!;
    conditions.push(`${operandOf(alias)} IN (${placeholders.join(", ")})`);
  };
  for (const [name, accepted] of exact) add(name, (alias) => alias, accepted);
  for (const [name, accepted] of ignoringCase) {
    const lengths = accepted.map(({ length }) => length);
    add(name, (alias) => `size(${alias})`, lengths);
  }
  return {
    values,
    projected: Object.keys(names).slice(exact.length),
    ...(conditions.length > 0 && {
      expression: { FilterExpression: conditions.join(" AND "), ExpressionAttributeNames: names },
    }),
  };
}

function isLike(entry: Readonly<Record<string, AttributeValue>>, [name, values]: Filter): boolean {
  return values.includes(entry[name]?.S?.toLowerCase() ?? "");
}

function stoppedAt(shard: Shard): string {
  return shard.stoppedAt ?? "";
}
function nextKeyOf(shard: Shard): string {
  return shard.buffer[0] ?? "";
}

/**
 * Reads one page of a sharded index in descending order. To keep that order over all pages, it returns no entry below the
 * sort key at which an unfinished shard stopped. The work of one call is limited, so a page may be short or empty and still
 * have a `next`. Without filters, `next` is set only if an entry follows. With filters, finding out could mean reading the
 * whole index.
 * @returns the sort keys of the page, which end with the ids of their records; `after` of the next page, undefined at the
 * end of the list; and the read units that were spent
 */
export async function readIndexPage(
  query: ListingQuery,
): Promise<{ readonly sortKeys: readonly string[]; readonly next: string | undefined; readonly spent: number }> {
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
    const found = Items.filter((entry) => ignoringCase.every((words) => isLike(entry, words))).map(sortKeyOf);
    shard.buffer.push(...found.filter((sortKey) => above === undefined || sortKey < above));
    shard.exhausted = LastEvaluatedKey === undefined;
    shard.stoppedAt = LastEvaluatedKey && sortKeyOf(LastEvaluatedKey);
    shard.queries += 1;
    spent += ConsumedCapacity?.CapacityUnits ?? 0;
  };

  const shards = source.partitions.map(newShard);
  // DynamoDB rejects a range that ends before it begins.
  if (query.range.low > top) return { sortKeys: [], next: undefined, spent };
  await Promise.all(shards.map(fetch));

  const sortKeys: string[] = [];
  for (;;) {
    if (isFiltered && sortKeys.length === limit) break;
    const head = shards.reduce((best, shard) => (nextKeyOf(shard) > nextKeyOf(best) ? shard : best));
    const sortKey = nextKeyOf(head);
    const blocking = shards.filter(
      (shard) => !shard.exhausted && shard.buffer.length === 0 && stoppedAt(shard) > sortKey,
    );
    if (blocking.length > 0) {
      if (spent >= query.workUnits) {
        const highest = blocking.map(stoppedAt).reduce((a, b) => (a > b ? a : b));
        return { sortKeys, next: highest, spent };
      }
      await Promise.all(blocking.map(fetch));
      continue;
    }
    if (sortKey === "") return { sortKeys, next: undefined, spent };
    if (sortKeys.length === limit) break;
    sortKeys.push(sortKey);
    head.buffer.shift();
  }
  const more = shards.some((shard) => !shard.exhausted || shard.buffer.length > 0);
  return { sortKeys, next: more ? sortKeys.at(-1) : undefined, spent };
}
