import { create as createCancelUpload } from "../../../functions/cancel-work-item-upload.ts";
import { create as createGetFailedRows } from "../../../functions/get-work-item-upload-failed-rows.ts";
import { create as createGetResults } from "../../../functions/get-work-item-upload-results.ts";
import { create as createGetUpload } from "../../../functions/get-work-item-upload.ts";
import { create as createGetWorkItem } from "../../../functions/get-work-item.ts";
import { create as createListUploads } from "../../../functions/list-work-item-uploads.ts";
import { create as createSweepUploads } from "../../../functions/sweep-uploads.ts";
import { create as createUploadWorkItems } from "../../../functions/upload-work-items.ts";
import { workItemId } from "../../../lib/identity.ts";
import type { JobKey } from "../../../lib/uploads/job/upload-record.ts";
import { createTestClock } from "../clock.ts";
import { lambdaContext } from "../lambda-context.ts";
import { type ApiRequest, call, createTestOrganization } from "../organization.ts";
import { createTestRuntime } from "../runtime.ts";
import { multipart } from "./multipart.ts";
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
  const finish = async (id: string) => {
    await split(id);
    await harness.drain();
    return get(id);
  };
  const post = (file: string | Buffer, fields: object = {}, headers: Record<string, string> = {}) => {
    const request = multipart(file, fields as Record<string, unknown>);
    return call(createUploadWorkItems(runtime), { ...request, headers: { ...request.headers, ...headers }, key });
  };
  const linkOf = ({ text }: { text: string }) =>
    (JSON.parse(text) as { data: { url: string | null; expires_at: string | null; rows: number } }).data;
  const failedRows = async (id: string) =>
    linkOf(await call(createGetFailedRows(runtime), { resource: `${UPLOAD}/{id}/failed_rows`, params: { id }, key }));
  const results = async (id: string) =>
    linkOf(await call(createGetResults(runtime), { resource: `${UPLOAD}/{id}/results`, params: { id }, key }));
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
    failedRows,
    results,
    list: async (query: ApiRequest["query"] = {}) => {
      const response = await call(createListUploads(runtime), { resource: UPLOAD, query, key });
      return {
        status: response.status,
        ...(JSON.parse(response.text) as { data: Job[]; meta: { page: { next?: string } } }),
      };
    },
    requestForm: (size: number, headers: Record<string, string> = {}, options: object = {}) =>
      call(createUploadWorkItems(runtime), {
        method: "POST",
        resource: UPLOAD,
        body: { upload: { filename: "items.csv", size, ...options } },
        headers,
        key,
      }),
    post,
    sweep: () => createSweepUploads(runtime)({}, lambdaContext(120_000)),
    /** Uploads a file and runs its job until it has ended. */
    run: async (file: string) => {
      const { id } = await harness.upload(organization, file);
      return finish(id);
    },
    /** Runs the job of an upload until it has ended. */
    finish,
    /** Uploads a file with a mapping through the endpoint, and runs its job until it has ended. */
    runMapped: async (file: string, mapping: object, fields: object = {}) => {
      const response = await post(file, { mapping, ...fields });
      if (response.status !== 202) throw new Error(response.text);
      return finish(dataOf(response).id);
    },
    /** The lines of the report of failed rows. */
    report: async (id: string) => (await (await fetch((await failedRows(id)).url!)).text()).split("\n"),
    getItem: async (externalId: string) => {
      const id = workItemId(organization.id, externalId);
      return dataOf(await call(createGetWorkItem(runtime), { resource: "/v1/work_items/{id}", params: { id }, key }));
    },
  };
};

/** One organization's uploads. */
export type UploadService = Awaited<ReturnType<typeof createUploadService>>;
