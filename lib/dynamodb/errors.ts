import { codeOf, isBusy, wasSentOnce } from "../runtime/aws-errors.ts";

/**
 * What became of a conditional write.
 * `written`;
 * `lost`: its condition failed at the only attempt, so it has certainly not written: somebody else has changed the record;
 * `busy`: throttled or in conflict at the only attempt, so it has certainly not written;
 * `unknown`: the client sent it more than once, or no answer came: perhaps it has written;
 * `refused`: this record cannot be stored, however often it is tried;
 * `outage`: the store cannot be used (access, table, credentials), which is nobody's record's fault.
 */
export interface WriteOutcome {
  readonly kind: "written" | "lost" | "busy" | "unknown" | "refused" | "outage";
  /** What DynamoDB said, where it is worth a line in the log. */
  readonly code?: string;
}

/** Of single requests and of statements in a batch, which call the same things by other names. */
const CONDITION_FAILED = [
  "ConditionalCheckFailed",
  "ConditionalCheckFailedException",
  "DuplicateItem",
  "DuplicateItemException",
];
const THROTTLED_OR_IN_CONFLICT = [
  "ProvisionedThroughputExceeded",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ThrottlingError",
  "ThrottlingException",
  "TransactionConflict",
  "TransactionConflictException",
];
const SERVER_FAULT = ["InternalServerError", "ServiceUnavailable"];
const VALIDATION = ["ValidationError", "ValidationException"];
/** What DynamoDB's validation says of a record that is too large or too deep; all else it says is our own mistake. */
const FAULT_OF_RECORD = /exceeded/i;

const outcomeOf = (code: string, message: string, sentOnce: boolean): WriteOutcome => {
  if (VALIDATION.includes(code)) return { kind: FAULT_OF_RECORD.test(message) ? "refused" : "outage", code };
  if (code === "ItemCollectionSizeLimitExceeded") return { kind: "refused", code };
  if (SERVER_FAULT.includes(code) || !sentOnce) return { kind: "unknown", code };
  if (CONDITION_FAILED.includes(code)) return { kind: "lost" };
  return { kind: THROTTLED_OR_IN_CONFLICT.includes(code) ? "busy" : "outage", code };
};

/** What became of a write that is a request of its own. */
export const outcomeOfError = (error: unknown): WriteOutcome => {
  const code = codeOf(error);
  if (isBusy(error) && !THROTTLED_OR_IN_CONFLICT.includes(code)) return { kind: "unknown", code };
  return outcomeOf(code, error instanceof Error ? error.message : "", wasSentOnce(error));
};

/** @param failed the error in one of a batch's responses @param attempts how often the client sent the batch */
export const outcomeOfStatement = (
  failed: { readonly Code?: string | undefined; readonly Message?: string | undefined },
  attempts: number,
): WriteOutcome => outcomeOf(failed.Code ?? "InternalServerError", failed.Message ?? "", attempts === 1);

export const isConditionFailure = (error: unknown): boolean => CONDITION_FAILED.includes(codeOf(error));

/** A condition did not hold, or somebody else was writing to one of its records. */
export const isTransactionCancelled = (error: unknown): boolean =>
  ["TransactionCanceledException", "TransactionConflictException"].includes(codeOf(error));

/** A condition did not hold, somebody else was writing, or no answer came: what happened is read from the table. */
export const isTransactionUnclear = (error: unknown): boolean => isTransactionCancelled(error) || isBusy(error);
