/** Three attempts for each request, so that an API caller waits at most a few seconds for a 503 response. */
export const RETRIES = { maxAttempts: 3, retryMode: "standard" } as const;
/** Time-outs in milliseconds. */
export const TIMEOUTS = { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true } as const;
