import { create as createSweepUploads } from "../../../functions/sweep-uploads.ts";
import { workItemId } from "../../../lib/identity.ts";
import type { JobKey } from "../../../lib/uploads/job/upload-record.ts";
import { createCaller } from "../service.ts";
import { createTestClock } from "../clock.ts";
import { lambdaContext } from "../lambda-context.ts";
import { type ApiRequest, type ApiResponse, createTestOrganization } from "../organization.ts";
import { createTestRuntime, type TestRuntime } from "../runtime.ts";
import { multipart } from "./multipart.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "./upload-harness.ts";

/** Milliseconds of a minute. */
export const MINUTE_MS = 60_000;

/** What is in a response's body. */
export const dataOf = <T>({ body }: ApiResponse<{ readonly data: T }>): T => body.data;

/** A file of valid rows of about 110 bytes. */
export const manyRows = (rows: number) =>
  `external_id,custom_attributes.text\n${Array.from({ length: rows }, (_, row) => `L-${row},${"x".repeat(100)}`).join("\n")}\n`;

/**
 * One organization's uploads: its requests, the workers, the sweep and a clock that the test controls.
 * @param shared what other tests use too. @default new tables and queues
 */
export const createUploadService = async (shared?: TestRuntime) => {
  const clock = createTestClock();
  const runtime = shared === undefined ? await createTestRuntime({ clock }) : { ...shared, clock };
  const { organization, key } = await createTestOrganization(runtime);
  const harness = createUploadHarness(runtime);

  const jobKey = (id: string): JobKey => ({ organization: organization.id, id });
  const call = createCaller(runtime, key);
  const get = async (id: string) => dataOf(await call("getWorkItemUpload", { params: { id } }));
  const split = (id: string) => harness.split(sqsEvent(splitMessage(jobKey(id))), lambdaContext(120_000));
  const finish = async (id: string) => {
    await split(id);
    await harness.drain();
    return get(id);
  };
  const post = (file: string | Buffer, fields: object = {}, headers: Record<string, string> = {}) => {
    const request = multipart(file, fields as Record<string, unknown>);
    return call("uploadWorkItems", { ...request, headers: { ...request.headers, ...headers } });
  };
  const sweep = () => createSweepUploads(runtime)({}, lambdaContext(120_000));
  const failedRows = async (id: string) => dataOf(await call("getWorkItemUploadFailedRows", { params: { id } }));
  const results = async (id: string) => dataOf(await call("getWorkItemUploadResults", { params: { id } }));
  return {
    clock,
    runtime,
    organization,
    key,
    harness,
    jobKey,
    call,
    get,
    split,
    cancel: (id: string) => call("cancelWorkItemUpload", { params: { id } }),
    failedRows,
    results,
    list: async (query: ApiRequest["query"] = {}) => {
      const { status, body } = await call("listWorkItemUploads", { query });
      return { status, ...body };
    },
    requestForm: (size: number, headers: Record<string, string> = {}, options: object = {}) =>
      call("uploadWorkItems", { body: { upload: { filename: "items.csv", size, ...options } }, headers }),
    post,
    sweep,
    /** Uploads a file and splits it. @returns the id of its job */
    begin: async (file: string) => {
      const { id } = await harness.upload(organization, file);
      await split(id);
      return id;
    },
    /** Lets time pass, and then the sweep and the workers run. */
    later: async (milliseconds: number) => {
      clock.advance(milliseconds);
      await sweep();
      await harness.drain();
    },
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
    /** The lines of the list of results, below its header. */
    resultLines: async (id: string) =>
      (await (await fetch((await results(id)).url!)).text()).trimEnd().split("\n").slice(1),
    /** The lines of the report of failed rows. */
    report: async (id: string) => (await (await fetch((await failedRows(id)).url!)).text()).split("\n"),
    getItem: async (externalId: string) => {
      const id = workItemId(organization.id, externalId);
      return dataOf(await call("getWorkItem", { params: { id } }));
    },
  };
};

/** One organization's uploads. */
export type UploadService = Awaited<ReturnType<typeof createUploadService>>;
