import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { BucketAddress } from "../../../lib/runtime/bucket-address.ts";
import { createListLink } from "../../../lib/uploads/files/list-link.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import type { JobKey } from "../../../lib/uploads/job/upload-record.ts";
import { createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../support/uploads/upload-harness.ts";
import { lambdaContext } from "../../support/lambda-context.ts";

const REGION = "eu-central-1";
const CREDENTIALS = { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: "a+token/with=signs" };

let runtime: TestRuntime;
let job: JobKey;
beforeAll(async () => {
  runtime = await createTestRuntime();
  const { organization } = await createTestOrganization(runtime);
  const { upload, split, drain } = createUploadHarness(runtime);
  job = await upload(organization, "external_id,status\nA,\nB,wrong\n");
  await split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
  await drain();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** The URL of a list that a function with these credentials makes where its bucket is there. */
const linkOf = async (name: "failed_rows" | "results", address: Omit<BucketAddress, "UPLOADS_BUCKET">) => {
  const client = new DynamoDBClient({ region: REGION, credentials: CREDENTIALS });
  const dynamodb = DynamoDBDocumentClient.from(client);
  const environment = { ...runtime.environment, AWS_ENDPOINT_URL_S3: undefined, ...address };
  const { url } = await createListLink({ ...runtime, dynamodb, environment })(job, name);
  client.destroy();
  return url;
};

/** The URL that S3's client makes of the same, without checksums, and without the operation's name, which S3 ignores. */
const signedUrl = async (Key: string, filename: string, config: S3ClientConfig): Promise<string> => {
  const s3 = new S3Client({
    region: REGION,
    credentials: CREDENTIALS,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    ...config,
  });
  s3.middlewareStack.add(
    (next) => (args) => {
      delete (args.request as { query: Record<string, string> }).query["x-id"];
      return next(args);
    },
    { step: "build" },
  );
  const command = new GetObjectCommand({
    Bucket: runtime.environment.UPLOADS_BUCKET,
    Key,
    ResponseContentType: "text/csv; charset=utf-8",
    ResponseContentDisposition: `attachment; filename="${filename}"`,
  });
  return getSignedUrl(s3, command, { expiresIn: 15 * 60 });
};

test.each(["failed_rows", "results"] as const)(
  "%s is signed as S3's client does, on AWS and elsewhere",
  async (name) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const key = objectKeys[name === "results" ? "results" : "report"](job);
    const file = `${name}.csv`;

    const bucket = runtime.environment.UPLOADS_BUCKET;
    const onAws = await linkOf(name, { BUCKET_ORIGIN: `https://${bucket}.s3.${REGION}.amazonaws.com` });
    vi.stubEnv("AWS_ENDPOINT_URL_S3", undefined);
    expect(onAws).toBe(await signedUrl(key, file, {}));
    expect(new URL(onAws!).searchParams.get("X-Amz-Security-Token")).toBe(CREDENTIALS.sessionToken);

    const endpoint = "http://127.0.0.1:4566";
    const elsewhere = await signedUrl(key, file, { endpoint, forcePathStyle: true });
    expect(await linkOf(name, { BUCKET_ORIGIN: "", AWS_ENDPOINT_URL_S3: endpoint })).toBe(elsewhere);
    expect(await linkOf(name, { BUCKET_ORIGIN: "", AWS_ENDPOINT_URL: endpoint })).toBe(elsewhere);
  },
);
