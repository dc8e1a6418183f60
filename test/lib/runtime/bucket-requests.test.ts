import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, PutObjectCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { BucketAddress } from "../../../lib/runtime/bucket-address.ts";
import { createWriteForm, createWriteOnce } from "../../../lib/runtime/bucket-requests.ts";
import { isUnavailable } from "../../../lib/runtime/aws-errors.ts";
import { createTestRuntime } from "../../support/runtime.ts";

const REGION = "eu-central-1";
const BUCKET = "files";
const KEY = "uploads/acme/0190/source.csv";
const CREDENTIALS = { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: "a+token/with=signs" };
const BODY = Buffer.from("external_id\nÄ-1\n");

/** The environment of a function whose bucket is on AWS, or at an endpoint elsewhere. */
const addressOf = (endpoint: string | undefined): BucketAddress => ({
  UPLOADS_BUCKET: BUCKET,
  BUCKET_ORIGIN: endpoint === undefined ? `https://${BUCKET}.s3.${REGION}.amazonaws.com` : "",
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_ENDPOINT_URL: undefined,
});

const runtimeAt = (endpoint: string | undefined, credentials: { readonly accessKeyId: string } = CREDENTIALS) => {
  const client = new DynamoDBClient({ region: REGION, credentials: credentials as typeof CREDENTIALS });
  onTestFinished(() => client.destroy());
  return { dynamodb: DynamoDBDocumentClient.from(client), environment: addressOf(endpoint) };
};

const s3At = (endpoint: string | undefined, options: S3ClientConfig = {}) => {
  const s3 = new S3Client({
    region: REGION,
    credentials: CREDENTIALS,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...options,
  });
  onTestFinished(() => s3.destroy());
  return s3;
};

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server in the place of S3, which keeps what it receives. */
const startServer = async (respond: (response: ServerResponse, count: number) => void) => {
  const received: Received[] = [];
  const serve = async (message: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = message;
    received.push({ method, url, headers, body: Buffer.concat(await Array.fromAsync(message)) });
    respond(response, received.length);
  };
  const server = createServer((message, response) => void serve(message, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
};

const refuse = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
};

beforeEach(() => vi.stubEnv("AWS_ENDPOINT_URL_S3", undefined));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

describe("a form", () => {
  test.each([undefined, "http://127.0.0.1:4566"])("is signed as the SDK does, at %s", async (endpoint) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-02-03T04:05:06.789Z") });
    const ours = await createWriteForm(runtimeAt(endpoint))(KEY, 12_345, 900);
    const { url, fields } = await createPresignedPost(s3At(endpoint), {
      Bucket: BUCKET,
      Key: KEY,
      Conditions: [["content-length-range", 12_345, 12_345]],
      Expires: 900,
    });
    const policyOf = ({ Policy = "" }: Readonly<Record<string, string>>) =>
      JSON.parse(Buffer.from(Policy, "base64").toString()) as { readonly conditions: unknown[] };
    const sorted = (policy: { readonly conditions: unknown[] }) => ({
      ...policy,
      conditions: policy.conditions.map((condition) => JSON.stringify(condition)).toSorted(),
    });

    expect(new URL(ours.url)).toEqual(new URL(url));
    expect(sorted(policyOf(ours.fields))).toEqual(sorted(policyOf(fields)));
    const { Policy: _ours, "X-Amz-Signature": signature, ...rest } = ours.fields;
    const { Policy: _theirs, "X-Amz-Signature": _, ...expected } = fields;
    expect(rest).toEqual(expected);
    expect(rest["X-Amz-Security-Token"]).toBe(CREDENTIALS.sessionToken);
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
  });

  test("has the SDK's signature of the same policy", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-02-03T04:05:06Z") });
    const credentials = { accessKeyId: "AKID", secretAccessKey: "secret" };
    const { fields } = await createWriteForm(runtimeAt(undefined, credentials))(KEY, 1, 60);
    const policy = JSON.parse(Buffer.from(fields["Policy"]!, "base64").toString()) as { conditions: [] };
    const theirs = await createPresignedPost(s3At(undefined, { credentials }), {
      Bucket: BUCKET,
      Key: KEY,
      Conditions: policy.conditions,
      Expires: 60,
    });
    expect(fields).toEqual(theirs.fields);
  });
});

describe("writing an object once", () => {
  test("sends and signs what the SDK does", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-02-03T04:05:06Z") });
    const { endpoint, received } = await startServer((response) => response.end());
    const s3 = s3At(endpoint, { requestChecksumCalculation: "WHEN_REQUIRED" });
    await s3.send(
      new PutObjectCommand({ Bucket: BUCKET, Key: KEY, Body: BODY, ContentType: "text/csv", IfNoneMatch: "*" }),
    );
    await createWriteOnce(runtimeAt(endpoint))(KEY, BODY, "text/csv");

    const [theirs, ours] = received;
    expect(ours).toMatchObject({ method: "PUT", url: theirs?.url?.replace("?x-id=PutObject", ""), body: BODY });
    // The SDK signs two headers for its own statistics too.
    const isOfS3 = (name: string) => /^(?:x-amz|content|if|host)/.test(name) && name !== "x-amz-user-agent";
    const headersOf = ({ headers }: Received) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => isOfS3(name)));
    expect(headersOf(ours!)).toEqual(headersOf(theirs!));
    const signedBy = ({ headers }: Received) =>
      /SignedHeaders=([^,]+)/
        .exec(headers.authorization ?? "")?.[1]
        ?.split(";")
        .filter(isOfS3);
    expect(signedBy(ours!)).toEqual(signedBy(theirs!));
    expect(signedBy(ours!)).toEqual(
      expect.arrayContaining(["if-none-match", "x-amz-content-sha256", "x-amz-security-token"]),
    );
  });

  test("writes the object with its content type", async () => {
    vi.unstubAllEnvs();
    const { s3, ...runtime } = await createTestRuntime();
    const Key = `uploads/acme/${randomUUID()}/source.csv`;
    await createWriteOnce(runtime)(Key, BODY, "text/csv");
    const { Body, ContentType } = await s3.send(
      new GetObjectCommand({ Bucket: runtime.environment.UPLOADS_BUCKET, Key }),
    );
    expect(await Body?.transformToString()).toBe(BODY.toString());
    expect(ContentType).toBe("text/csv");
  });

  // The embedded engine would overwrite the object.
  test("is done if S3 says that there is an object with the key", async () => {
    const { endpoint, received } = await startServer((response) => refuse(response, 412, "PreconditionFailed"));
    await createWriteOnce(runtimeAt(endpoint))(KEY, BODY, "text/csv");
    expect(received.map(({ headers }) => headers["if-none-match"])).toEqual(["*"]);
  });

  test.each([
    [503, "SlowDown"],
    [500, "InternalError"],
    [409, "ConditionalRequestConflict"],
  ])("is tried again after %d %s, and then succeeds", async (status, code) => {
    const { endpoint, received } = await startServer((response, count) =>
      count < 3 ? refuse(response, status, code) : void response.end(),
    );
    await createWriteOnce(runtimeAt(endpoint))(KEY, BODY, "text/csv");
    expect(received.map(({ body }) => body)).toEqual([BODY, BODY, BODY]);
  });

  test("is tried again after a lost connection", async () => {
    const { endpoint, received } = await startServer((response, count) =>
      count === 1 ? void response.socket?.destroy() : void response.end(),
    );
    await createWriteOnce(runtimeAt(endpoint))(KEY, BODY, "text/csv");
    expect(received).toHaveLength(2);
  });

  test.each([
    [503, "SlowDown", 3],
    [403, "AccessDenied", 1],
    [404, "NoSuchBucket", 1],
  ])("fails after %d %s with S3's code, as an outage", async (status, code, attempts) => {
    const { endpoint, received } = await startServer((response) => refuse(response, status, code));
    const error = await createWriteOnce(runtimeAt(endpoint))(KEY, BODY, "text/csv").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: code, $metadata: { httpStatusCode: status, attempts } });
    expect(isUnavailable(error)).toBe(true);
    expect(received).toHaveLength(attempts);
  });
});
