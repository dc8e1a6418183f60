import { DeleteCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { CONFLICT_CAP_MS, retry } from "../retry.ts";
import { readPartition } from "../store/all-items.ts";
import { transactionsOf, tryOnce, writeConditionally } from "../store/conditional-write.ts";
import { type RecordKey, storedRecordFrom } from "../store/versioned-record.ts";
import { ITEM_SORT_KEY, itemKey, workItemFrom } from "../work-items/work-item-record.ts";

const ERASING = { attempts: 10, cap: CONFLICT_CAP_MS, message: "others keep changing the work item" };

/**
 * Makes the function that erases one item with its events if it has expired. The item goes first, on condition that it is as it
 * was read, and in the same transaction its first events: one that is changed meanwhile keeps all of them. The other events
 * follow, each unless the item is back: its caller may have found them unchanged. Called again, it erases events that came
 * late, from calls that had read the item.
 * @returns a function that returns whether it has erased the item. @throws MalformedRecordError, StoreBusyError
 */
export function createEraseExpiredItem({ dynamodb, environment }: RuntimeWith<"workItems">) {
  const table = environment.WORK_ITEMS_TABLE;

  const deletionsOf = (records: readonly Attributes[]) =>
    records.map(({ pk, sk }) => ({ Delete: { TableName: table, Key: { pk, sk } } }));
  /** Erases events unless their item is back. @returns undefined if others are writing them, or the table is busy */
  const eraseOrphans = async (Key: RecordKey, transactions: readonly (readonly Attributes[])[]) => {
    const ConditionCheck = { TableName: table, Key, ConditionExpression: "attribute_not_exists(pk)" };
    for (const events of transactions) {
      const TransactItems = [{ ConditionCheck }, ...deletionsOf(events)];
      const outcome = await writeConditionally(dynamodb, new TransactWriteCommand({ TransactItems }));
      if (outcome.kind === "busy") return undefined;
      if (outcome.kind === "written") continue;
      if (outcome.current === undefined) throw outcome.error;
      return true;
    }
    return true;
  };

  return (organization: string, id: string, before: string): Promise<boolean> => {
    const key = itemKey(organization, id);
    let isTried = false;
    return retry(ERASING, async () => {
      const records = await readPartition(dynamodb, table, key.pk);
      const found = records.find(({ sk }) => sk === ITEM_SORT_KEY);
      const events = records.filter((record) => record !== found);
      const stored = found && storedRecordFrom(found);
      const item = workItemFrom(stored);
      if (stored === undefined || item === null) {
        return (await eraseOrphans(key, transactionsOf(events))) && isTried;
      }
      // The lists lag behind: it may have been completed since.
      if ((item.completed_at ?? item.created_at) >= before) return false;
      isTried = true;
      const [[, ...first] = [], ...later] = transactionsOf<Attributes>([stored, ...events]);
      const deletion = {
        TableName: table,
        Key: key,
        ConditionExpression: "version = :version",
        ExpressionAttributeValues: { ":version": stored.version },
      };
      const command =
        first.length === 0
          ? new DeleteCommand(deletion)
          : new TransactWriteCommand({ TransactItems: [{ Delete: deletion }, ...deletionsOf(first)] });
      if ((await tryOnce(dynamodb, command)) === undefined) return undefined;
      return eraseOrphans(key, later);
    });
  };
}
