import { StoreBusyError } from "../errors.ts";

/**
 * AWS sent a response that does not have the form of its API, such as HTML, an empty body or a truncated one. A write may
 * have been carried out. The client sends the request again.
 */
export class UnreadableResponseError extends Error {
  override readonly name: string = "UnreadableResponseError";
  readonly $metadata: { httpStatusCode?: number | undefined; attempts?: number | undefined };
  readonly $retryable = {};

  /** @param cause the error of reading it; the HTTP status and the number of attempts are taken from it */
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.$metadata = { ...(cause as SdkError | undefined)?.$metadata };
  }
}

/** Names of AWS errors for a caller that sends too many requests. */
const THROTTLED_NAMES = new Set([
  "LimitExceededException",
  "PriorRequestNotComplete",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
]);
/** Names of AWS errors for conflicting requests, an overloaded service and time-outs. */
const BUSY_NAMES = new Set([
  "AbortError",
  "ConditionalRequestConflict",
  "InternalServerError",
  "NetworkingError",
  "RequestTimeout",
  "RequestTimeoutException",
  "TimeoutError",
  "TransactionConflictException",
  "TransactionInProgressException",
  "UnreadableResponseError",
]);
const CONNECTION_CODES = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"]);

/** The properties of an SDK error that show its cause. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}

/** The SDK's name of an error; empty if the value is not an error. */
export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/**
 * Whether the client sent the request only once. Otherwise the error may be the response to a repeated request whose
 * first attempt was carried out, but its response was lost.
 */
export function wasSentOnce(error: unknown): boolean {
  return (error as SdkError | undefined)?.$metadata?.attempts === 1;
}

const CLIENT_ERROR = { from: 400, to: 500 } as const;

/** Whether AWS itself has refused the request, with an error code of its own: the request was not carried out. */
export function wasRefused(error: unknown): boolean {
  const status = (error as SdkError | undefined)?.$metadata?.httpStatusCode ?? 0;
  return status >= CLIENT_ERROR.from && status < CLIENT_ERROR.to && !isBusy(error);
}

/** Whether S3 has no such object. Without permission to list the bucket, S3 responds with 403 instead. */
export function isMissingObject(error: unknown): boolean {
  return ["NoSuchKey", "NotFound"].includes(codeOf(error));
}

/** Whether S3 refused a request because the object is another than the one in If-Match, or exists in spite of If-None-Match. */
export function isPreconditionFailed(error: unknown): boolean {
  return ["PreconditionFailed", "412"].includes(codeOf(error));
}

/** Whether AWS refused a request because there are too many. */
export function isThrottled(error: unknown): boolean {
  return THROTTLED_NAMES.has(codeOf(error));
}

/** Whether a request to AWS failed only temporarily: throttling, a conflict, a time-out or a fault of the service. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata } = error as SdkError;
  return (
    isThrottled(error) ||
    BUSY_NAMES.has(name) ||
    (typeof code === "string" && CONNECTION_CODES.has(code)) ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  );
}

/**
 * Whether AWS could not serve a request for a reason that is not in the request: throttling, time-outs, and outages such
 * as missing permissions, tables or credentials. A ValidationException is our own mistake.
 */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof StoreBusyError ||
    isBusy(error) ||
    ((error as SdkError | undefined)?.$metadata !== undefined && codeOf(error) !== "ValidationException")
  );
}
