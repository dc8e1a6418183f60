import { endpoint } from "../lib/http/endpoint.ts";
import { readOptionalJsonBody } from "../lib/http/request-body.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createJobSender } from "../lib/uploads/chain/messages.ts";
import { createRequestUndo } from "../lib/uploads/job/undos.ts";
import { openJobHeaders } from "../lib/uploads/job/upload-job.ts";
import { toSingleUploadJobResponse } from "../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../lib/uploads/job/upload-store.ts";
import { uploadRoutes } from "./routes/uploads.ts";

/** `POST /v1/work_items/upload/{id}/undo` */
export const { create, handler } = endpoint(
  uploadRoutes.undoWorkItemUpload,
  { readBody: readOptionalJsonBody, sqs: createSqsClient },
  (runtime) => {
    const { clock, sqs, environment } = runtime;
    const requestUndo = createRequestUndo(runtime, new UploadStore(runtime));
    const send = createJobSender(sqs, environment.SPLIT_QUEUE_URL);
    return async (call) => {
      const { organization, id, body, keyId, keyName, requestId } = call;
      const by = { dryRun: body.undo?.dry_run ?? false, key_id: keyId, key_name: keyName, request_id: requestId };
      const snapshot = await requestUndo(organization, id, by);
      const { job } = snapshot;
      if (job.status === "pending") await send({ organization: organization.id, id: job.id });
      const data = toSingleUploadJobResponse(snapshot);
      return { body: { data }, headers: openJobHeaders(data, clock()), logged: { job: job.id } };
    };
  },
);
