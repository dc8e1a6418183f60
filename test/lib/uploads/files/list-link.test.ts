import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { createListLink } from "../../../../lib/uploads/files/list-link.ts";
import type { RowListName } from "../../../../lib/uploads/files/row-list.ts";
import { objectKeys } from "../../../../lib/uploads/files/upload-objects.ts";
import type { JobKey } from "../../../../lib/uploads/job/upload-record.ts";
import { createTestOrganization } from "../../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../../support/uploads/upload-harness.ts";
import { lambdaContext } from "../../../support/lambda-context.ts";

const REGION = "eu-central-1";
const CREDENTIALS = { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: "a+token/with=signs" };

let runtime: TestRuntime;
let job: JobKey;
let merged: string;
beforeAll(async () => {
  runtime = await createTestRuntime();
  const { organization } = await createTestOrganization(runtime);
  const { upload, split, drain, store } = createUploadHarness(runtime);
  job = await upload(organization, "external_id,status\nA,\nB,wrong\n");
  await split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
  await drain();
  ({ merged = "" } = (await store.readJob(job))!);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** The URL of a list that a function with these credentials makes where its bucket is there. */
const linkOf = async (name: RowListName, config: S3ClientConfig): Promise<URL> => {
  const s3 = new S3Client({ region: REGION, credentials: CREDENTIALS, ...config });
  const { url } = await createListLink({ ...runtime, s3 })(job, name);
  s3.destroy();
  return new URL(url!);
};

test.each(["failed_rows", "results"] as const)(
  "%s is read by its signed URL for 15 minutes, as a file of that name",
  async (name) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-02-03T04:05:06.789Z") });
    vi.stubEnv("AWS_ENDPOINT_URL_S3", undefined);
    const { UPLOADS_BUCKET: bucket } = runtime.environment;
    const key = objectKeys.list(job, name, merged);
    const onAws = await linkOf(name, {});
    expect(onAws.origin + onAws.pathname).toBe(`https://${bucket}.s3.${REGION}.amazonaws.com/${key}`);
    expect(Object.fromEntries(onAws.searchParams)).toMatchObject({
      "response-content-type": "text/csv; charset=utf-8",
      "response-content-disposition": `attachment; filename="${name}.csv"`,
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
      "X-Amz-Credential": `AKID/20260203/${REGION}/s3/aws4_request`,
      "X-Amz-Date": "20260203T040506Z",
      "X-Amz-Expires": "900",
      "X-Amz-Security-Token": CREDENTIALS.sessionToken,
      "X-Amz-SignedHeaders": "host",
    });

    const elsewhere = await linkOf(name, { endpoint: "http://127.0.0.1:4566", forcePathStyle: true });
    expect(elsewhere.origin + elsewhere.pathname).toBe(`http://127.0.0.1:4566/${bucket}/${key}`);
  },
);
