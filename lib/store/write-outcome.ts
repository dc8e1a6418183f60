import type { CancellationReason, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { codeOf, wasRefused, wasSentOnce } from "../aws/error-codes.ts";

/**
 * The outcome of a conditional write.
 * `written`: it was carried out;
 * `lost`: its condition failed at the only attempt, so it wasn't carried out: another writer has changed the record;
 * `busy`: throttled or in conflict at the only attempt, so it wasn't carried out;
 * `unknown`: it may have been carried out: the client sent it more than once, or got no readable response;
 * `refused`: DynamoDB can't store this record, so a retry is useless;
 * `outage`: the table can't be used for any record (permissions, missing table, credentials).
 */
export interface WriteOutcome {
  readonly kind: "written" | "lost" | "busy" | "unknown" | "refused" | "outage";
  /** DynamoDB's error code, for the log. */
  readonly code?: string;
}
/** The outcome of a write whose request failed. */
export interface WriteFailure extends WriteOutcome {
  readonly kind: Exclude<WriteOutcome["kind"], "written">;
}

/** Error codes of single requests, and those of statements in a batch, which have other names. */
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
  "TransactionCanceledException",
  "TransactionConflict",
  "TransactionConflictException",
];
const SERVER_FAULT = ["InternalServerError", "ServiceUnavailable"];
const VALIDATION = ["ValidationError", "ValidationException"];
/** Matches DynamoDB's validation messages for records that are too large or too deep. All others mean a bug of ours. */
const FAULT_OF_RECORD = /exceeded/i;

function outcomeOf(code: string, message: string, sentOnce: boolean): WriteFailure {
  if (VALIDATION.includes(code)) return { kind: FAULT_OF_RECORD.test(message) ? "refused" : "outage", code };
  if (code === "ItemCollectionSizeLimitExceeded") return { kind: "refused", code };
  if (SERVER_FAULT.includes(code) || !sentOnce) return { kind: "unknown", code };
  if (CONDITION_FAILED.includes(code)) return { kind: "lost" };
  return { kind: THROTTLED_OR_IN_CONFLICT.includes(code) ? "busy" : "outage", code };
}

/** Why DynamoDB canceled a transaction: a failed condition, if there is one, or else the first reason. */
function cancellationOf(error: unknown): CancellationReason | undefined {
  const { CancellationReasons: all = [] } = error as Partial<TransactionCanceledException>;
  const reasons = all.filter(({ Code = "None" }) => Code !== "None");
  return reasons.find(({ Code = "" }) => CONDITION_FAILED.includes(Code)) ?? reasons[0];
}
function reasonOf(error: unknown): string {
  return cancellationOf(error)?.Code ?? codeOf(error);
}

/** The outcome of a failed request. */
export function outcomeOfError(error: unknown): WriteFailure {
  const code = reasonOf(error);
  if (!wasRefused(error) && !THROTTLED_OR_IN_CONFLICT.includes(code)) return { kind: "unknown", code };
  const { message } = error as Error;
  return outcomeOf(code, cancellationOf(error)?.Message ?? message, wasSentOnce(error));
}

/**
 * The outcome of a failed statement in a batch.
 * @param failed the error in the statement's response
 * @param attempts how often the client sent the batch
 */
export function outcomeOfStatement(
  failed: { readonly Code?: string | undefined; readonly Message?: string | undefined },
  attempts: number,
): WriteOutcome {
  return outcomeOf(failed.Code ?? "InternalServerError", failed.Message ?? "", attempts === 1);
}

/**
 * The record that made a condition fail, if the request asked for it, with numbers as strings.
 * @returns undefined for other errors
 */
export function conditionFailureOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!CONDITION_FAILED.includes(reasonOf(error))) return undefined;
  const { Item = {} } = error as { readonly Item?: Readonly<Record<string, object>> };
  return Object.fromEntries(Object.entries(Item).map(([name, value]) => [name, Object.values(value)[0] as unknown]));
}
