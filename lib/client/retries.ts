/** Milliseconds before the second attempt; each later one waits twice as long, with full jitter. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 20_000;
const RETRIED = new Set([429, 503]);

/** How often a request is sent. */
export interface RetryOptions {
  /** Attempts after the first. @default 8 */
  readonly retries?: number;
  /** @default the global fetch */
  readonly fetch?: typeof globalThis.fetch;
  /** How it waits before another attempt or poll. @default with a timer */
  readonly wait?: Wait;
}

/** Waits. @throws the signal's reason as soon as it is aborted */
export type Wait = (milliseconds: number, signal?: AbortSignal | null) => Promise<unknown>;

export const waitByTimer: Wait = (milliseconds, signal) =>
  new Promise<void>((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });

/** The milliseconds in a `Retry-After` header; undefined without one. */
export function retryAfterMs(headers: Headers): number | undefined {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function jittered(attempt: number): number {
  return Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
}

/**
 * A `fetch` that retries dropped connections, and 429 and 503 responses once the time in `Retry-After` has passed.
 * Every call is safe to retry: creates and uploads have an `Idempotency-Key`.
 */
export function fetchWithRetries({ retries = 8, fetch = globalThis.fetch, wait = waitByTimer }: RetryOptions) {
  return async (request: Request): Promise<Response> => {
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries;
      try {
        const response = await fetch(isLast ? request : request.clone());
        if (isLast || !RETRIED.has(response.status)) return response;
        await response.body?.cancel();
        // Calls that failed together are not retried at the same moment.
        await wait((retryAfterMs(response.headers) ?? 0) + jittered(attempt), request.signal);
      } catch (error) {
        // fetch throws a TypeError if there is no response.
        if (isLast || request.signal.aborted || !(error instanceof TypeError)) throw error;
        await wait(jittered(attempt), request.signal);
      }
    }
  };
}
