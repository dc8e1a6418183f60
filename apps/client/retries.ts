import { retryAfterMs } from "../../lib/retry-after.ts";
import { OutageError, OutcomeUnknownError } from "./api-error.ts";
import { adviceIfUnrepeatable } from "./repeatable.ts";

/** Longest wait before the second attempt. It doubles for each later one, with full jitter. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 20_000;
/** A timer with a longer time would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;
const BUSY = 503;
const RETRIED = new Set([429, BUSY]);

/** How requests are retried. */
export interface RetryOptions {
  /** How long a request is repeated, in seconds. @default 60 */
  readonly retrySeconds?: number;
  /** @default the global fetch */
  readonly fetch?: typeof globalThis.fetch;
  /** Waits before another attempt or poll. @default with a timer */
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
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      },
      Math.min(milliseconds, TIMER_MAX_MS),
    );
    signal?.addEventListener("abort", abort, { once: true });
  });

function jittered(attempt: number): number {
  return Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
}

/** Node's codes for a failed connection, when no request was sent. Browsers don't have them. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);
function wasSent({ cause }: TypeError): boolean {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return !NOT_SENT.has(String(code));
}

/** A response whose body has arrived completely. @throws TypeError if the connection ends before */
async function arrived(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}

/**
 * A `fetch` that retries dropped connections, and 429 and 503 responses after the time in `Retry-After`. Requests that
 * can't be repeated safely are sent again only if the previous one certainly had no effect.
 */
export function fetchWithRetries({ retrySeconds = 60, fetch = globalThis.fetch, wait = waitByTimer }: RetryOptions) {
  /** @throws OutcomeUnknownError */
  const assertRepeatable = async (request: Request, cause: unknown): Promise<void> => {
    const advice = await adviceIfUnrepeatable(request);
    if (advice !== undefined) throw new OutcomeUnknownError(request, advice, cause);
  };
  /** @throws OutageError, OutcomeUnknownError */
  return async (request: Request): Promise<Response> => {
    let left = retrySeconds * 1000;
    let mayBeDone = false;
    const waitAtMost = async (milliseconds: number): Promise<void> => {
      const time = Math.min(milliseconds, left);
      left -= time;
      await wait(time, request.signal);
    };
    for (let attempt = 0; ; attempt++) {
      const began = performance.now();
      try {
        const response = await arrived(await fetch(request.clone()));
        if (!RETRIED.has(response.status)) return response;
        // A busy service may have carried out the request without knowing: the response of its own store was lost.
        if (response.status === BUSY) await assertRepeatable(request, `the response has the status ${BUSY}`);
        left -= performance.now() - began;
        const asked = retryAfterMs(response.headers.get("retry-after"), Date.now()) ?? 0;
        if (left <= 0 || asked > left) return response;
        mayBeDone ||= response.status === BUSY;
        // The jitter keeps calls that failed together from being retried together.
        await waitAtMost(asked + jittered(attempt));
      } catch (error) {
        // fetch throws a TypeError if there is no response.
        if (request.signal.aborted || !(error instanceof TypeError)) throw error;
        if (wasSent(error)) await assertRepeatable(request, error);
        left -= performance.now() - began;
        mayBeDone ||= wasSent(error);
        const idempotencyKey = request.headers.get("idempotency-key") ?? undefined;
        if (left <= 0) throw new OutageError(request, { attempts: attempt + 1, idempotencyKey, mayBeDone }, error);
        await waitAtMost(jittered(attempt));
      }
    }
  };
}
