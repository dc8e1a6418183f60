import { setTimeout as sleep } from "node:timers/promises";
import type { PatientCaller } from "../kills/callers.ts";

type Report = (difference: object) => void;
const PATH = "/v1/work_items/upload";
const RETRY_AFTER_MS = 100;

/** A job as a caller reads it. */
export type Job = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };
interface Form {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A file whose rows each have an item of their own. */
export const fileOf = (ids: readonly string[]): string =>
  ["external_id,type", ...ids.map((id) => `${id},r`), ""].join("\n");

/** Posts a file by a form. @returns false if the connection broke: the service was killed */
async function post({ url, fields }: Form, file: string): Promise<boolean> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append("file", new Blob([file], { type: "text/csv" }), "items.csv");
  try {
    const response = await fetch(url, { method: "POST", body });
    await response.arrayBuffer();
    // A 200 would be that of a front end.
    return response.status === 204;
  } catch {
    return false;
  }
}

/**
 * Requests a form and posts its file. A request that is repeated with its `Idempotency-Key` gives the form's present
 * address, which a restart changes.
 * @param options members of `upload` besides the file's name and size
 * @returns the job's id
 */
export async function uploadByForm(
  { call }: PatientCaller,
  name: string,
  file: string,
  report: Report,
  options: object = {},
): Promise<string | undefined> {
  const upload = { filename: `${name}.csv`, size: Buffer.byteLength(file), ...options };
  for (;;) {
    const { status, body } = await call("POST", PATH, { upload }, name);
    if (status !== 202) {
      report({ form: name, status, body });
      return undefined;
    }
    const { id } = body.data as Job;
    if (await post((body.meta as { readonly upload: Form }).upload, file)) return id;
    await sleep(RETRY_AFTER_MS);
  }
}

/** Uploads a file and cancels its job after a while. @returns the job's id */
export async function uploadAndCancel(
  { call }: PatientCaller,
  name: string,
  ids: readonly string[],
  waitMs: number,
  report: Report,
) {
  const form = new FormData();
  form.append("upload[file]", new Blob([fileOf(ids)], { type: "text/csv" }), "items.csv");
  const uploaded = await call("POST", PATH, form, name);
  if (uploaded.status !== 202) {
    report({ upload: name, uploaded });
    return undefined;
  }
  const { id } = uploaded.body.data as Job;
  await sleep(waitMs);
  const cancelled = await call("DELETE", `${PATH}/${id}`);
  // The job may have completed before.
  if (cancelled.status !== 200 && cancelled.status !== 409) report({ cancel: name, cancelled });
  return id;
}

/** Compares the list of failed rows, or of results, with the number of its rows. */
export async function checkRows(
  { call }: PatientCaller,
  id: string,
  list: "failed_rows" | "results",
  rows: number,
  report: Report,
): Promise<void> {
  const { status, body } = await call("GET", `${PATH}/${id}/${list}`);
  const { url = "", rows: told } = (body.data ?? {}) as { readonly url?: string; readonly rows?: number };
  const content = status === 200 ? await (await fetch(url)).text() : "";
  const lines = content.trimEnd().split("\n").length - 1;
  if (told !== rows || lines !== rows) report({ job: id, list, status, told, lines, rows });
}

/** Waits until a job has ended. @param until milliseconds since the epoch @returns the job as it is then */
export async function endOfJob({ call }: PatientCaller, id: string, until: number): Promise<Job> {
  for (;;) {
    const { body } = await call("GET", `${PATH}/${id}`);
    const job = body.data as Job;
    if (["completed", "failed", "cancelled"].includes(job.status) || Date.now() >= until) return job;
    await sleep(RETRY_AFTER_MS);
  }
}

/** Waits until a job has ended, and compares its counters. @returns whether it is as it should be */
export async function checkJob(
  caller: PatientCaller,
  { id, counters }: { readonly id: string; readonly counters: Readonly<Record<string, number>> },
  until: number,
  report: Report,
): Promise<boolean> {
  const job = await endOfJob(caller, id, until);
  const isExact = Object.entries(counters).every(([name, count]) => job[name] === count);
  const isRight = job.status === "completed" && isExact;
  if (!isRight) report({ job, counters });
  return isRight;
}
