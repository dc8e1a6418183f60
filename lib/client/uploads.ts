import type { Mapping, UploadJob } from "./schemas.ts";
import type { FailedRow } from "./csv.ts";

/** A file: bytes, text, or a stream, which is read into memory. Large files are best given as `openAsBlob(path)`. */
export type UploadFile = Blob | Uint8Array<ArrayBuffer> | string | AsyncIterable<Uint8Array<ArrayBuffer>>;

/** How a file is uploaded. */
export interface UploadOptions {
  /** @default the name of a `File`, else `upload.csv` */
  readonly filename?: string;
  /** How the columns become work items, if they have other names than the fields. */
  readonly mapping?: Mapping;
  /** Whether no item is written. @default false */
  readonly dryRun?: boolean;
  /** @default a random key, so that a retry doesn't start a second job */
  readonly idempotencyKey?: string;
  /** Posts the form of a large file. @default fetch; in a browser, XMLHttpRequest can report progress */
  readonly postForm?: (url: string, form: FormData) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** How an upload is undone. */
export interface UndoOptions {
  /** Whether no item is written. Each dry run is a job of its own. @default false */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** How the end of a job is awaited. */
export interface WaitOptions {
  /** Called with the job after each poll. */
  readonly onProgress?: (job: UploadJob) => void;
  readonly signal?: AbortSignal;
}

/** An upload that was accepted. */
export interface Upload {
  readonly id: string;
  /** The job when it was accepted. */
  readonly job: UploadJob;
  /** Polls as often as the service asks until the job has ended. @returns the job */
  wait: (options?: WaitOptions) => Promise<UploadJob>;
  /** The rows that could not be applied; none while the job is open. */
  failedRows: (signal?: AbortSignal) => AsyncGenerator<FailedRow, void, undefined>;
  cancel: (signal?: AbortSignal) => Promise<UploadJob>;
}

/** Files up to this size are sent in one request. With a mapping of 64 KiB and the form it must stay below 4 MiB. */
const MULTIPART_MAX_BYTES = 4 * 1024 * 1024 - 128 * 1024;

/** Whether a file is sent to the service itself and not to the store by a presigned form. */
export function isSmall(file: Blob): boolean {
  return file.size <= MULTIPART_MAX_BYTES;
}

function isStream(file: UploadFile): file is AsyncIterable<Uint8Array<ArrayBuffer>> {
  return typeof file === "object" && Symbol.asyncIterator in file;
}

/** The file with its size known. */
export async function toBlob(file: UploadFile): Promise<Blob> {
  if (file instanceof Blob) return file;
  if (!isStream(file)) return new Blob([file], { type: "text/csv" });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of file) chunks.push(chunk);
  return new Blob(chunks, { type: "text/csv" });
}

/** The name under which a file is uploaded. */
export function nameOf(file: Blob, { filename }: UploadOptions): string {
  return filename ?? (file instanceof File && file.name !== "" ? file.name : "upload.csv");
}

/** The form of a small file. */
export function formOf(file: Blob, options: UploadOptions): FormData {
  const form = new FormData();
  if (options.mapping !== undefined) form.set("upload[mapping]", JSON.stringify(options.mapping));
  if (options.dryRun !== undefined) form.set("upload[dry_run]", String(options.dryRun));
  form.set("upload[file]", file, nameOf(file, options));
  return form;
}

/** The presigned form of a large file. The file must be its last field. */
export function presignedFormOf(file: Blob, fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", file);
  return form;
}

/** Whether a job has ended. */
export function hasEnded({ status }: Pick<UploadJob, "status">): boolean {
  return status !== "pending" && status !== "processing";
}
