import { paginateQuery, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { chunksOf, CONFLICT_CAP_MS, retry } from "../retry.ts";
import { allItems } from "../store/all-items.ts";
import { tryWrite } from "../store/conditional-write.ts";
import { type StoredRecord, storedRecordFrom } from "../store/versioned-record.ts";
import { ITEM_SORT_KEY, itemKey, workItemFrom } from "../work-items/work-item-record.ts";

/** DynamoDB's limit for one transaction, less the item itself. */
const OTHERS_PER_TRANSACTION = 99;
const ERASING = { attempts: 10, cap: CONFLICT_CAP_MS, message: "others keep changing the work item" };

/**
 * Makes the functions that erase one item with its events if it has expired. All goes in one transaction on condition that
 * the item is as it was read, so that one that is changed meanwhile keeps its events. Only of an item with more than 99
 * events the first ones can go before.
 */
export function createEraseExpiredItem({ dynamodb, environment }: RuntimeWith<"workItems">) {
  const table = environment.WORK_ITEMS_TABLE;

  const read = (pk: string): Promise<Attributes[]> =>
    allItems(
      paginateQuery(
        { client: dynamodb },
        {
          TableName: table,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": pk },
          ConsistentRead: true,
        },
      ),
    );

  /** @param item undefined if there is none any more, and none may have come */
  const remove = async (
    key: { readonly pk: string; readonly sk: string },
    item: StoredRecord | undefined,
    others: readonly Attributes[],
  ): Promise<boolean> => {
    const condition =
      item === undefined
        ? { ConditionExpression: "attribute_not_exists(pk)" }
        : { ConditionExpression: "version = :version", ExpressionAttributeValues: { ":version": item.version } };
    const conditional = { TableName: table, Key: key, ...condition };
    const chunks = chunksOf(others, OTHERS_PER_TRANSACTION);
    if (chunks.length === 0) chunks.push([]);
    for (const [place, chunk] of chunks.entries()) {
      const isLast = place === chunks.length - 1;
      const deletes = chunk.map(({ pk, sk }) => ({ Delete: { TableName: table, Key: { pk, sk } } }));
      const ofItem = isLast && item !== undefined ? { Delete: conditional } : { ConditionCheck: conditional };
      const written = await tryWrite(dynamodb, new TransactWriteCommand({ TransactItems: [ofItem, ...deletes] }));
      if (written === undefined) return false;
    }
    return true;
  };

  return {
    /** @returns whether it was there and is erased. @throws MalformedRecordError, StoreBusyError */
    erase: (organization: string, id: string, before: string): Promise<boolean> => {
      const key = itemKey(organization, id);
      return retry(ERASING, async () => {
        const records = await read(key.pk);
        const found = records.find(({ sk }) => sk === ITEM_SORT_KEY);
        const stored = found && storedRecordFrom(found);
        const item = workItemFrom(stored);
        // The lists lag behind: it may have been completed since.
        if (item === null || (item.completed_at ?? item.created_at) >= before) return false;
        const others = records.filter((record) => record !== found);
        return (await remove(key, stored, others)) || undefined;
      });
    },
    /** Erases events that came after their item was erased, from calls that had read it before. */
    eraseLate: async (organization: string, id: string): Promise<void> => {
      const key = itemKey(organization, id);
      const records = await read(key.pk);
      const isBack = records.some(({ sk }) => sk === ITEM_SORT_KEY);
      if (records.length > 0 && !isBack) await remove(key, undefined, records);
    },
  };
}
