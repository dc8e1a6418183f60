import { DeleteCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { CONFLICT_CAP_MS, mapConcurrently, retry } from "../retry.ts";
import { readPartition } from "../store/all-items.ts";
import { tryWrite } from "../store/conditional-write.ts";
import { storedRecordFrom } from "../store/versioned-record.ts";
import { ITEM_SORT_KEY, itemKey, workItemFrom } from "../work-items/work-item-record.ts";

/** DynamoDB's limit for one transaction, less the item itself. */
const EVENTS_PER_TRANSACTION = 99;
const CONCURRENT_DELETIONS = 16;
const ERASING = { attempts: 10, cap: CONFLICT_CAP_MS, message: "others keep changing the work item" };

/**
 * Makes the function that erases one item with its events if it has expired. The item goes first, on condition that it is as it
 * was read, and in the same transaction its first 99 events: one that is changed meanwhile keeps all of them. The other events
 * follow, each unless it was written again. Called again, it erases events that came late, from calls that had read the item.
 * @returns a function that returns whether it has erased the item. @throws MalformedRecordError, StoreBusyError
 */
export function createEraseExpiredItem({ dynamodb, environment }: RuntimeWith<"workItems">) {
  const table = environment.WORK_ITEMS_TABLE;

  const deletionOf = ({ pk, sk }: Attributes) => ({ TableName: table, Key: { pk, sk } });
  const unlessChanged = (record: Attributes) => ({
    ...deletionOf(record),
    ConditionExpression: "version = :version",
    ExpressionAttributeValues: { ":version": record["version"] },
  });
  const eraseEach = (records: readonly Attributes[]): Promise<unknown> =>
    mapConcurrently(records, CONCURRENT_DELETIONS, (record) =>
      tryWrite(dynamodb, new DeleteCommand(unlessChanged(record))),
    );

  return (organization: string, id: string, before: string): Promise<boolean> => {
    const { pk } = itemKey(organization, id);
    let isTried = false;
    return retry(ERASING, async () => {
      const records = await readPartition(dynamodb, table, pk);
      const found = records.find(({ sk }) => sk === ITEM_SORT_KEY);
      const events = records.filter((record) => record !== found);
      const item = workItemFrom(found && storedRecordFrom(found));
      if (found === undefined || item === null) {
        await eraseEach(events);
        return isTried;
      }
      // The lists lag behind: it may have been completed since.
      if ((item.completed_at ?? item.created_at) >= before) return false;
      isTried = true;
      const [first, later] = [events.slice(0, EVENTS_PER_TRANSACTION), events.slice(EVENTS_PER_TRANSACTION)];
      const deletions = [unlessChanged(found), ...first.map(deletionOf)].map((Delete) => ({ Delete }));
      const command =
        first.length === 0
          ? new DeleteCommand(unlessChanged(found))
          : new TransactWriteCommand({ TransactItems: deletions });
      if ((await tryWrite(dynamodb, command)) === undefined) return undefined;
      await eraseEach(later);
      return true;
    });
  };
}
