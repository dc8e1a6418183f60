import { DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { partitionKeyOf } from "../resources.ts";
import { partitionPages } from "../store/all-items.ts";
import { getItem } from "../store/batch-get.ts";
import { toUpdate } from "../store/conditional-update.ts";
import { tryWrite } from "../store/conditional-write.ts";
import { newWriteId, type RecordKey } from "../store/versioned-record.ts";

/** Gaps due in the logs of all organizations. */
export interface DueGaps {
  /** Changes whenever gaps become due again. */
  readonly id: string;
  /** The last organization whose log has its gap, or whose own gap is due. */
  readonly after?: string | undefined;
}

/** A gap due in the log of one organization. */
export interface DueGap {
  readonly organization: string;
  /** Changes whenever it becomes due again. */
  readonly id: string;
}

/** The note about an organization whose changes can't be appended. */
interface Failing {
  /** When they first failed, in milliseconds since the epoch. */
  readonly since: number;
  /** Whether they are still in the queue. Otherwise they are lost, and a gap is due. */
  readonly isWaiting: boolean;
}

const allKey = { pk: partitionKeyOf("GAPS", "all"), sk: "#DUE" };
const OF_ONE = partitionKeyOf("GAPS", "one");

/** Key of the note of an organization's own gap. */
export function gapKey(organization: string): RecordKey {
  return { pk: OF_ONE, sk: organization };
}

/** Notes which logs lack or will lack changes. The sweep of changes reads the notes. */
export function createDueGaps({ dynamodb, environment, clock }: RuntimeWith<"changes">) {
  const TableName = environment.CHANGES_TABLE;
  /** @returns the new id */
  const putAll = async (): Promise<string> => {
    const id = newWriteId();
    await dynamodb.send(new PutCommand({ TableName, Item: { ...allKey, id, since: isoTime(clock()) } }));
    return id;
  };
  /** The time of the first failure stays. @returns the new id */
  const putOne = async (organization: string): Promise<string> => {
    const id = newWriteId();
    await dynamodb.send(
      new UpdateCommand({
        TableName,
        Key: gapKey(organization),
        UpdateExpression: "SET id = :id, since = if_not_exists(since, :now) REMOVE is_waiting",
        ExpressionAttributeValues: { ":id": id, ":now": isoTime(clock()) },
      }),
    );
    return id;
  };
  /** A damaged note means that a gap is due. */
  const stateIn = ({ since, is_waiting: isWaiting }: Attributes): Failing => {
    const time = Date.parse(String(since));
    return Number.isNaN(time) ? { since: clock(), isWaiting: false } : { since: time, isWaiting: isWaiting === true };
  };
  const readOne = async (organization: string): Promise<Failing | undefined> => {
    const item = await getItem(dynamodb, TableName, gapKey(organization));
    return item && stateIn(item);
  };
  /** Removes what is due, unless it has become due again meanwhile. */
  const remove = async (Key: RecordKey, { id }: { readonly id: string }): Promise<void> => {
    const condition = { ConditionExpression: "id = :id", ExpressionAttributeValues: { ":id": id } };
    await tryWrite(dynamodb, new DeleteCommand({ TableName, Key, ...condition }));
  };

  return {
    /** Notes that changes of any organization may have been lost. */
    noteAll: async (): Promise<void> => void (await putAll()),
    readAll: async (): Promise<DueGaps | undefined> => {
      const item = await getItem(dynamodb, TableName, allKey);
      if (item === undefined) return undefined;
      const { id, after } = item;
      // A damaged note is replaced: its gaps are still due.
      return { id: typeof id === "string" ? id : await putAll(), after: typeof after === "string" ? after : undefined };
    },
    /** Notes the last organization whose gap is put. @returns false if all have become due again meanwhile */
    noteProgress: async ({ id }: DueGaps, after: string): Promise<boolean> => {
      const update = toUpdate(TableName, { key: allKey, set: { after }, condition: "#id = :id", given: { id } });
      return (await tryWrite(dynamodb, new UpdateCommand(update))) !== undefined;
    },
    /** Notes that all are put, unless they have become due again meanwhile. */
    clearAll: (due: DueGaps): Promise<void> => remove(allKey, due),

    /** Notes that changes of one organization are lost. */
    noteOne: async (organization: string): Promise<void> => void (await putOne(organization)),
    /** Notes when the changes of one organization first failed. @returns the new or existing note */
    noteFailing: async (organization: string): Promise<Failing> => {
      const note = await readOne(organization);
      if (note !== undefined) return note;
      const since = clock();
      const Item = { ...gapKey(organization), id: newWriteId(), since: isoTime(since), is_waiting: true };
      const ConditionExpression = "attribute_not_exists(pk)";
      await tryWrite(dynamodb, new PutCommand({ TableName, Item, ConditionExpression }));
      return { since, isWaiting: true };
    },
    /** Notes that the changes of one organization no longer fail. A gap that is due stays due. */
    clearFailing: async (organization: string): Promise<void> => {
      const condition = { ConditionExpression: "is_waiting = :yes", ExpressionAttributeValues: { ":yes": true } };
      await tryWrite(dynamodb, new DeleteCommand({ TableName, Key: gapKey(organization), ...condition }));
    },
    readOne,
    /** The due gaps of single organizations, in pages. */
    async *listOnes(): AsyncGenerator<readonly DueGap[]> {
      for await (const items of partitionPages(dynamodb, TableName, OF_ONE)) {
        const due = items.filter((item) => !stateIn(item).isWaiting);
        yield Promise.all(
          due.map(async ({ sk, id }) => {
            const organization = String(sk);
            return { organization, id: typeof id === "string" ? id : await putOne(organization) };
          }),
        );
      }
    },
    /** Notes that one gap is put, unless it has become due again meanwhile. */
    clearOne: ({ organization, id }: DueGap): Promise<void> => remove(gapKey(organization), { id }),
  };
}
