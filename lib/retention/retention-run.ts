import { setTimeout as wait } from "node:timers/promises";
import { paginateQuery, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { isUnavailable } from "../aws/error-codes.ts";
import { decodeOrganization, listOrganizationIds, organizationRecordKey } from "../organizations/access-store.ts";
import { type Organization, toOrganization } from "../organizations/organization.ts";
import { mapConcurrently } from "../retry.ts";
import { getItem } from "../store/batch-get.ts";
import { idFromKey, listingSource } from "../store/lists/partition.ts";
import { decoderOf } from "../store/decode-record.ts";
import { traceOf } from "../error-trace.ts";
import { CALLS_END_WITHIN_MS, createEraseItems, type EraseItems } from "../work-items/erase-items.ts";
import { partitionOf } from "../work-items/work-item-record.ts";

const DAY_MS = 86_400_000;
const CONCURRENT = 16;
const ITEMS_PER_PAGE = 100;
/** The longest that one organization delays the others. */
const TURN_MS = 10_000;
/** Prefixes of the sort keys in a list of work items: not completed, by creation; completed, by completion. */
const SORT_KEY_PREFIXES = ["1#", "2#"] as const;
/** Reserved at the end for the second check of the items that were erased last. */
const LAST_CHECK_MS = 60_000;

/**
 * Queries of work items, including deleted ones, that the lists show as completed before a time, or as created before it if
 * they aren't completed. The oldest of each list come first.
 * @param before ISO 8601
 */
function* queriesOfExpired(
  { environment }: RuntimeWith<"workItems">,
  organization: Organization,
  before: string,
): Generator<QueryCommandInput> {
  for (const kind of ["LIST_ITEM", "LIST_DELETED_ITEM"] as const) {
    const { index, partitionKey, partitions } = listingSource(kind, organization);
    for (const partition of partitions) {
      for (const prefix of SORT_KEY_PREFIXES) {
        yield {
          TableName: environment.WORK_ITEMS_TABLE,
          IndexName: index,
          KeyConditionExpression: "#pk = :pk AND listing_sk BETWEEN :from AND :to",
          ExpressionAttributeNames: { "#pk": partitionKey },
          ExpressionAttributeValues: { ":pk": partition, ":from": prefix, ":to": `${prefix}${before}` },
        };
      }
    }
  }
}

/** Pages of the ids of expired work items. */
async function* listExpiredItems(
  runtime: RuntimeWith<"workItems">,
  organization: Organization,
  before: string,
): AsyncGenerator<readonly string[]> {
  for (const query of queriesOfExpired(runtime, organization, before)) {
    for await (const { Items = [] } of paginateQuery({ client: runtime.dynamodb, pageSize: ITEMS_PER_PAGE }, query)) {
      if (Items.length > 0) yield Items.map(({ listing_sk: sk }) => idFromKey(String(sk)));
    }
  }
}

/** When the oldest expired item was completed or created, as far as the lists show it; undefined if none is left. */
async function findOldestExpired(
  runtime: RuntimeWith<"workItems">,
  organization: Organization,
  before: string,
): Promise<string | undefined> {
  const times: string[] = [];
  for (const query of queriesOfExpired(runtime, organization, before)) {
    const { Items: [first] = [] } = await runtime.dynamodb.send(new QueryCommand({ ...query, Limit: 1 }));
    if (first) times.push(String(first["listing_sk"]).split("#")[1] ?? "");
  }
  return times.toSorted()[0];
}

/** An item's times, by which it expires. */
const decodeTimes = decoderOf("work item", z.object({ created_at: z.string(), completed_at: z.string().optional() }));

/** An organization whose items expire, and the pages of its expired items. */
interface Expiring {
  readonly id: string;
  readonly findOldest: () => Promise<string | undefined>;
  readonly erase: EraseItems;
  readonly pages: AsyncGenerator<readonly string[]>;
  /** Items of the last page that weren't tried yet. */
  next: readonly string[];
  /** Items that were erased only in part. */
  large: readonly string[];
  erased: number;
}
/** Items that were or may have been erased, to check again for events that late calls added. */
interface Erased {
  readonly expiring: Expiring;
  readonly ids: readonly string[];
  readonly at: number;
}
/** What happened to an item in a turn. `unclear`: it may have been erased. */
type Outcome = "not tried" | "kept" | "erased" | "unclear" | "has more";

/**
 * Makes the function that erases work items older than their organization keeps them. Organizations take turns, a page each,
 * so that a large one doesn't delay the others. An item that is too large for one turn continues in the next. An
 * organization that can't be read waits for the next run, which also finds what is left when time runs out, even events
 * whose item is gone. The log has the time of the oldest item that is left.
 * @returns a function that takes the time at which it stops, in milliseconds since the epoch, and returns how many
 * organizations may have expired items left
 */
export function createEraseExpired(
  runtime: RuntimeWith<"workItems" | "access">,
  sleep: (milliseconds: number) => Promise<unknown> = wait,
) {
  const { clock, dynamodb, environment, log } = runtime;
  /** Organizations that may have expired items left after this run. */
  const unfinished = new Set<string>();
  const fail = (organization: string, error: unknown): void => {
    unfinished.add(organization);
    log.error("the retention of an organization waits for the next run", { organization, ...traceOf(error) });
  };

  const findExpiring = async (id: string): Promise<Expiring[]> => {
    const item = await getItem(dynamodb, environment.ACCESS_TABLE, organizationRecordKey(id));
    const record = item && decodeOrganization(item);
    if (!record?.retention_days || record.erasing_since !== undefined) return [];
    const before = isoTime(clock() - record.retention_days * DAY_MS);
    // The lists lag behind: the item may have been completed since.
    const isDue = (stored: Attributes): boolean => {
      const { created_at: created, completed_at: completed = created } = decodeTimes(stored);
      return completed < before;
    };
    const organization = toOrganization(record);
    const findOldest = () => findOldestExpired(runtime, organization, before);
    const pages = listExpiredItems(runtime, organization, before);
    return [{ id, findOldest, erase: createEraseItems(runtime, { isDue }), pages, next: [], large: [], erased: 0 }];
  };
  const allExpiring = async (): Promise<Expiring[]> => {
    const found: Expiring[] = [];
    for await (const ids of listOrganizationIds(runtime)) {
      const ofPage = await mapConcurrently(ids, CONCURRENT, (id) =>
        findExpiring(id).catch((error: unknown) => {
          fail(id, error);
          return [];
        }),
      );
      found.push(...ofPage.flat());
    }
    return found;
  };

  /** Erases items, or events that they left, until a time. @returns the ids by outcome, and the error of an outage */
  const eraseAll = async (expiring: Expiring, ids: readonly string[], until: number) => {
    const { id: organization, erase } = expiring;
    const isOver = (): boolean => clock() >= until;
    let outage: unknown;
    const outcomes = await mapConcurrently(ids, CONCURRENT, async (id): Promise<Outcome> => {
      if (outage !== undefined || isOver()) return "not tried";
      try {
        const { work_items: items, left } = await erase([partitionOf(organization, id)], isOver);
        expiring.erased += items;
        if (left.length > 0) return "has more";
        return items > 0 || expiring.large.includes(id) ? "erased" : "kept";
      } catch (error) {
        if (!isUnavailable(error)) {
          unfinished.add(organization);
          log.error("a work item can't be erased", { organization, id, ...traceOf(error) });
          return "kept";
        }
        outage = error;
        return "unclear";
      }
    });
    const idsOf = (...wanted: Outcome[]): string[] => ids.filter((_, index) => wanted.includes(outcomes[index]!));
    return { idsOf, outage };
  };
  /** @returns what to check again, and whether the organization has more */
  const takeTurn = async (expiring: Expiring) => {
    let isListed = false;
    if (expiring.next.length === 0) {
      const page = await expiring.pages.next();
      isListed = page.done === true;
      expiring.next = page.done === true ? [] : page.value;
    }
    const ids = [...new Set([...expiring.next, ...expiring.large])];
    const { idsOf, outage } = await eraseAll(expiring, ids, clock() + TURN_MS);
    const erased: Erased = { expiring, ids: idsOf("erased", "unclear"), at: clock() };
    const { large } = expiring;
    const untried = idsOf("not tried");
    expiring.next = untried.filter((id) => !large.includes(id));
    expiring.large = [...untried.filter((id) => large.includes(id)), ...idsOf("has more")];
    return { erased, outage, hasMore: !isListed || expiring.large.length > 0 };
  };

  return async (until: number): Promise<number> => {
    unfinished.clear();
    const all = await allExpiring();
    const waiting: Erased[] = [];
    const checkAgain = async ({ expiring, ids }: Erased): Promise<void> => {
      const { idsOf, outage } = await eraseAll(expiring, ids, until);
      if (idsOf("not tried", "has more").length > 0) unfinished.add(expiring.id);
      if (outage !== undefined) fail(expiring.id, outage);
    };
    for (let active = all; active.length > 0;) {
      const next: Expiring[] = [];
      for (const expiring of active) {
        if (clock() > until - LAST_CHECK_MS - CALLS_END_WITHIN_MS) {
          fail(expiring.id, new Error("no time left"));
          continue;
        }
        try {
          const { erased, outage, hasMore } = await takeTurn(expiring);
          if (erased.ids.length > 0) waiting.push(erased);
          if (outage !== undefined) throw outage;
          if (hasMore) next.push(expiring);
        } catch (error) {
          fail(expiring.id, error);
        }
        while (waiting[0] !== undefined && clock() >= waiting[0].at + CALLS_END_WITHIN_MS) {
          await checkAgain(waiting.shift()!);
        }
      }
      active = next;
    }
    const last = waiting.at(-1);
    if (last !== undefined) await sleep(last.at + CALLS_END_WITHIN_MS - clock());
    for (const erased of waiting) await checkAgain(erased);
    for (const { id: organization, erased, findOldest } of all) {
      const oldestLeft = unfinished.has(organization) ? await findOldest().catch(() => undefined) : undefined;
      if (erased > 0 || oldestLeft !== undefined) {
        log.info("work items have expired", { organization, erased, oldest_left: oldestLeft });
      }
    }
    return unfinished.size;
  };
}
