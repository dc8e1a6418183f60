import { retryAfterMs } from "@work-items/lib/retry-after.ts";

/** A response with its body, parsed if it is JSON. */
export interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if the body isn't JSON. */
  readonly body: Json | undefined;
}
export interface Json {
  readonly [key: string]: Json;
  readonly [index: number]: Json;
}

/** A text of a response; empty if there is none. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

interface Request {
  readonly method?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: FormData | string;
  /** Instead of the run's key; null sends none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Send = (path: string, request?: Request) => Promise<Response>;

/** Timeout of a request: the gateway's own is 29 s. */
const TIMEOUT_MS = 60_000;

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Sends requests with a key, again after a 429. @param sleep waits */
export function createSend(url: string, ownKey: string, sleep: (milliseconds: number) => Promise<unknown>): Send {
  const send: Send = async (path, request = {}) => {
    const { method = "GET", json, key = ownKey } = request;
    const body = json === undefined ? request.body : JSON.stringify(json);
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(typeof body === "string" && { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (response.status === 429) {
      await sleep(retryAfterMs(response.headers.get("retry-after"), Date.now()) ?? 1000);
      return send(path, request);
    }
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  };
  return send;
}
