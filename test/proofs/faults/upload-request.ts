import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import type { ProofResponse } from "../proof-service.ts";
import type { UploadFile } from "./upload-file.ts";

/** Statuses of a job that does not change any more. */
export const ENDED: readonly string[] = ["completed", "failed", "cancelled"];
/** Names of a job's counters, without the total. */
export const ROW_COUNTERS = [
  "succeeded_rows",
  "failed_rows",
  "created_rows",
  "updated_rows",
  "unchanged_rows",
  "restored_rows",
] as const;

/** A job in responses. */
export type Job = Readonly<Record<(typeof ROW_COUNTERS)[number] | "total_rows", number>> & {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
};
/** What a client knows of a job that it could not read. */
export const NO_JOB = {
  id: "",
  status: "unknown",
  ...Object.fromEntries([...ROW_COUNTERS, "total_rows"].map((name) => [name, 0])),
} as Job;

/** The data of a response. */
export const dataOf = ({ body }: ProofResponse): unknown => (body as { readonly data?: unknown }).data;

/** Largest size that a form may announce, in bytes: its file may arrive for six hours. */
const LARGEST_FILE_BYTES = 5 * 1024 ** 3;

/**
 * Requests a job, with its file or for a form.
 * @param call calls until it is answered
 * @returns the response, and the job's id if it was accepted
 */
export const requestUpload = async (
  call: (route: RouteName, request: ApiRequest) => Promise<ProofResponse>,
  { text, mapping }: Pick<UploadFile, "text" | "mapping">,
  { isDryRun, isForm, isLarge }: { readonly isDryRun: boolean; readonly isForm: boolean; readonly isLarge: boolean },
): Promise<{ readonly posted: ProofResponse; readonly id: string | undefined }> => {
  const options = { ...(mapping && { mapping }), dry_run: isDryRun };
  const request = isForm
    ? {
        method: "POST",
        body: {
          upload: { filename: "items.csv", size: isLarge ? LARGEST_FILE_BYTES : Buffer.byteLength(text), ...options },
        },
      }
    : multipart(text, { ...options, dry_run: String(isDryRun) });
  const headers = { ...("headers" in request && request.headers), "idempotency-key": "the upload" };
  const posted = await call("uploadWorkItems", { ...request, headers });
  return { posted, id: posted.status === 202 ? (dataOf(posted) as Job).id : undefined };
};
