import { setTimeout as wait } from "node:timers/promises";
import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { isUnavailable } from "../aws/error-codes.ts";
import { decodeOrganization, listOrganizationIds, organizationRecordKey } from "../organizations/access-store.ts";
import { type Organization, toOrganization } from "../organizations/organization.ts";
import { mapConcurrently } from "../retry.ts";
import { getItem } from "../store/batch-get.ts";
import { idAt, listingSource } from "../store/lists/partition.ts";
import { traceOf } from "../trace.ts";
import { createEraseExpiredItem } from "./erase-expired-item.ts";

const DAY_MS = 86_400_000;
const CONCURRENT = 16;
const ITEMS_PER_PAGE = 100;
/** What places in a list of work items begin with: those that aren't completed, by creation; then the others. */
const PLACES = ["1#", "2#"] as const;
/** After this time a call that had read an item before it was erased has ended. */
const CALLS_END_WITHIN_MS = 30_000;
/** Reserved at the end for the second look at the items that were erased last. */
const LAST_LOOK_MS = 60_000;

/**
 * The ids of work items, deleted ones too, that the lists show as completed before a time, or created if they aren't
 * completed, in pages, the oldest of each list first.
 * @param before ISO 8601
 */
async function* listExpiredItems(
  { dynamodb, environment }: RuntimeWith<"workItems">,
  organization: Organization,
  before: string,
): AsyncGenerator<readonly string[]> {
  for (const kind of ["LIST_ITEM", "LIST_DELETED_ITEM"] as const) {
    const { index, partitionKey, partitions } = listingSource(kind, organization);
    for (const partition of partitions) {
      for (const place of PLACES) {
        const query = {
          TableName: environment.WORK_ITEMS_TABLE,
          IndexName: index,
          KeyConditionExpression: "#pk = :pk AND listing_sk BETWEEN :from AND :to",
          ExpressionAttributeNames: { "#pk": partitionKey },
          ExpressionAttributeValues: { ":pk": partition, ":from": place, ":to": `${place}${before}` },
        };
        for await (const { Items = [] } of paginateQuery({ client: dynamodb, pageSize: ITEMS_PER_PAGE }, query)) {
          if (Items.length > 0) yield Items.map(({ listing_sk: sk }) => idAt(String(sk)));
        }
      }
    }
  }
}

/** An organization whose items expire, and the pages of those that have. */
interface Expiring {
  readonly id: string;
  readonly before: string;
  readonly pages: AsyncGenerator<readonly string[]>;
  erased: number;
}
/** Items that were erased, or may have been in part, to be looked at again for events. */
interface Erased {
  readonly expiring: Expiring;
  readonly ids: readonly string[];
  readonly at: number;
}

/**
 * Makes the function that erases the work items that are older than their organization keeps them, as `erase item` does.
 * Organizations take turns, a page each, so that a large one doesn't hold up the others. One that can't be read is left out
 * until the next run. Nothing is kept in between: what is left when the time is over is found by the next run.
 * @returns a function of the time after which it stops, in milliseconds since the epoch
 */
export function createEraseExpired(
  runtime: RuntimeWith<"workItems" | "access">,
  sleep: (milliseconds: number) => Promise<unknown> = wait,
) {
  const { clock, dynamodb, environment, log } = runtime;
  const erase = createEraseExpiredItem(runtime);
  const fail = (organization: string, error: unknown): void =>
    log.error("the retention of an organization waits for the next run", { organization, ...traceOf(error) });

  const findExpiring = async (id: string): Promise<Expiring[]> => {
    const item = await getItem(dynamodb, environment.ACCESS_TABLE, organizationRecordKey(id));
    const record = item && decodeOrganization(item);
    if (!record?.retention_days || record.erasing_since !== undefined) return [];
    const before = isoTime(clock() - record.retention_days * DAY_MS);
    return [{ id, before, pages: listExpiredItems(runtime, toOrganization(record), before), erased: 0 }];
  };
  const allExpiring = async (): Promise<Expiring[]> => {
    const found: Expiring[] = [];
    for await (const ids of listOrganizationIds(runtime)) {
      const each = await mapConcurrently(ids, CONCURRENT, (id) =>
        findExpiring(id).catch((error: unknown) => {
          fail(id, error);
          return [];
        }),
      );
      found.push(...each.flat());
    }
    return found;
  };

  /** Erases items, or events that they left. @returns those to look at again, and why the store is out, if it is */
  const erasePage = async (expiring: Expiring, ids: readonly string[]) => {
    const { id: organization, before } = expiring;
    let outage: unknown;
    const results = await mapConcurrently(ids, CONCURRENT, async (id) => {
      if (outage !== undefined) return false;
      try {
        const isErased = await erase(organization, id, before);
        if (isErased) expiring.erased++;
        return isErased;
      } catch (error) {
        if (isUnavailable(error)) outage = error;
        else log.error("a work item can't be erased", { organization, id, ...traceOf(error) });
        return isUnavailable(error);
      }
    });
    return { erased: { expiring, ids: ids.filter((_, index) => results[index]), at: clock() }, outage };
  };
  const lookAgain = async ({ expiring, ids }: Erased): Promise<void> => {
    const { outage } = await erasePage(expiring, ids);
    if (outage !== undefined) fail(expiring.id, outage);
  };

  return async (until: number): Promise<void> => {
    const all = await allExpiring();
    const waiting: Erased[] = [];
    for (let active = all; active.length > 0;) {
      const next: Expiring[] = [];
      for (const expiring of active) {
        if (clock() > until - LAST_LOOK_MS - CALLS_END_WITHIN_MS) break;
        try {
          const { value: ids, done } = await expiring.pages.next();
          if (done === true) continue;
          const { erased, outage } = await erasePage(expiring, ids);
          waiting.push(erased);
          if (outage !== undefined) throw outage;
          next.push(expiring);
        } catch (error) {
          fail(expiring.id, error);
        }
        while (waiting[0] !== undefined && clock() >= waiting[0].at + CALLS_END_WITHIN_MS) {
          await lookAgain(waiting.shift()!);
        }
      }
      active = next;
    }
    const last = waiting.at(-1);
    if (last !== undefined) await sleep(last.at + CALLS_END_WITHIN_MS - clock());
    for (const erased of waiting) await lookAgain(erased);
    for (const { id: organization, erased } of all) {
      if (erased > 0) log.info("work items have expired", { organization, erased });
    }
  };
}
