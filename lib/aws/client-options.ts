/** Three attempts for each request, so that API callers wait at most a few seconds for a 503. */
export const RETRIES = { maxAttempts: 3, retryMode: "standard" } as const;
/** Timeouts in milliseconds. */
export const TIMEOUTS = { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true } as const;
