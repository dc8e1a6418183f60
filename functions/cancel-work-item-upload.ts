import { setTimeout as sleep } from "node:timers/promises";
import { NotFoundError, StateConflictError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { openJobHeaders } from "../lib/http/open-job.ts";
import { createDynamoDbClient } from "../lib/runtime/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/runtime/runtime.ts";
import { createS3Client } from "../lib/runtime/s3-client.ts";
import { ListUnfinishedError } from "../lib/uploads/files/write-list.ts";
import { type JobKey, toSingleUploadJobResponse, type UploadSnapshot } from "../lib/uploads/job/upload-record.ts";
import { createUploads } from "../lib/uploads/uploads.ts";
import { routes } from "./routes.ts";

const route = routes.cancelWorkItemUpload;

/** Running parts reach their next checkpoint within about a second; the response waits for them up to this long. */
const WAIT_MS = 5_000;
const POLL_MS = 200;

/** `DELETE /v1/work_items/upload/{id}` */
export const create = (runtime: Runtime<typeof route.permissions>): ApiHandler => {
  const { clock } = runtime;
  const { store, finish } = createUploads(runtime);

  const find = async (key: JobKey): Promise<UploadSnapshot> => {
    const snapshot = await store.read(key);
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const { status, stopping } = snapshot.job;
    if (status === "completed" || status === "failed" || stopping === "failed") {
      throw new StateConflictError(`the upload has ${status === "completed" ? "completed" : "failed"} already`);
    }
    return snapshot;
  };

  return endpoint(route, runtime, async ({ organization, id }) => {
    const { job } = await find({ organization: organization.id, id });
    await store.requestStop(job, "cancelled");
    const waitUntil = clock() + WAIT_MS;
    try {
      while (!(await finish(job, { until: waitUntil, abridge: false })) && clock() < waitUntil) await sleep(POLL_MS);
    } catch (error) {
      // The job stops nevertheless: the sweep sends a message to a worker, which writes the report.
      if (!(error instanceof ListUnfinishedError)) throw error;
    }
    const data = toSingleUploadJobResponse(await find(job));
    return { body: { data }, headers: openJobHeaders(data, clock()) };
  });
};

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient, s3: createS3Client }, create);
