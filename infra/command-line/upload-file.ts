import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, type Json, type ServiceClient } from "./service-client.ts";

const UPLOADS = "/v1/work_items/upload";
/** A multipart request may have 4 MiB; the other fields need some of it. */
const REQUEST_MAX_BYTES = 4 * 1024 * 1024 - 128 * 1024;
const POLL_MS = { first: 200, most: 2000 };

/** An upload job, as far as commands read it. */
export interface Job extends Json {
  readonly id: string;
  readonly status: string;
  readonly total_rows: number;
  readonly succeeded_rows: number;
  readonly failed_rows: number;
  readonly error?: string;
}

/** What is uploaded. */
export interface UploadOptions {
  readonly file: Blob;
  readonly name: string;
  readonly mapping: Json | undefined;
  readonly dryRun: boolean;
}

const formOf = (fields: Readonly<Record<string, string>>, key: string, { file, name }: UploadOptions): FormData => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set(key, file, name);
  return form;
};

/** Uploads a file: in the request if it fits, else to the bucket. @returns its job */
export const uploadFile = async (client: ServiceClient, options: UploadOptions): Promise<Job> => {
  const { file, name, mapping, dryRun } = options;
  const headers = { "idempotency-key": randomUUID() };
  if (file.size <= REQUEST_MAX_BYTES) {
    const fields = {
      ...(mapping && { "upload[mapping]": JSON.stringify(mapping) }),
      "upload[dry_run]": String(dryRun),
    };
    const { data } = await client.request("POST", UPLOADS, { body: formOf(fields, "upload[file]", options), headers });
    return data as unknown as Job;
  }
  const upload = { filename: name, size: file.size, dry_run: dryRun, ...(mapping && { mapping }) };
  const { data, meta } = await client.request("POST", UPLOADS, { body: { upload }, headers });
  const { url, fields } = meta["upload"] as { readonly url: string; readonly fields: Readonly<Record<string, string>> };
  const response = await fetch(url, { method: "POST", body: formOf(fields, "file", options) });
  if (!response.ok) throw new CommandError(`the bucket refused the file: ${await response.text()}`);
  return data as unknown as Job;
};

/** Whether a job has not ended. */
export const isOpen = ({ status }: Job): boolean => status === "pending" || status === "processing";

/** The job now. */
export const readJob = async (client: ServiceClient, id: string): Promise<Job> =>
  (await client.request("GET", `${UPLOADS}/${encodeURIComponent(id)}`)).data as unknown as Job;

/** Waits until a job has ended. @param onProgress called with the job each time that it is read */
export const waitForJob = async (client: ServiceClient, first: Job, onProgress: (job: Job) => void): Promise<Job> => {
  let job = first;
  for (let pause = POLL_MS.first; isOpen(job); pause = Math.min(POLL_MS.most, pause * 1.3)) {
    onProgress(job);
    await sleep(pause);
    job = await readJob(client, job.id);
  }
  onProgress(job);
  return job;
};

/** The CSV text of one of a job's lists; undefined if it has no rows. */
export const readList = async (
  client: ServiceClient,
  { id }: Pick<Job, "id">,
  list: "failed_rows" | "results",
): Promise<ReadableStream<Uint8Array> | undefined> => {
  const { data } = await client.request("GET", `${UPLOADS}/${encodeURIComponent(id)}/${list}`);
  const url = data["url"];
  if (typeof url !== "string") return undefined;
  const response = await fetch(url);
  if (!response.ok || response.body === null)
    throw new CommandError(`${list} cannot be downloaded: ${response.status}`);
  return response.body;
};
