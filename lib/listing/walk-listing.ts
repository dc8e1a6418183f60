import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { decoderOf } from "../dynamodb/decode-record.ts";
import type { Organization } from "../organizations/organization.ts";
import type { resources } from "../resources.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { type ListingKind, listingPartitions } from "./partition.ts";

const entrySchema = z.object({
  pk: z.string(),
  sk: z.string(),
  /** Place in the list; greater ones come first. */
  listing_sk: z.string(),
});
/** An entry of the listing index. */
type ListingEntry = Readonly<z.output<typeof entrySchema>>;
const decodeEntry = decoderOf("listing entry", entrySchema);

/** One page of a list to read from the listing index. */
export interface ListingQuery extends Pick<RuntimeWith<"workItems">, "dynamodb" | "environment"> {
  readonly kind: ListingKind;
  readonly organization: Pick<Organization, "id" | "listingShards">;
  /** Values that projected attributes must have; undefined ones are ignored. */
  readonly filters: Readonly<Record<string, string | undefined>>;
  /** Lowest and highest place, both inclusive. */
  readonly range: { readonly low: string; readonly high: string };
  /** Only entries below this place are returned; the others were read before. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Read units after which no further query is made. @default those of 16 MB, eventually consistent */
  readonly workUnits?: number;
}

/** A page of the listing index. */
export interface ListingPage {
  readonly entries: readonly ListingEntry[];
  /** `after` of the next page; undefined at the end of the list. */
  readonly next: string | undefined;
}

const LISTING_INDEX = "listing" satisfies keyof typeof resources.workItems.indexes;

/** The read units that one call may spend: those of an eventually consistent read of 16 MB (half a unit per 4 KB). */
const WORK_UNITS_DEFAULT = 2048;
/** The most entries that one query of a shard may read. */
const ENTRIES_PER_QUERY_MAX = 1000;

interface Shard {
  readonly partition: string;
  buffer: ListingEntry[];
  /** Place at which the last query stopped; all unread entries are below it. Undefined before the first query. */
  stoppedAt: string | undefined;
  exhausted: boolean;
  queries: number;
}

const stoppedAt = (shard: Shard): string => shard.stoppedAt ?? "";
const placeAfter = (shard: Shard): string => shard.buffer[0]?.listing_sk ?? "";

/**
 * Reads one page of the sharded listing index in descending order. It returns no entry below the place at which any
 * unfinished shard stopped, so that the order holds over all pages. The work of one call is bounded: a page may be
 * short or empty although `next` is set.
 */
export const walkListing = async (query: ListingQuery): Promise<ListingPage> => {
  const { dynamodb, environment, kind, organization, limit, after } = query;
  const filters = Object.entries(query.filters).filter(([, value]) => value !== undefined);
  const firstSize = Math.max(8, Math.ceil((2 * limit) / organization.listingShards)) * (filters.length > 0 ? 4 : 1);
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
        IndexName: LISTING_INDEX,
        ScanIndexForward: false,
        KeyConditionExpression: "listing_pk = :partition AND listing_sk BETWEEN :low AND :high",
        ExpressionAttributeValues: {
          ":partition": shard.partition,
          ":low": query.range.low,
          ":high": shard.stoppedAt ?? top,
          ...Object.fromEntries(filters.map(([, value], index) => [`:filter${index}`, value])),
        },
        ...(filters.length > 0 && {
          FilterExpression: filters.map((_, index) => `#filter${index} = :filter${index}`).join(" AND "),
          ExpressionAttributeNames: Object.fromEntries(filters.map(([name], index) => [`#filter${index}`, name])),
        }),
        Limit: Math.min(firstSize * 2 ** shard.queries, ENTRIES_PER_QUERY_MAX),
        ReturnConsumedCapacity: "TOTAL",
      }),
    );
    const above = shard.stoppedAt ?? after;
    const entries = Items.map(decodeEntry);
    shard.buffer.push(...entries.filter((entry) => above === undefined || entry.listing_sk < above));
    shard.exhausted = LastEvaluatedKey === undefined;
    shard.stoppedAt = LastEvaluatedKey && decodeEntry(LastEvaluatedKey).listing_sk;
    shard.queries += 1;
    spent += ConsumedCapacity?.CapacityUnits ?? 0;
  };

  const shards: Shard[] = listingPartitions(kind, organization).map((partition) => ({
    partition,
    buffer: [],
    stoppedAt: undefined,
    exhausted: false,
    queries: 0,
  }));
  if (query.range.low > top) return { entries: [], next: undefined };
  await Promise.all(shards.map(fetch));

  const entries: ListingEntry[] = [];
  while (entries.length < limit) {
    const head = shards.reduce((best, shard) => (placeAfter(shard) > placeAfter(best) ? shard : best));
    const place = placeAfter(head);
    const blocking = shards.filter(
      (shard) => !shard.exhausted && shard.buffer.length === 0 && stoppedAt(shard) > place,
    );
    if (blocking.length > 0) {
      if (spent >= (query.workUnits ?? WORK_UNITS_DEFAULT)) {
        const highest = blocking.map(stoppedAt).reduce((a, b) => (a > b ? a : b));
        return { entries, next: highest };
      }
      await Promise.all(blocking.map(fetch));
      continue;
    }
    const entry = head.buffer.shift();
    if (entry === undefined) return { entries, next: undefined };
    entries.push(entry);
  }
  const more = shards.some((shard) => !shard.exhausted || shard.buffer.length > 0);
  return { entries, next: more ? entries.at(-1)?.listing_sk : undefined };
};
