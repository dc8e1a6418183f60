import { type DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import { tryWrite } from "./conditional-write.ts";

/** A conditional change of one record. In `condition`, `#name` is an attribute and `:name` a value of `given`. */
export interface ConditionalUpdate {
  readonly key: { readonly pk: string; readonly sk: string };
  /** New values of attributes; undefined ones are left out. */
  readonly set: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
  readonly condition: string;
  readonly given?: Readonly<Record<string, unknown>>;
}

const ATTRIBUTE = /#(\w+)/g;

/** The change as input of UpdateItem and TransactWriteItems. */
export function toUpdate(table: string, { key, set, remove = [], condition, given = {} }: ConditionalUpdate) {
  const sets = Object.entries(set).filter(([, value]) => value !== undefined);
  const setting = sets.map(([name]) => `#${name} = :set_${name}`).join(", ");
  const removing = remove.map((name) => `#${name}`).join(", ");
  const update = [setting && `SET ${setting}`, removing && `REMOVE ${removing}`].filter(Boolean).join(" ");
  const names = [...`${update} ${condition}`.matchAll(ATTRIBUTE)].map(([alias, name]) => [alias, name!] as const);
  return {
    TableName: table,
    Key: key,
    UpdateExpression: update,
    ConditionExpression: condition,
    ExpressionAttributeNames: Object.fromEntries(names),
    ExpressionAttributeValues: {
      ...Object.fromEntries(sets.map(([name, value]) => [`:set_${name}`, value])),
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [`:${name}`, value])),
    },
  };
}

/**
 * Makes a change that is safe to make twice.
 * @returns the record after the change; undefined if the condition failed, as with `tryWrite`
 */
export function changeRecord(
  dynamodb: DynamoDBDocumentClient,
  table: string,
  change: ConditionalUpdate,
): Promise<Attributes | undefined> {
  return tryWrite(dynamodb, new UpdateCommand({ ...toUpdate(table, change), ReturnValues: "ALL_NEW" }));
}
