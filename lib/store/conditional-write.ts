import type {
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import { conditionFailureOf, outcomeOfError, type WriteFailure } from "./write-outcome.ts";

/** A transaction has at most 100 actions, of which one is for the record that the others depend on. */
const ACTIONS_PER_TRANSACTION = 99;
/** All items of a transaction have at most 4 MB. */
const BYTES_PER_TRANSACTION = 3_000_000;

type ConditionalCommand = PutCommand | UpdateCommand | DeleteCommand | TransactWriteCommand;
type SendOptions = { readonly abortSignal?: AbortSignal };

/** What became of a write: the record, if the command asks for it, or the error and what it means. */
export type Written =
  | { readonly kind: "written"; readonly record: Attributes }
  | (WriteFailure & {
      readonly error: unknown;
      /**
       * Set if the condition did not hold at the last attempt: the record then, if the command asks for it; numbers are
       * texts. With the kind `unknown` an earlier attempt of the same write may be what changed it.
       */
      readonly current: Attributes | undefined;
    });

/**
 * Sends a conditional write: the one place that decides what a lost response, a conflict and a busy table mean. The SDK
 * has sent it up to three times by then. It never throws.
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
 * Sends a conditional write that does no harm if it is carried out twice.
 * @returns the record, if the command asks for it; undefined if the condition did not hold, for which the write's own
 * first attempt may be the reason
 * @throws the error of any other failure
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
 * As `tryWrite`, for a caller that reads the records next and may try again: undefined also if the write was not carried out
 * because the table was busy, or because others were just writing the records.
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
 * Groups what belongs together into transactions.
 * @param sizeOf its actions, and the bytes of the records that they are about
 */
export function groupsForTransactions<T>(
  values: readonly T[],
  sizeOf: (value: T) => readonly [actions: number, bytes: number],
): T[][] {
  const groups: T[][] = [];
  let [actions, bytes] = [0, 0];
  for (const value of values) {
    const [moreActions, moreBytes] = sizeOf(value);
    actions += moreActions;
    bytes += moreBytes;
    const last = groups.at(-1);
    if (last !== undefined && actions <= ACTIONS_PER_TRANSACTION && bytes <= BYTES_PER_TRANSACTION) last.push(value);
    else {
      groups.push([value]);
      [actions, bytes] = [moreActions, moreBytes];
    }
  }
  return groups;
}

/** Cuts records into lists that one transaction can delete. */
export function transactionsOf<T extends object>(records: readonly T[]): T[][] {
  return groupsForTransactions(records, (record) => [1, Buffer.byteLength(JSON.stringify(record))]);
}
