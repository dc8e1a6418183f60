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

/** Gaps that are to be put into the logs of all organizations. */
export interface DueGaps {
  /** Changes whenever gaps become due again. */
  readonly id: string;
  /** The last organization whose log has its gap, or one of its own that is due. */
  readonly after?: string | undefined;
}

/** A gap that is to be put into the log of one organization. */
export interface DueGap {
  readonly organization: string;
  /** Changes whenever it becomes due again. */
  readonly id: string;
}

/** What is noted of an organization whose changes can't be appended. */
interface Failing {
  /** When they failed first, in milliseconds since the epoch. */
  readonly since: number;
  /** Whether they wait in their queue. Otherwise they are lost, and a gap is due. */
  readonly isWaiting: boolean;
}

const allKey = { pk: partitionKeyOf("GAPS", "all"), sk: "#DUE" };
const OF_ONE = partitionKeyOf("GAPS", "one");

/** Key of the note of an organization's own gap. */
export function gapKey(organization: string): RecordKey {
  return { pk: OF_ONE, sk: organization };
}

/** Notes which logs lack changes, or will. The sweep of changes reads it. */
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
  /** A damaged note is due. */
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
    /** Notes that changes may have been lost, whosever they were. */
    noteAll: async (): Promise<void> => void (await putAll()),
    readAll: async (): Promise<DueGaps | undefined> => {
      const item = await getItem(dynamodb, TableName, allKey);
      if (item === undefined) return undefined;
      const { id, after } = item;
      // A damaged note is still due: it is replaced.
      return { id: typeof id === "string" ? id : await putAll(), after: typeof after === "string" ? after : undefined };
    },
    /** Notes up to which organization they are put. @returns false if they have become due again meanwhile */
    keepPlace: async ({ id }: DueGaps, after: string): Promise<boolean> => {
      const update = toUpdate(TableName, { key: allKey, set: { after }, condition: "#id = :id", given: { id } });
      return (await tryWrite(dynamodb, new UpdateCommand(update))) !== undefined;
    },
    /** Notes that all are put, unless they have become due again meanwhile. */
    clearAll: (due: DueGaps): Promise<void> => remove(allKey, due),

    /** Notes that changes of one organization are lost. */
    noteOne: async (organization: string): Promise<void> => void (await putOne(organization)),
    /** Notes when the changes of one organization failed first. @returns the note, also one that was there before */
    noteFailing: async (organization: string): Promise<Failing> => {
      const note = await readOne(organization);
      if (note !== undefined) return note;
      const since = clock();
      const Item = { ...gapKey(organization), id: newWriteId(), since: isoTime(since), is_waiting: true };
      const ConditionExpression = "attribute_not_exists(pk)";
      await tryWrite(dynamodb, new PutCommand({ TableName, Item, ConditionExpression }));
      return { since, isWaiting: true };
    },
    /** Notes that the changes of one organization don't fail any more. A gap that is due stays due. */
    clearFailing: async (organization: string): Promise<void> => {
      const condition = { ConditionExpression: "is_waiting = :yes", ExpressionAttributeValues: { ":yes": true } };
      await tryWrite(dynamodb, new DeleteCommand({ TableName, Key: gapKey(organization), ...condition }));
    },
    readOne,
    /** The gaps of single organizations that are due, in pages. */
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
    /** Notes that it is put, unless it has become due again meanwhile. */
    clearOne: ({ organization, id }: DueGap): Promise<void> => remove(gapKey(organization), { id }),
  };
}
