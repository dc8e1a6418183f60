import { setTimeout as sleep } from "node:timers/promises";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { NotFoundError, StateConflictError } from "../lib/errors.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { createWriteReport, ReportUnfinishedError } from "../lib/uploads/failed-rows.ts";
import { createSettleUpload } from "../lib/uploads/settle-upload.ts";
import { createUploadObjects, type JobKey } from "../lib/uploads/upload-objects.ts";
import { toUploadJobResponse, type UploadSnapshot } from "../lib/uploads/upload-record.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.cancelWorkItemUpload;

/** Parts under way reach their next checkpoint within a second or so; the answer waits for them, but not for ever. */
const WAIT_MS = 5_000;
const POLL_MS = 200;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const { environment, dynamodb, s3, clock } = runtime;
  const store = createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock);
  const objects = createUploadObjects(s3, environment.UPLOADS_BUCKET);
  const settle = createSettleUpload(store, createWriteReport(s3, environment.UPLOADS_BUCKET, objects), clock);

  const find = async (key: JobKey): Promise<UploadSnapshot> => {
    const snapshot = await store.read(key);
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const { status, stopping } = snapshot.job;
    if (status === "completed" || status === "failed" || stopping === "failed") {
      throw new StateConflictError(`the upload has ${status === "completed" ? "completed" : "failed"} already`);
    }
    return snapshot;
  };

  return endpoint(route, runtime, async ({ organization, params }) => {
    const { job } = await find({ organization: organization.id, id: params["id"] ?? "" });
    await store.requestStop(job, "cancelled");
    const waitUntil = clock() + WAIT_MS;
    try {
      while (!(await settle(job, { until: waitUntil, abridge: false })) && clock() < waitUntil) await sleep(POLL_MS);
    } catch (error) {
      // The job stops all the same: the sweep has a worker write the report.
      if (!(error instanceof ReportUnfinishedError)) throw error;
    }
    return { body: { data: toUploadJobResponse(await find(job)) } };
  });
};

export const handler = lambda(route.touches, create);
