import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../../support/percentile.ts";

/** A request, and the statuses that are right for it beside those below 300. */
export interface LoadRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly allowed?: readonly number[];
}

/** What a phase of load has shown. */
export interface LoadPhase {
  readonly requests: number;
  readonly seconds: number;
  /** Responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses that are wrong: of 5xx, without a body, or refused although nothing is wrong with the request. */
  readonly wrong: readonly object[];
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * Sends requests over a number of connections, each the next as soon as it has the response to the one before.
 * @param mayRefuse whether 429 is right
 */
export const runLoad = async (options: {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly seconds: number;
  readonly next: () => LoadRequest;
  readonly mayRefuse: boolean;
}): Promise<LoadPhase> => {
  const { baseUrl, apiKey, connections, seconds, next, mayRefuse } = options;
  const statuses: Record<string, number> = {};
  const wrong: object[] = [];
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;

  const send = async ({ method, path, body, allowed = [] }: LoadRequest): Promise<void> => {
    const sent = performance.now();
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    latencies.push(performance.now() - sent);
    const { status } = response;
    statuses[status] = (statuses[status] ?? 0) + 1;
    const isRefused = status === 429 && mayRefuse && Number(response.headers.get("retry-after")) >= 1;
    if (status >= 300 && !isRefused && !allowed.includes(status)) wrong.push({ method, path, status, text });
  };
  const runConnection = async (): Promise<void> => {
    while (performance.now() < end) {
      const request = next();
      await send(request).catch((error: unknown) => {
        wrong.push({ request, error: String(error) });
        return sleep(100);
      });
    }
  };
  await Promise.all(Array.from({ length: connections }, runConnection));
  const [p50, p99] = [0.5, 0.99].map((share) => Math.round(percentile(latencies, share))) as [number, number];
  return { requests: latencies.length, seconds: (performance.now() - start) / 1000, statuses, wrong, p50, p99 };
};
