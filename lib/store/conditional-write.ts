import type {
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import { conditionFailureOf, outcomeOfError, type WriteFailure } from "./write-outcome.ts";

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
