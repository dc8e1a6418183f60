import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { partitionPages } from "@work-items/lib/store/all-items.ts";
import { NotFoundError } from "@work-items/lib/errors.ts";
import { workItemId } from "@work-items/lib/identity.ts";
import { CALLS_END_WITHIN_MS, createEraseItems } from "@work-items/lib/work-items/erase-items.ts";
import { itemKeyOf } from "@work-items/lib/work-items/work-item-record.ts";
import { isItemPending, type Ledger } from "./erasure-ledger.ts";
import { erasedAs } from "./kinds-of-data.ts";

/**
 * Erases a work item, deleted or not, with its events. Waits until the calls that knew the item have ended, and erases their
 * events too. An item that is there by then was sent again, and stays. An interrupted erasure may have left nothing that it sees,
 * and still has to wait for these calls.
 * @returns how many events were erased, and whether the item was there. A repeated erasure may find events only
 * @throws NotFoundError if there is no such item, and none of its erasures was interrupted; StoreBusyError
 */
export async function eraseItem(
  runtime: RuntimeWith<"workItems"> & Ledger,
  organization: string,
  externalId: string,
  options: { readonly dryRun?: boolean; readonly sleep: (milliseconds: number) => Promise<unknown> },
) {
  const { dynamodb, environment } = runtime;
  const { pk } = itemKeyOf(organization, externalId);
  const id = workItemId(organization, externalId);

  const first = { work_items: 0, events: 0, others: 0 };
  for await (const keys of partitionPages(dynamodb, environment.WORK_ITEMS_TABLE, pk, "pk, sk")) {
    for (const key of keys) {
      const kind = erasedAs(key as unknown as RecordKey);
      first[kind === "work_items" || kind === "events" ? kind : "others"] += 1;
    }
  }
  const isGone = first.work_items + first.events + first.others === 0;
  if (isGone && !(await isItemPending(runtime, organization, id))) {
    throw new NotFoundError(`${organization} has no work item ${externalId}`);
  }
  if (options.dryRun) return { id, events: first.events, item: first.work_items > 0 };
  const erased = await createEraseItems(runtime)([pk]);
  // Calls that have read the item before it was erased may still write its events.
  await options.sleep(CALLS_END_WITHIN_MS);
  const late = await createEraseItems(runtime, { isDue: () => false })([pk]);
  return { id, events: erased.events + late.events, item: erased.work_items > 0 };
}
