import { DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { partitionKeyOf } from "../resources.ts";
import { partitionPages } from "../store/all-items.ts";
import { getItem } from "../store/batch-get.ts";
import { toUpdate } from "../store/conditional-update.ts";
import { tryWrite } from "../store/conditional-write.ts";
import { newWriteId, type RecordKey } from "../store/versioned-record.ts";

/** Holes that are to be put into the logs of all organizations. */
export interface DueHoles {
  /** Changes whenever holes become due again. */
  readonly id: string;
  /** The last organization whose log has its hole, or one of its own that is due. */
  readonly after?: string | undefined;
}

/** A hole that is to be put into the log of one organization. */
export interface DueHole {
  readonly organization: string;
  /** Changes whenever it becomes due again. */
  readonly id: string;
}

const allKey = { pk: partitionKeyOf("HOLES", "all"), sk: "#DUE" };
const OF_ONE = partitionKeyOf("HOLES", "one");

/** Key of the note that an organization has a hole of its own due. */
export function holeKey(organization: string): RecordKey {
  return { pk: OF_ONE, sk: organization };
}

/** Notes which logs may lack changes. The sweep of changes reads it. */
export function createDueHoles({ dynamodb, environment, clock }: RuntimeWith<"changes">) {
  const TableName = environment.CHANGES_TABLE;
  /** @returns the new id */
  const put = async (key: RecordKey): Promise<string> => {
    const id = newWriteId();
    await dynamodb.send(new PutCommand({ TableName, Item: { ...key, id, since: isoTime(clock()) } }));
    return id;
  };
  /** A damaged record is still due: it is replaced. */
  const idOf = async (key: RecordKey, { id }: Record<string, unknown>): Promise<string> =>
    typeof id === "string" ? id : put(key);
  /** Removes what is due, unless it has become due again meanwhile. */
  const remove = async (Key: RecordKey, { id }: { readonly id: string }): Promise<void> => {
    const condition = { ConditionExpression: "id = :id", ExpressionAttributeValues: { ":id": id } };
    await tryWrite(dynamodb, new DeleteCommand({ TableName, Key, ...condition }));
  };

  return {
    /** Notes that changes may have been lost, whosever they were. */
    noteAll: async (): Promise<void> => void (await put(allKey)),
    readAll: async (): Promise<DueHoles | undefined> => {
      const item = await getItem(dynamodb, TableName, allKey);
      if (item === undefined) return undefined;
      const { after } = item;
      return { id: await idOf(allKey, item), after: typeof after === "string" ? after : undefined };
    },
    /** Notes up to which organization they are put. @returns false if they have become due again meanwhile */
    keepPlace: async ({ id }: DueHoles, after: string): Promise<boolean> => {
      const update = toUpdate(TableName, { key: allKey, set: { after }, condition: "#id = :id", given: { id } });
      return (await tryWrite(dynamodb, new UpdateCommand(update))) !== undefined;
    },
    /** Notes that all are put, unless they have become due again meanwhile. */
    clearAll: (due: DueHoles): Promise<void> => remove(allKey, due),

    /** Notes that changes of one organization are lost. */
    noteOne: async (organization: string): Promise<void> => void (await put(holeKey(organization))),
    /** The organizations that have a hole of their own due, in pages. */
    async *listOnes(): AsyncGenerator<readonly DueHole[]> {
      for await (const items of partitionPages(dynamodb, TableName, OF_ONE)) {
        yield Promise.all(
          items.map(async (item) => {
            const organization = String(item["sk"]);
            return { organization, id: await idOf(holeKey(organization), item) };
          }),
        );
      }
    },
    /** Notes that it is put, unless it has become due again meanwhile. */
    clearOne: ({ organization, id }: DueHole): Promise<void> => remove(holeKey(organization), { id }),
  };
}
