import { StoreBusyError } from "../errors.ts";

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
]);
const CONNECTION_CODES = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"]);

/** The properties of an SDK error that show its cause. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly $metadata?: {
    readonly httpStatusCode?: number;
    readonly attempts?: number;
    readonly requestId?: string;
  };
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

/**
 * Whether AWS itself rejected the request with one of its error codes: it wasn't carried out. A response in HTML, whatever its
 * status, is a SyntaxError of the SDK.
 */
export function wasRefused(error: unknown): boolean {
  const status = (error as SdkError | undefined)?.$metadata?.httpStatusCode ?? 0;
  const isClientError = status >= CLIENT_ERROR.from && status < CLIENT_ERROR.to;
  return isClientError && !isBusy(error) && codeOf(error) !== "SyntaxError";
}

/**
 * Whether S3 has no such object. Without permission to list the bucket, S3 responds with 403 instead. The SDK calls every 404
 * without a code NotFound; to HEAD, S3 sends no code, but a request ID.
 */
export function isMissingObject(error: unknown, method: "GET" | "HEAD"): boolean {
  if (method === "GET") return codeOf(error) === "NoSuchKey";
  return codeOf(error) === "NotFound" && (error as SdkError).$metadata?.requestId !== undefined;
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
