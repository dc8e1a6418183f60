import { S3Client } from "@aws-sdk/client-s3";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { REGIONS } from "../../../../lib/regions.ts";
import { createUploadForm } from "../../../../lib/uploads/files/upload-form.ts";
import { uploadJobRecordSchema } from "../../../../lib/uploads/job/upload-record.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const BUCKET = "files";
const CREDENTIALS = { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: "a+token/with=signs" };
const NOW = "2026-02-03T04:05:06.789Z";

/** The form for a job of 12,345 bytes in a bucket on AWS, or at an endpoint elsewhere. */
const formOf = async (region: string, endpoint?: string, age = 0) => {
  const now = Date.parse(NOW) + age;
  vi.setSystemTime(now);
  const s3 = new S3Client({
    region,
    credentials: CREDENTIALS,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
  });
  onTestFinished(() => s3.destroy());
  const environment = { ...runtime.environment, UPLOADS_BUCKET: BUCKET };
  const job = uploadJobRecordSchema.parse({
    organization: "acme",
    id: "0190",
    status: "pending",
    origin: "form",
    created_at: NOW,
    updated_at: NOW,
    expected_size: 12_345,
    total_rows: 0,
    succeeded_rows: 0,
    failed_rows: 0,
  });
  return createUploadForm({ ...runtime, s3, environment, clock: () => now })(job);
};

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await createTestRuntime();
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(NOW) });
  vi.stubEnv("AWS_ENDPOINT_URL_S3", undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

describe("the form for a file", () => {
  test("accepts one object of exactly the announced size for 15 minutes", async () => {
    const form = await formOf("eu-central-1");
    expect(form?.expires_at).toBe("2026-02-03T04:20:06.789Z");
    const { Policy = "", "X-Amz-Signature": signature, ...fields } = form!.fields;
    expect(fields).toEqual({
      bucket: BUCKET,
      key: "uploads/acme/0190/source.csv",
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": "AKID/20260203/eu-central-1/s3/aws4_request",
      "X-Amz-Date": "20260203T040506Z",
      "X-Amz-Security-Token": CREDENTIALS.sessionToken,
    });
    const { expiration, conditions } = JSON.parse(Buffer.from(Policy, "base64").toString()) as {
      readonly expiration: string;
      readonly conditions: unknown[];
    };
    expect(expiration).toBe("2026-02-03T04:20:06Z");
    expect(conditions).toHaveLength(7);
    expect(conditions).toEqual(
      expect.arrayContaining([
        ["content-length-range", 12_345, 12_345],
        ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
      ]),
    );
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
  });

  test("expires at the same time if it is requested again, and is null afterwards", async () => {
    const later = await formOf("eu-central-1", undefined, 10 * 60_000);
    const { expiration } = JSON.parse(Buffer.from(later!.fields["Policy"]!, "base64").toString()) as {
      readonly expiration: string;
    };
    expect([later?.expires_at, expiration]).toEqual(["2026-02-03T04:20:06.789Z", "2026-02-03T04:20:06Z"]);
    expect(await formOf("eu-central-1", undefined, 15 * 60_000)).toBeNull();
  });

  test.each(Object.values(REGIONS))("is posted to the bucket's own origin in $awsRegion", async ({ awsRegion }) => {
    const form = await formOf(awsRegion);
    expect(new URL(form!.url).href).toBe(`https://${BUCKET}.s3.${awsRegion}.amazonaws.com/`);
  });

  test("is posted to the bucket's path elsewhere than on AWS", async () => {
    const form = await formOf("us-east-1", "http://127.0.0.1:4566");
    expect(new URL(form!.url).href).toBe("http://127.0.0.1:4566/files");
  });
});
