import { setTimeout as sleep } from "node:timers/promises";
import { NotFoundError, StateConflictError } from "../lib/errors.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createEndWithoutRows } from "../lib/uploads/chain/finish.ts";
import { createChunkSender } from "../lib/uploads/chain/messages.ts";
import { openJobHeaders } from "../lib/uploads/job/upload-job.ts";
import {
  isEnded,
  type JobKey,
  toSingleUploadJobResponse,
  type UploadSnapshot,
} from "../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../lib/uploads/job/upload-store.ts";
import { uploadRoutes } from "./routes/uploads.ts";

/**
 * Workers count their rows within about a second, and one of them then writes the lists of rows. The response waits at most
 * this long for both. The job ends in any case.
 */
const WAIT_MS = 5_000;
const POLL_MS = 200;

/** `DELETE /v1/work_items/upload/{id}` */
export const { create, handler } = endpoint(uploadRoutes.cancelWorkItemUpload, { sqs: createSqsClient }, (runtime) => {
  const { clock } = runtime;
  const store = new UploadStore(runtime);
  const endWithoutRows = createEndWithoutRows({ ...runtime, store });
  const sendChunks = createChunkSender(runtime);

  const find = async (key: JobKey): Promise<UploadSnapshot> => {
    const snapshot = await store.read(key);
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const { status, stopping } = snapshot.job;
    if (status === "completed" || status === "failed" || stopping === "failed") {
      throw new StateConflictError(`the upload has ${status === "completed" ? "completed" : "failed"} already`);
    }
    return snapshot;
  };

  return async ({ organization, id }) => {
    await store.requestStop((await find({ organization: organization.id, id })).job, "cancelled");
    let snapshot = await find({ organization: organization.id, id });
    const { job } = snapshot;
    if (job.chunks === undefined) await endWithoutRows(job);
    else if (!isEnded(job)) {
      await Promise.all(snapshot.shards.map((shard) => store.shards.stop(job, shard)));
      await sendChunks(job, [{ shard: 0, chunk: snapshot.shards[0]?.next ?? 0 }]);
    }
    const waitUntil = clock() + WAIT_MS;
    for (snapshot = await find(job); !isEnded(snapshot.job) && clock() < waitUntil; snapshot = await find(job)) {
      await sleep(POLL_MS);
    }
    const data = toSingleUploadJobResponse(snapshot);
    return { body: { data }, headers: openJobHeaders(data, clock()), logged: { job: job.id } };
  };
});
