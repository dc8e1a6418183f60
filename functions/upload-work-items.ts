import { createHash, randomUUID } from "node:crypto";
import { IdempotencyKeyReusedError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { parseIdempotencyKey } from "../lib/http/idempotency-key.ts";
import { openJobHeaders } from "../lib/http/open-job.ts";
import { readUploadBody } from "../lib/http/upload-body.ts";
import { idempotentUploadJobId } from "../lib/identity.ts";
import { createDynamoDbClient } from "../lib/runtime/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/runtime/runtime.ts";
import { createS3Client } from "../lib/runtime/s3-client.ts";
import { assertReadable } from "../lib/uploads/csv/csv-header.ts";
import { createUploadForm, firstCheckOf } from "../lib/uploads/files/upload-form.ts";
import { createUploadObjects, objectKeys } from "../lib/uploads/files/upload-objects.ts";
import { toUploadJobResponse } from "../lib/uploads/job/upload-record.ts";
import { createUploadStore } from "../lib/uploads/job/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.uploadWorkItems;

const hash = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** `POST /v1/work_items/upload` */
export const create = (runtime: Runtime<typeof route.permissions>): ApiHandler => {
  const { clock } = runtime;
  const store = createUploadStore(runtime);
  const objects = createUploadObjects(runtime);

  return endpointWithBody(route, runtime, readUploadBody, async ({ organization, body, file, headers }) => {
    const key = parseIdempotencyKey(headers);
    if (file) await assertReadable(file.content);
    const origin = file ? "request" : "form";
    const newJob = {
      id: key === undefined ? randomUUID() : idempotentUploadJobId(organization.id, key),
      origin,
      ...(key !== undefined && { content_hash: hash(file?.content ?? JSON.stringify(body.upload)) }),
      ...(!file && { expected_size: body.upload.size }),
    } as const;
    const known = key === undefined ? undefined : await store.readJob({ organization: organization.id, id: newJob.id });
    if (known === undefined) await store.assertRoom(organization);
    const { job, created } = await store.create(organization, newJob, firstCheckOf(newJob, clock()));
    if (!created && job.content_hash !== newJob.content_hash) {
      throw new IdempotencyKeyReusedError("for another upload");
    }
    // Also for a repeated request: the first one may have been interrupted before it wrote the file.
    if (file && job.status === "pending") await objects.writeOnce(objectKeys.source(job), file.content, "text/csv");

    const form = file ? null : await createUploadForm(runtime, job);
    const snapshot = created ? undefined : await store.read(job);
    const data = toUploadJobResponse(snapshot ?? { job, parts: [] });
    return { body: { data, ...(form && { meta: { upload: form } }) }, headers: openJobHeaders(data, clock()) };
  });
};

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient, s3: createS3Client }, create);
