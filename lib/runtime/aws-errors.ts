/** Names of AWS errors for throttling, conflicting requests, an overloaded service and time-outs. */
const BUSY_NAMES = new Set([
  "AbortError",
  "InternalServerError",
  "LimitExceededException",
  "NetworkingError",
  "PriorRequestNotComplete",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "RequestTimeout",
  "RequestTimeoutException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TimeoutError",
  "TooManyRequestsException",
  "TransactionConflictException",
  "TransactionInProgressException",
]);
const CONNECTION_CODES = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"]);

/** The properties of an SDK error that tell its cause. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}

/** The SDK's name of an error; empty if the value is not an error. */
export const codeOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/**
 * Whether the client sent the request only once. Otherwise the error may be the response to a repeated request whose
 * first attempt was carried out, but its response was lost.
 */
export const wasSentOnce = (error: unknown): boolean => (error as SdkError | undefined)?.$metadata?.attempts === 1;

/** Whether a request to AWS failed only temporarily: throttling, a conflict, a time-out or a fault of the service. */
export const isBusy = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata } = error as SdkError;
  return (
    BUSY_NAMES.has(name) ||
    (typeof code === "string" && CONNECTION_CODES.has(code)) ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  );
};
