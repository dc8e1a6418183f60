import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { readPartition } from "../store/all-items.ts";
import { tryWrite } from "../store/conditional-write.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { NotFoundError } from "../errors.ts";
import { workItemId } from "../identity.ts";
import { EVENT_SORT_KEY_PREFIX, ITEM_SORT_KEY, itemKeyOf } from "../work-items/work-item-record.ts";
import { deleteRecords, type RecordsRuntime } from "./customer-records.ts";
import { CALLS_END_WITHIN_MS } from "./jobs-before.ts";

interface Found {
  /** Undefined if there is no item. Of a damaged one it is whatever is there, or null. */
  readonly version: unknown;
  readonly events: readonly RecordKey[];
  /** Records of any other kind in the item's partition. */
  readonly others: readonly RecordKey[];
}

async function find({ dynamodb, environment }: RecordsRuntime, { pk }: RecordKey): Promise<Found> {
  const records = await readPartition(dynamodb, environment.WORK_ITEMS_TABLE, pk, "pk, sk, version");
  const item = records.find(({ sk }) => sk === ITEM_SORT_KEY);
  const below = records.filter((record) => record !== item).map(({ sk }) => ({ pk, sk: String(sk) }));
  return {
    version: item === undefined ? undefined : (item["version"] ?? null),
    events: below.filter(({ sk }) => sk.startsWith(EVENT_SORT_KEY_PREFIX)),
    others: below.filter(({ sk }) => !sk.startsWith(EVENT_SORT_KEY_PREFIX)),
  };
}

/**
 * Erases a work item, deleted or not, with its events: first the events, then the item on condition that nobody has
 * changed it since. Repeats until nothing is left, and once more after the calls have ended that knew the item.
 * Sending the item again creates it again.
 * @returns how many events were erased, and whether the item was there: a repeated erasure may find events only
 * @throws NotFoundError if there is no such item
 */
export async function eraseItem(
  runtime: RecordsRuntime,
  organization: string,
  externalId: string,
  options: { readonly dryRun?: boolean; readonly sleep: (milliseconds: number) => Promise<unknown> },
) {
  const key = itemKeyOf(organization, externalId);
  const table = runtime.environment.WORK_ITEMS_TABLE;
  const id = workItemId(organization, externalId);
  let [events, item] = [0, false];

  const removeItem = async (version: unknown): Promise<void> => {
    const command = new DeleteCommand({
      TableName: table,
      Key: key,
      ...(version === null
        ? { ConditionExpression: "attribute_not_exists(version)" }
        : { ConditionExpression: "version = :version", ExpressionAttributeValues: { ":version": version } }),
    });
    // If somebody has changed it since, it is read again.
    await tryWrite(runtime.dynamodb, command);
  };
  const isEmpty = ({ version, events: found, others }: Found): boolean =>
    version === undefined && found.length === 0 && others.length === 0;
  const removeAll = async (first: Found): Promise<void> => {
    for (let found = first; !isEmpty(found); found = await find(runtime, key)) {
      await deleteRecords(runtime, table, [...found.events, ...found.others]);
      events += found.events.length;
      if (found.version === undefined) continue;
      item = true;
      await removeItem(found.version);
    }
  };

  const first = await find(runtime, key);
  if (isEmpty(first)) throw new NotFoundError(`${organization} has no work item ${externalId}`);
  if (options.dryRun) return { id, events: first.events.length, item: first.version !== undefined };
  await removeAll(first);
  // Calls that have read the item before it was erased may still write it.
  await options.sleep(CALLS_END_WITHIN_MS);
  // An event whose call had read the item may have come after it; an item that is here now was sent again.
  const late = await find(runtime, key);
  if (late.version === undefined) await removeAll(late);
  return { id, events, item };
}
