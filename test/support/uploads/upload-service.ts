import { create as createCancelUpload } from "../../../functions/cancel-work-item-upload.ts";
import { create as createGetFailedRows } from "../../../functions/get-work-item-upload-failed-rows.ts";
import { create as createGetUpload } from "../../../functions/get-work-item-upload.ts";
import { create as createListUploads } from "../../../functions/list-work-item-uploads.ts";
import { create as createSweepUploads } from "../../../functions/sweep-uploads.ts";
import { create as createUploadWorkItems } from "../../../functions/upload-work-items.ts";
import type { JobKey } from "../../../lib/uploads/job/upload-record.ts";
import { createTestClock } from "../clock.ts";
import { type ApiRequest, call, createTestOrganization, lambdaContext } from "../organization.ts";
import { createTestRuntime } from "../runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "./upload-harness.ts";

/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000;
const UPLOAD = "/v1/work_items/upload";

/** A job in responses. */
export type Job = { id: string; status: string; error?: string; [name: string]: unknown };
/** The job in a response. */
export const dataOf = ({ text }: { text: string }) => (JSON.parse(text) as { data: Job }).data;

/** A file of valid rows of about 110 bytes. */
export const manyRows = (rows: number) =>
  `external_id,custom_attributes.text\n${Array.from({ length: rows }, (_, row) => `L-${row},${"x".repeat(100)}`).join("\n")}\n`;

/** One organization's uploads: its requests, the workers, the sweep and a clock that the test controls. */
export const createUploadService = async () => {
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock });
  const { organization, key } = await createTestOrganization(runtime);
  const harness = createUploadHarness(runtime);

  const jobKey = (id: string): JobKey => ({ organization: organization.id, id });
  const get = async (id: string) =>
    dataOf(await call(createGetUpload(runtime), { resource: `${UPLOAD}/{id}`, params: { id }, key }));
  const split = (id: string) => harness.split(sqsEvent(splitMessage(jobKey(id))), lambdaContext(120_000));
  return {
    clock,
    runtime,
    organization,
    key,
    harness,
    jobKey,
    get,
    split,
    cancel: (id: string) =>
      call(createCancelUpload(runtime), { method: "DELETE", resource: `${UPLOAD}/{id}`, params: { id }, key }),
    failedRows: async (id: string) =>
      dataOf(
        await call(createGetFailedRows(runtime), { resource: `${UPLOAD}/{id}/failed_rows`, params: { id }, key }),
      ) as unknown as {
        url: string | null;
        expires_at: string | null;
        rows: number;
      },
    list: async (query: ApiRequest["query"] = {}) => {
      const response = await call(createListUploads(runtime), { resource: UPLOAD, query, key });
      return {
        status: response.status,
        ...(JSON.parse(response.text) as { data: Job[]; meta: { page: { next?: string } } }),
      };
    },
    requestForm: (size: number, headers: Record<string, string> = {}) =>
      call(createUploadWorkItems(runtime), {
        method: "POST",
        resource: UPLOAD,
        body: { upload: { filename: "items.csv", size } },
        headers,
        key,
      }),
    sweep: () => createSweepUploads(runtime)({}, lambdaContext(120_000)),
    /** Uploads a file and runs its job until it has ended. */
    run: async (file: string) => {
      const { id } = await harness.upload(organization, file);
      await split(id);
      await harness.drain();
      return get(id);
    },
  };
};

/** One organization's uploads. */
export type UploadService = Awaited<ReturnType<typeof createUploadService>>;
