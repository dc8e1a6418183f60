import { paginateQuery, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Attributes } from "../aws/attribute-values.ts";
import { isUnavailable } from "../aws/error-codes.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { traceOf } from "../error-trace.ts";
import type { Organization } from "../organizations/organization.ts";
import { mapConcurrently } from "../retry.ts";
import { decoderOf } from "../store/decode-record.ts";
import { idFromKey, listingSource } from "../store/lists/partition.ts";
import { createEraseItems, type EraseItems } from "../work-items/erase-items.ts";
import { partitionOf } from "../work-items/work-item-record.ts";

const CONCURRENT = 16;
const ITEMS_PER_PAGE = 100;
/** The longest that one organization delays the others. */
const TURN_MS = 10_000;
/** Prefixes of the sort keys in a list of work items: not completed, by creation; completed, by completion. */
const SORT_KEY_PREFIXES = ["1#", "2#"] as const;

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

/** An item's times, by which it expires. */
const decodeTimes = decoderOf("work item", z.object({ created_at: z.string(), completed_at: z.string().optional() }));

/** What happened to an item in a turn. `unclear`: it may have been erased. */
type Outcome = "not tried" | "kept" | "erased" | "unclear" | "has more";

/** Logs why the retention of an organization hasn't ended. */
export function logUnfinished({ log }: RuntimeWith<never>, organization: string, error: unknown): void {
  log.error("the retention of an organization waits for the next run", { organization, ...traceOf(error) });
}

/**
 * Erases an organization's expired items, a page in each turn. An item that is too large for one continues in the next, after the
 * items of the next page.
 */
export class ExpiringOrganization {
  /** Whether it may have expired items left after this run. */
  isUnfinished = false;
  readonly #runtime: RuntimeWith<"workItems">;
  readonly #id: string;
  readonly #queries: readonly QueryCommandInput[];
  readonly #erase: EraseItems;
  readonly #pages = this.#listExpired();
  /** Items of the last page that weren't tried yet. */
  #next: readonly string[] = [];
  /** Items that were erased only in part. */
  readonly #large = new Set<string>();
  #erased = 0;

  /** @param before when the oldest item was completed that is kept, or created if it isn't completed; ISO 8601 */
  constructor(runtime: RuntimeWith<"workItems">, organization: Organization, before: string) {
    this.#runtime = runtime;
    this.#id = organization.id;
    this.#queries = [...queriesOfExpired(runtime, organization, before)];
    // The lists lag behind: the item may have been completed since.
    const isDue = (stored: Attributes): boolean => {
      const { created_at: created, completed_at: completed = created } = decodeTimes(stored);
      return completed < before;
    };
    this.#erase = createEraseItems(runtime, { isDue });
  }

  /** Pages of the ids of expired items. */
  async *#listExpired(): AsyncGenerator<readonly string[]> {
    const paging = { client: this.#runtime.dynamodb, pageSize: ITEMS_PER_PAGE };
    for (const query of this.#queries) {
      for await (const { Items = [] } of paginateQuery(paging, query)) {
        if (Items.length > 0) yield Items.map(({ listing_sk: sk }) => idFromKey(String(sk)));
      }
    }
  }

  /** Leaves what is left to the next run. */
  fail(error: unknown): void {
    this.isUnfinished = true;
    logUnfinished(this.#runtime, this.#id, error);
  }

  /** Erases items, or events that they left, until a time. @returns the ids by outcome, and whether an outage ended it */
  async #eraseAll(ids: readonly string[], until: number) {
    const { clock, log } = this.#runtime;
    const isOver = (): boolean => clock() >= until;
    let isOutage = false;
    const outcomes = await mapConcurrently(ids, CONCURRENT, async (id): Promise<Outcome> => {
      if (isOutage || isOver()) return "not tried";
      try {
        const { work_items: items, left } = await this.#erase([partitionOf(this.#id, id)], isOver);
        this.#erased += items;
        const wasLarge = this.#large.delete(id);
        if (left.length === 0) return items > 0 || wasLarge ? "erased" : "kept";
        this.#large.add(id);
        return "has more";
      } catch (error) {
        this.#large.delete(id);
        if (isUnavailable(error)) {
          if (!isOutage) this.fail(error);
          isOutage = true;
          return "unclear";
        }
        this.isUnfinished = true;
        log.error("a work item can't be erased", { organization: this.#id, id, ...traceOf(error) });
        return "kept";
      }
    });
    const idsOf = (...wanted: Outcome[]): string[] => ids.filter((_, index) => wanted.includes(outcomes[index]!));
    return { idsOf, isOutage };
  }

  /** @returns the ids of what may have been erased, and whether there is more */
  async takeTurn(): Promise<{ readonly erased: readonly string[]; readonly hasMore: boolean }> {
    const page = this.#next.length > 0 ? { value: this.#next } : await this.#pages.next();
    const ids = new Set([...(page.done ? [] : page.value), ...this.#large]);
    const { idsOf, isOutage } = await this.#eraseAll([...ids], this.#runtime.clock() + TURN_MS);
    this.#next = idsOf("not tried").filter((id) => !this.#large.has(id));
    const hasMore = !isOutage && (page.done !== true || this.#large.size > 0);
    return { erased: idsOf("erased", "unclear"), hasMore };
  }

  /** Erases events that late calls have added to items since they were erased. */
  async checkAgain(ids: readonly string[], until: number): Promise<void> {
    const { idsOf } = await this.#eraseAll(ids, until);
    if (idsOf("not tried", "has more").length > 0) this.isUnfinished = true;
  }

  /** Logs what was erased, and when the oldest expired item was completed or created that is left, as far as the lists show it. */
  async report(): Promise<void> {
    const times: string[] = [];
    for (const query of this.isUnfinished ? this.#queries : []) {
      const found = await this.#runtime.dynamodb.send(new QueryCommand({ ...query, Limit: 1 })).catch(() => undefined);
      for (const { listing_sk: sk } of found?.Items ?? []) times.push(String(sk).split("#")[1] ?? "");
    }
    const [oldest] = times.toSorted();
    if (this.#erased === 0 && oldest === undefined) return;
    const report = { organization: this.#id, erased: this.#erased, oldest_left: oldest };
    this.#runtime.log.info("work items have expired", report);
  }
}
