import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEnv } from "node:util";
import { Presets, SingleBar } from "cli-progress";
import { type Incident, readIncidents, toUploadCsv } from "./incident-log.ts";

const ITEMS_PER_BATCH = 100;
const EVENTS_PER_BATCH = 2000;
const POLL_MS = 200;

class DemoError extends Error {}

const serviceAddress = (): { baseUrl: string; apiKey: string } => {
  const file = join(process.env["DATA_DIR"] ?? ".local", "env");
  let variables: NodeJS.Dict<string> = {};
  try {
    variables = parseEnv(readFileSync(file, "utf8"));
  } catch {
    // Without a local service, BASE_URL and API_KEY name another one.
  }
  const baseUrl = process.env["BASE_URL"] ?? variables["BASE_URL"];
  const apiKey = process.env["API_KEY"] ?? variables["API_KEY"];
  if (baseUrl === undefined || apiKey === undefined) {
    throw new DemoError(`no service: run npm start first (it writes ${file}), or set BASE_URL and API_KEY`);
  }
  return { baseUrl, apiKey };
};

const createClient = ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) => {
  /** Sends a request. Repeats it after a 429 or 503 response, once the time in `Retry-After` has passed. */
  const call = async (method: string, path: string, body?: FormData | string): Promise<Record<string, unknown>> => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(typeof body === "string" && { "content-type": "application/json" }),
    };
    const response = await fetch(`${baseUrl}${path}`, { method, headers, ...(body !== undefined && { body }) }).catch(
      (error: unknown) => {
        throw new DemoError(`no service answers at ${baseUrl}: ${String(error)}`);
      },
    );
    const waitSeconds = response.headers.get("retry-after");
    if ((response.status === 429 || response.status === 503) && waitSeconds !== null) {
      await response.body?.cancel();
      await sleep(Number(waitSeconds) * 1000);
      return call(method, path, body);
    }
    const parsed = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new DemoError(`${method} ${path}: ${response.status} ${String(parsed["error"])}`);
    return parsed["data"] as Record<string, unknown>;
  };
  return { call };
};

/** Batches of at most 100 items and 2,000 events. */
const batchesOf = (incidents: readonly Incident[]): Incident[][] => {
  const batches: Incident[][] = [];
  let events = Infinity;
  for (const incident of incidents) {
    events += incident.events.length;
    if (events > EVENTS_PER_BATCH || (batches.at(-1)?.length ?? 0) === ITEMS_PER_BATCH) {
      batches.push([]);
      events = incident.events.length;
    }
    batches.at(-1)?.push(incident);
  }
  return batches;
};

const bar = (label: string): SingleBar =>
  new SingleBar(
    { format: `${label} [{bar}] {value}/{total} {unit}`, hideCursor: true, noTTYOutput: true, notTTYSchedule: 1000 },
    Presets.legacy,
  );

type Client = ReturnType<typeof createClient>;

const sendBatches = async ({ call }: Client, incidents: readonly Incident[]) => {
  const summary: Record<string, number> = { created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
  const progress = bar("batches");
  progress.start(incidents.length, 0, { unit: "items" });
  const started = performance.now();
  for (const batch of batchesOf(incidents)) {
    const data = await call("POST", "/v1/work_items/batch", JSON.stringify({ work_items: batch }));
    const counts = data["summary"] as Record<string, number>;
    for (const outcome of Object.keys(summary)) summary[outcome] = (summary[outcome] ?? 0) + (counts[outcome] ?? 0);
    progress.increment(batch.length);
  }
  progress.stop();
  return { summary, seconds: (performance.now() - started) / 1000 };
};

const uploadCsv = async ({ call }: Client, incidents: readonly Incident[]) => {
  const form = new FormData();
  form.set("upload[file]", new File([toUploadCsv(incidents)], "incidents.csv", { type: "text/csv" }));
  const progress = bar("upload ");
  progress.start(incidents.length, 0, { unit: "rows" });
  const started = performance.now();
  let job = await call("POST", "/v1/work_items/upload", form);
  while (job["status"] === "pending" || job["status"] === "processing") {
    await sleep(POLL_MS);
    job = await call("GET", `/v1/work_items/upload/${String(job["id"])}`);
    progress.update(Number(job["succeeded_rows"]) + Number(job["failed_rows"]));
  }
  progress.stop();
  return { job, seconds: (performance.now() - started) / 1000 };
};

const perSecond = (count: number, seconds: number): string => `${Math.round(count / seconds)} a second`;

const main = async (file: string | undefined): Promise<void> => {
  if (file === undefined) throw new DemoError("usage: npm run demo -- incident_event_log.csv");
  let csv: string;
  try {
    csv = readFileSync(file, "utf8");
  } catch (error) {
    throw new DemoError(`cannot read ${file}: ${String(error)}`);
  }
  const client = createClient(serviceAddress());
  const incidents = readIncidents(csv);
  const events = incidents.reduce((sum, incident) => sum + incident.events.length, 0);
  console.log(`${incidents.length} incidents with ${events} events`);

  const batches = await sendBatches(client, incidents);
  const upload = await uploadCsv(client, incidents);

  const counts = Object.entries(batches.summary).map(([outcome, count]) => `${count} ${outcome}`);
  console.log(`batches  ${counts.join(", ")}; ${perSecond(incidents.length, batches.seconds)}`);
  const { status, total_rows: total, succeeded_rows: succeeded, failed_rows: failed, error } = upload.job;
  console.log(
    `upload   ${String(status)}: ${String(succeeded)} succeeded, ${String(failed)} failed of ${String(total)} rows; ${perSecond(Number(total), upload.seconds)}${typeof error === "string" ? `; ${error}` : ""}`,
  );
  if ((batches.summary["error"] ?? 0) > 0 || status !== "completed") process.exitCode = 1;
};

try {
  await main(process.argv[2]);
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
