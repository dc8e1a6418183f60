import { StoreBusyError } from "../errors.ts";

/**
 * AWS's response doesn't have the form of its API: HTML, for example, or an empty or truncated body. A write may have been
 * carried out. The client sends the request again.
 */
export class UnreadableResponseError extends Error {
  override readonly name: string = "UnreadableResponseError";
  readonly $metadata: { httpStatusCode?: number | undefined; attempts?: number | undefined };
  readonly $retryable = {};

  /** @param cause the error of reading it, with the HTTP status and the number of attempts */
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.$metadata = { ...(cause as SdkError | undefined)?.$metadata };
  }
}

/** Names of AWS errors for too many requests. */
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
/** Names of AWS errors for conflicting requests, an overloaded service and timeouts. */
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
 * Whether the client sent the request only once. Otherwise an earlier attempt may have been carried out, and its response
 * lost.
 */
export function wasSentOnce(error: unknown): boolean {
  return (error as SdkError | undefined)?.$metadata?.attempts === 1;
}

const CLIENT_ERROR = { from: 400, to: 500 } as const;

/** Whether AWS itself rejected the request with one of its error codes: it wasn't carried out. */
export function wasRefused(error: unknown): boolean {
  const status = (error as SdkError | undefined)?.$metadata?.httpStatusCode ?? 0;
  return status >= CLIENT_ERROR.from && status < CLIENT_ERROR.to && !isBusy(error);
}

/** Whether S3 has no such object. Without permission to list the bucket, S3 responds with 403 instead. */
export function isMissingObject(error: unknown): boolean {
  return ["NoSuchKey", "NotFound"].includes(codeOf(error));
}

/** Whether S3 rejected a request because of If-Match or If-None-Match: the object has changed or already exists. */
export function isPreconditionFailed(error: unknown): boolean {
  return ["PreconditionFailed", "412"].includes(codeOf(error));
}

/** Whether AWS rejected a request because there are too many. */
export function isThrottled(error: unknown): boolean {
  return THROTTLED_NAMES.has(codeOf(error));
}

/** Whether a request to AWS failed temporarily: throttling, a conflict, a timeout or a fault of the service. */
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
 * Whether AWS couldn't serve a request for a reason outside the request: throttling, timeouts, and outages such as missing
 * permissions, tables or credentials. A ValidationException is our own mistake.
 */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof StoreBusyError ||
    isBusy(error) ||
    ((error as SdkError | undefined)?.$metadata !== undefined && codeOf(error) !== "ValidationException")
  );
}
