import { IdempotencyKeyReusedError } from "../lib/errors.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { parseIdempotencyKey } from "../lib/http/request.ts";
import { openJobHeaders } from "../lib/uploads/job/upload-job.ts";
import { readUploadBody } from "../lib/uploads/files/upload-body.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { assertMapping, assertReadable } from "../lib/uploads/mapping/file-format.ts";
import { createUploadForm } from "../lib/uploads/files/upload-form.ts";
import { createUploadObjects, objectKeys } from "../lib/uploads/files/upload-objects.ts";
import { createFindMapping, newUploadOf } from "../lib/uploads/job/new-upload.ts";
import { toSingleUploadJobResponse } from "../lib/uploads/job/upload-record.ts";
import { CHECK_WITHIN_MS, UploadStore } from "../lib/uploads/job/upload-store.ts";
import { uploadRoutes } from "./routes/uploads.ts";

/** `POST /v1/work_items/upload` */
export const { create, handler } = endpoint(
  uploadRoutes.uploadWorkItems,
  { readBody: readUploadBody, s3: createS3Client },
  (runtime) => {
    const { clock } = runtime;
    const store = new UploadStore(runtime);
    const { writeOnce } = createUploadObjects(runtime);
    const uploadForm = createUploadForm(runtime);
    const findMapping = createFindMapping(store);

    return async (call) => {
      const { organization, keyId, keyName, requestId, body, file, fields, headers } = call;
      const idempotencyKey = parseIdempotencyKey(headers);
      const { mapping: given, dry_run: dryRun = false } = (fields ?? body).upload;
      const mapping = await findMapping(organization.id, given);
      if (file) await assertReadable(file.content, mapping);
      else if (mapping) assertMapping(mapping);

      const described = file ? { ...file, size: file.content.length } : { ...body.upload, content: undefined };
      const request = { ...described, mapping, dryRun, idempotencyKey, keyId, keyName, requestId };
      const upload = newUploadOf(organization.id, request);
      const existing =
        idempotencyKey === undefined
          ? undefined
          : await store.readJob({ organization: organization.id, id: upload.id });
      if (existing === undefined) await store.assertRoom(organization);
      const { job, created } = await store.create(organization, upload, clock() + CHECK_WITHIN_MS);
      if (!created && job.content_hash !== upload.content_hash) {
        throw new IdempotencyKeyReusedError("for another upload");
      }
      // Retries too: the first request may have been interrupted before it wrote the file.
      if (file && job.status === "pending") await writeOnce(objectKeys.source(job), file.content, "text/csv");

      const form = file ? null : await uploadForm(job);
      const snapshot = created ? undefined : await store.read(job);
      const data = toSingleUploadJobResponse(snapshot ?? { job, shards: [] });
      return {
        body: { data, ...(form && { meta: { upload: form } }) },
        headers: openJobHeaders(data, clock()),
        logged: { job: job.id },
      };
    };
  },
);
