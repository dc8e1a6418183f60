import type {
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import { conditionFailureOf, outcomeOfError, type WriteFailure } from "./write-outcome.ts";

/** DynamoDB allows 100 actions. One is for the record that the others depend on. */
const ACTIONS_PER_TRANSACTION = 99;
/** DynamoDB allows 4 MB. */
const BYTES_PER_TRANSACTION = 3_000_000;

type ConditionalCommand = PutCommand | UpdateCommand | DeleteCommand | TransactWriteCommand;
type SendOptions = { readonly abortSignal?: AbortSignal };

/** The outcome of a write: the record, if the command asks for it, or the error and what it means. */
export type Written =
  | { readonly kind: "written"; readonly record: Attributes }
  | (WriteFailure & {
      readonly error: unknown;
      /**
       * Set if the condition failed at the last attempt: the record at that time, if the command asks for it, with numbers
       * as strings. With the kind `unknown`, an earlier attempt of the same write may have changed it.
       */
      readonly current: Attributes | undefined;
    });

/**
 * Sends a conditional write. Only this function decides what a lost response, a conflict and a busy table mean. The SDK may
 * have sent the write up to three times. It never throws.
 */
export async function writeConditionally(
  dynamodb: DynamoDBDocumentClient,
  command: ConditionalCommand,
  options?: SendOptions,
): Promise<Written> {
  try {
    const { Attributes: record = {} } = await dynamodb.send(command as UpdateCommand, options);
    return { kind: "written", record };
  } catch (error) {
    return { ...outcomeOfError(error), error, current: conditionFailureOf(error) };
  }
}

/**
 * Sends a conditional write that is safe to repeat.
 * @returns the record, if the command asks for it; undefined if the condition failed, perhaps because an earlier attempt
 * of the same write succeeded
 * @throws all other errors
 */
export async function tryWrite(
  dynamodb: DynamoDBDocumentClient,
  command: ConditionalCommand,
  options?: SendOptions,
): Promise<Attributes | undefined> {
  const outcome = await writeConditionally(dynamodb, command, options);
  if (outcome.kind === "written") return outcome.record;
  if (outcome.current === undefined) throw outcome.error;
  return undefined;
}

/**
 * Like `tryWrite`, for callers that then read the records and try again: it also returns undefined if the table was busy or
 * others were writing the records.
 */
export async function tryOnce(
  dynamodb: DynamoDBDocumentClient,
  command: ConditionalCommand,
): Promise<Attributes | undefined> {
  const outcome = await writeConditionally(dynamodb, command);
  if (outcome.kind === "written") return outcome.record;
  if (outcome.kind !== "busy" && outcome.current === undefined) throw outcome.error;
  return undefined;
}

/**
 * Groups values into transactions. A value is never split.
 * @param sizeOf the value's actions, and the bytes of their records
 */
export function groupsForTransactions<T>(
  values: readonly T[],
  sizeOf: (value: T) => readonly [actions: number, bytes: number],
): T[][] {
  const groups: T[][] = [];
  let actions = 0;
  let bytes = 0;
  for (const value of values) {
    const [moreActions, moreBytes] = sizeOf(value);
    actions += moreActions;
    bytes += moreBytes;
    const last = groups.at(-1);
    if (last !== undefined && actions <= ACTIONS_PER_TRANSACTION && bytes <= BYTES_PER_TRANSACTION) last.push(value);
    else {
      groups.push([value]);
      actions = moreActions;
      bytes = moreBytes;
    }
  }
  return groups;
}

/** Groups records that one transaction can delete. */
export function transactionsOf<T extends object>(records: readonly T[]): T[][] {
  return groupsForTransactions(records, (record) => [1, Buffer.byteLength(JSON.stringify(record))]);
}
