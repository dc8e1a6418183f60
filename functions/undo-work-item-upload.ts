import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { readOptionalJsonBody } from "../lib/http/request-body.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createJobSender } from "../lib/uploads/chain/messages.ts";
import { createRequestUndo } from "../lib/uploads/job/new-undo.ts";
import { openJobHeaders } from "../lib/uploads/job/open-job-headers.ts";
import { toSingleUploadJobResponse } from "../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../lib/uploads/job/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.undoWorkItemUpload;

/** `POST /v1/work_items/upload/{id}/undo` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const { clock, sqs, environment } = runtime;
  const requestUndo = createRequestUndo(new UploadStore(runtime), clock);
  const send = createJobSender(sqs, environment.SPLIT_QUEUE_URL);
  return endpointWithBody(route, runtime, readOptionalJsonBody, async (call) => {
    const { organization, id, body, keyId, keyName, requestId } = call;
    const by = { dryRun: body.undo?.dry_run ?? false, key_id: keyId, key_name: keyName, request_id: requestId };
    const snapshot = await requestUndo(organization, id, by);
    const { job } = snapshot;
    if (job.status === "pending") await send({ organization: organization.id, id: job.id });
    const data = toSingleUploadJobResponse(snapshot);
    return { body: { data }, headers: openJobHeaders(data, clock()), logged: { job: job.id } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient, sqs: createSqsClient }, create);
