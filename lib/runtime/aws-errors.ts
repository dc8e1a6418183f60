/** What AWS calls a caller that comes too fast, two that meet at one record, a service that is overloaded or silent. */
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

/** The parts of an SDK's error that say what happened. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}

/** The name by which the SDK knows an error; empty for what is none. */
export const codeOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/**
 * Whether the client sent the request once: what AWS answered is then about that request, and not about one that was
 * repeated because the answer to the first was lost.
 */
export const wasSentOnce = (error: unknown): boolean => (error as SdkError | undefined)?.$metadata?.attempts === 1;

/** Whether a request to AWS failed in a way that passes: throttling, a conflict, a time-out, a fault of the service. */
export const isBusy = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata } = error as SdkError;
  return (
    BUSY_NAMES.has(name) ||
    (typeof code === "string" && CONNECTION_CODES.has(code)) ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  );
};
