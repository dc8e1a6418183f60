import { setTimeout as sleep } from "node:timers/promises";
import { workItemId } from "../../../lib/identity.ts";
import type { ServiceProcess } from "../service-process.ts";

/** Organization of the local stack. */
export const ORGANIZATION = "demo";
const RETRY_AFTER_MS = 100;

/** A response with its body parsed. */
interface CallerResponse {
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

/** A job of an upload, what it should have counted in the end, and what its items should be. */
export interface UploadedJob {
  readonly id: string;
  readonly counters: Readonly<Record<string, number>>;
  /** The external_ids of the events that each of its items has, by that of the item. None if it was only tried. */
  readonly items: ReadonlyMap<string, readonly string[]>;
}
const ROWS = { once: 300, changed: 40, same: 30, invalid: 20 } as const;
/** How files are uploaded, in turn. */
const KINDS = ["with events", "tried", "plain"] as const;
const MAPPING = {
  fields: { external_id: { column: "Ticket" }, type: { column: "Kind" }, status: { column: "State" } },
  event: { external_id: { column: "Step" }, content: { column: "Kind" } },
  delimiter: ";",
};

/** A file whose rows begin with some external_ids, as a form. */
const formOf = (kind: (typeof KINDS)[number], ids: readonly string[]): FormData => {
  const rows = [
    ...ids.map((id) => [id, "first", "", "e0"]),
    ...ids.slice(0, ROWS.changed).map((id) => [id, "second", "", "e1"]),
    ...ids.slice(0, ROWS.same).map((id) => [id, "second", "", "e1"]),
    ...ids.slice(0, ROWS.invalid).map((id) => [id, "third", "nonsense", "e2"]),
  ];
  const isPlain = kind === "plain";
  const table = isPlain
    ? [["external_id", "type", "status"], ...rows.map((cells) => cells.slice(0, 3))]
    : [["Ticket", "Kind", "State", "Step"], ...rows];
  const form = new FormData();
  const text = table.map((cells) => `${cells.join(isPlain ? "," : MAPPING.delimiter)}\n`).join("");
  form.append("upload[file]", new Blob([text], { type: "text/csv" }), "items.csv");
  if (!isPlain) form.append("upload[mapping]", JSON.stringify(MAPPING));
  form.append("upload[dry_run]", String(kind === "tried"));
  return form;
};

/** Uploads files with an `Idempotency-Key`. @param pause called after each @returns the acknowledged jobs */
export const runUploader = async (
  { call }: PatientCaller,
  count: number,
  pause: (uploaded: number) => Promise<unknown>,
  report: (difference: object) => void,
): Promise<readonly UploadedJob[]> => {
  const jobs: UploadedJob[] = [];
  while (jobs.length < count) {
    const name = `job${jobs.length}`;
    const kind = KINDS[jobs.length % KINDS.length]!;
    const ids = Array.from({ length: ROWS.once }, (_, row) => `${name}-${row}`);
    const response = await call("POST", "/v1/work_items/upload", formOf(kind, ids), name);
    if (response.status !== 202) {
      report({ upload: name, response });
      break;
    }
    const succeeded = ROWS.once + ROWS.changed + ROWS.same;
    const eventsOf = (row: number): string[] => (kind === "plain" ? [] : row < ROWS.changed ? ["e0", "e1"] : ["e0"]);
    jobs.push({
      id: (response.body.data as { id: string }).id,
      counters: {
        total_rows: succeeded + ROWS.invalid,
        succeeded_rows: succeeded,
        failed_rows: ROWS.invalid,
        created_rows: ROWS.once,
        updated_rows: ROWS.changed,
        unchanged_rows: ROWS.same,
        restored_rows: 0,
      },
      items: new Map(kind === "tried" ? [] : ids.map((id, row) => [id, eventsOf(row)])),
    });
    await pause(jobs.length);
  }
  return jobs;
};
