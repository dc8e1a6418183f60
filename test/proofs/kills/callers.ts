import { setTimeout as sleep } from "node:timers/promises";
import { workItemId } from "../../../lib/identity.ts";
import type { ServiceProcess } from "../service-process.ts";

/** Organization of the local service. */
export const ORGANIZATION = "demo";
const RETRY_AFTER_MS = 100;

/** A response with its body parsed. */
export interface CallerResponse {
  readonly status: number;
  readonly body: { readonly data?: unknown; readonly meta?: unknown; readonly error?: string };
}

/** Calls a service that is killed and started again and again. */
export interface PatientCaller {
  /** Calls until there is a response: connections that break and 503 say that the same call is to be repeated. */
  readonly call: (method: string, path: string, body?: object | FormData, key?: string) => Promise<CallerResponse>;
  /** Number of acknowledged calls that write. */
  readonly acknowledged: () => number;
  /** Number of calls that were repeated. */
  readonly repeated: () => number;
}

/** @param service the running service; undefined while there is none */
export const createPatientCaller = (service: () => ServiceProcess | undefined): PatientCaller => {
  let acknowledged = 0;
  let repeated = 0;

  const attempt = async (
    method: string,
    path: string,
    body: object | FormData | undefined,
    key: string | undefined,
  ): Promise<CallerResponse | undefined> => {
    const running = service();
    if (running === undefined) return undefined;
    const isForm = body instanceof FormData;
    try {
      const response = await fetch(`${running.baseUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${running.apiKey}`,
          ...(body !== undefined && !isForm && { "content-type": "application/json" }),
          ...(key !== undefined && { "idempotency-key": key }),
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      });
      const content = (await response.json()) as CallerResponse["body"];
      return response.status === 503 || response.status === 429
        ? undefined
        : { status: response.status, body: content };
    } catch {
      // The service was killed.
      return undefined;
    }
  };
  return {
    call: async (method, path, body, key) => {
      for (;;) {
        const response = await attempt(method, path, body, key);
        if (response !== undefined) {
          if (method !== "GET") acknowledged += 1;
          return response;
        }
        repeated += 1;
        await sleep(RETRY_AFTER_MS);
      }
    },
    acknowledged: () => acknowledged,
    repeated: () => repeated,
  };
};

/** What a caller knows of one of its items, all of it acknowledged. */
interface OwnItem {
  n: number;
  deleted: boolean;
  readonly events: Set<string>;
}

/**
 * Writes to its own items, one call after another, until told to stop, and reads what it wrote.
 * @param report called with each difference
 * @returns the external_ids of its items that are not deleted
 */
export const runWriter = async (
  { call }: PatientCaller,
  name: string,
  random: () => number,
  isOver: () => boolean,
  report: (difference: object) => void,
): Promise<string[]> => {
  const items = new Map<string, OwnItem>();
  const pathOf = (externalId: string): string => `/v1/work_items/${workItemId(ORGANIZATION, externalId)}`;

  const expect = (what: string, externalId: string, response: CallerResponse, ...statuses: number[]): void => {
    if (!statuses.includes(response.status)) report({ what, externalId, response });
  };
  const write = async (externalId: string, item: OwnItem): Promise<void> => {
    const n = item.n + 1;
    const kind =
      item.n === 0 || item.deleted
        ? "batch"
        : (["batch", "patch", "event", "delete"] as const)[Math.floor(random() * 4)]!;
    const event = `e${n % 5}`;
    if (kind === "batch") {
      const input = { external_id: externalId, custom_attributes: { n }, events: [{ external_id: event }] };
      const response = await call("POST", "/v1/work_items/batch", { work_items: [input] });
      const { results } = response.body.data as { results: { status: string }[] };
      expect("batch", externalId, response, 200);
      if (results[0]?.status === "error") return;
      Object.assign(item, { n, deleted: false });
      item.events.add(event);
    } else if (kind === "patch") {
      const response = await call("PATCH", pathOf(externalId), { work_item: { custom_attributes: { n } } });
      expect("patch", externalId, response, 200);
      item.n = n;
    } else if (kind === "event") {
      const response = await call("POST", `${pathOf(externalId)}/events`, { event: { external_id: event } });
      expect("event", externalId, response, 200, 201);
      item.events.add(event);
    } else {
      expect("delete", externalId, await call("DELETE", pathOf(externalId)), 200);
      item.deleted = true;
    }
  };
  const check = async (externalId: string, { n, deleted, events }: OwnItem): Promise<void> => {
    const response = await call("GET", pathOf(externalId));
    if (deleted) return expect("read", externalId, response, 404);
    expect("read", externalId, response, 200);
    const data = response.body.data as { custom_attributes?: { n?: number }; events?: { external_id: string }[] };
    const found = (data.events ?? []).map((each) => each.external_id).toSorted();
    const isRight = data.custom_attributes?.n === n && found.join() === [...events].toSorted().join();
    if (!isRight) report({ externalId, acknowledged: { n, events: [...events] }, data });
  };

  while (!isOver()) {
    const externalId = `${name}-${Math.floor(random() * 4)}`;
    const item = items.get(externalId) ?? { n: 0, deleted: false, events: new Set() };
    items.set(externalId, item);
    await write(externalId, item);
    if (random() < 0.3) await check(externalId, item);
  }
  for (const [externalId, item] of items) await check(externalId, item);
  return [...items].filter(([, { deleted }]) => !deleted).map(([externalId]) => externalId);
};
