import { setTimeout as sleep } from "node:timers/promises";
import { NotFoundError, StateConflictError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { openJobHeaders } from "../lib/uploads/job/open-job-headers.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { leaveToWorker } from "../lib/uploads/files/write-list.ts";
import {
  isEnded,
  type JobKey,
  toSingleUploadJobResponse,
  type UploadSnapshot,
} from "../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../lib/uploads/job/upload-store.ts";
import { createFinishOrSend, createFinishUpload } from "../lib/uploads/workers/finish-upload.ts";
import { createPartSender, startOfPart } from "../lib/uploads/workers/upload-messages.ts";
import { routes } from "./routes.ts";

const route = routes.cancelWorkItemUpload;

/**
 * Running parts reach their next checkpoint within about a second, and a worker then writes the lists of rows; the
 * response waits for both up to this long; the job ends in any case.
 */
const WAIT_MS = 5_000;
const POLL_MS = 200;

/** `DELETE /v1/work_items/upload/{id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const { clock } = runtime;
  const store = new UploadStore(runtime);
  const finishOrSend = createFinishOrSend(createFinishUpload(store, leaveToWorker, runtime), createPartSender(runtime));

  const find = async (key: JobKey): Promise<UploadSnapshot> => {
    const snapshot = await store.read(key);
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const { status, stopping } = snapshot.job;
    if (status === "completed" || status === "failed" || stopping === "failed") {
      throw new StateConflictError(`the upload has ${status === "completed" ? "completed" : "failed"} already`);
    }
    return snapshot;
  };

  const hasEnded = async (key: JobKey): Promise<boolean> => {
    const job = await store.readJob(key);
    return job === undefined || isEnded(job);
  };

  return endpoint(route, runtime, async ({ organization, id }) => {
    const { job } = await find({ organization: organization.id, id });
    await store.requestStop(job, "cancelled");
    const waitUntil = clock() + WAIT_MS;
    const end = () => finishOrSend(job, startOfPart(0), waitUntil);
    for (let state = await end(); state !== "ended" && clock() < waitUntil;) {
      await sleep(POLL_MS);
      if (state === "working") state = await end();
      else if (await hasEnded(job)) state = "ended";
    }
    const data = toSingleUploadJobResponse(await find(job));
    return { body: { data }, headers: openJobHeaders(data, clock()) };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient, sqs: createSqsClient }, create);
