import { setTimeout as wait } from "node:timers/promises";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { decodeOrganization, listOrganizationIds, organizationRecordKey } from "../organizations/access-store.ts";
import { toOrganization } from "../organizations/organization.ts";
import { mapConcurrently } from "../retry.ts";
import { getItem } from "../store/batch-get.ts";
import { CALLS_END_WITHIN_MS } from "../work-items/erase-items.ts";
import { ExpiringOrganization, logUnfinished } from "./expiring-organization.ts";

const DAY_MS = 86_400_000;
const CONCURRENT = 16;
/** Reserved at the end for the second check of the items that were erased last. */
const LAST_CHECK_MS = 60_000;

/** Items that were or may have been erased, to check again for events that late calls added. */
interface Erased {
  readonly expiring: ExpiringOrganization;
  readonly ids: readonly string[];
  readonly at: number;
}

/** An organization whose items expire; undefined if they don't. */
async function findExpiring(
  runtime: RuntimeWith<"workItems" | "access">,
  id: string,
): Promise<ExpiringOrganization | undefined> {
  const { clock, dynamodb, environment } = runtime;
  const item = await getItem(dynamodb, environment.ACCESS_TABLE, organizationRecordKey(id));
  const record = item && decodeOrganization(item);
  if (!record?.retention_days || record.erasing_since !== undefined) return undefined;
  const before = isoTime(clock() - record.retention_days * DAY_MS);
  return new ExpiringOrganization(runtime, toOrganization(record), before);
}

/**
 * Makes the function that erases work items older than their organization keeps them. Organizations take turns, a page each,
 * so that a large one doesn't delay the others. An organization that can't be read waits for the next run, which also finds
 * what is left when time runs out, even events whose item is gone.
 * @returns a function that takes the time at which it stops, in milliseconds since the epoch, and returns how many
 * organizations may have expired items left
 */
export function createEraseExpired(
  runtime: RuntimeWith<"workItems" | "access">,
  sleep: (milliseconds: number) => Promise<unknown> = wait,
) {
  const { clock } = runtime;
  return async (until: number): Promise<number> => {
    let unreadable = 0;
    const all: ExpiringOrganization[] = [];
    for await (const ids of listOrganizationIds(runtime)) {
      const found = await mapConcurrently(ids, CONCURRENT, (id) =>
        findExpiring(runtime, id).catch((error: unknown) => {
          logUnfinished(runtime, id, error);
          unreadable += 1;
        }),
      );
      all.push(...found.filter((expiring) => expiring !== undefined));
    }
    const waiting: Erased[] = [];
    for (let active = all; active.length > 0;) {
      const next: ExpiringOrganization[] = [];
      for (const expiring of active) {
        if (clock() > until - LAST_CHECK_MS - CALLS_END_WITHIN_MS) {
          expiring.fail(new Error("no time left"));
          continue;
        }
        try {
          const { erased, hasMore } = await expiring.takeTurn();
          if (erased.length > 0) waiting.push({ expiring, ids: erased, at: clock() });
          if (hasMore) next.push(expiring);
        } catch (error) {
          expiring.fail(error);
        }
        while (waiting[0] !== undefined && clock() >= waiting[0].at + CALLS_END_WITHIN_MS) {
          const { expiring: earlier, ids } = waiting.shift()!;
          await earlier.checkAgain(ids, until);
        }
      }
      active = next;
    }
    const last = waiting.at(-1);
    if (last !== undefined) await sleep(last.at + CALLS_END_WITHIN_MS - clock());
    for (const { expiring, ids } of waiting) await expiring.checkAgain(ids, until);
    for (const expiring of all) await expiring.report();
    return unreadable + all.filter(({ isUnfinished }) => isUnfinished).length;
  };
}
