/** Three attempts a request: a caller of an API waits at most a few seconds before it hears 503. */
export const RETRIES = { maxAttempts: 3, retryMode: "standard" } as const;
/** Milliseconds. */
export const TIMEOUTS = { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true } as const;
