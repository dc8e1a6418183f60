import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { isUnavailable } from "../../../../lib/aws/error-codes.ts";
import { createS3Client } from "../../../../lib/aws/s3-client.ts";
import { createUploadObjects } from "../../../../lib/uploads/files/upload-objects.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const KEY = "uploads/acme/0190/source.csv";
const CREDENTIALS = { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: "a+token/with=signs" };
const BODY = Buffer.from("external_id\nÄ-1\n");

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await createTestRuntime();
});
afterEach(() => vi.unstubAllEnvs());

/** Makes the function that writes objects to another server than the engine. */
const writeOnceAt = (endpoint: string) => {
  vi.stubEnv("AWS_ENDPOINT_URL_S3", endpoint);
  vi.stubEnv("AWS_ACCESS_KEY_ID", CREDENTIALS.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", CREDENTIALS.secretAccessKey);
  vi.stubEnv("AWS_SESSION_TOKEN", CREDENTIALS.sessionToken);
  const s3 = createS3Client({ S3_FORCE_PATH_STYLE: true });
  onTestFinished(() => s3.destroy());
  return createUploadObjects({ ...runtime, s3 }).writeOnce;
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

const accept = (response: ServerResponse): void => {
  response.writeHead(200, { etag: '"d41d8cd98f00b204e9800998ecf8427e"' }).end();
};

const refuse = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
};

describe("writing an object once", () => {
  test("asks S3 to refuse an object that exists already", async () => {
    const { endpoint, received } = await startServer(accept);
    await writeOnceAt(endpoint)(KEY, BODY, "text/csv");
    expect(received).toMatchObject([{ method: "PUT", body: BODY, headers: { "content-type": "text/csv" } }]);
    const { authorization, ...headers } = received[0]!.headers;
    expect(headers).toMatchObject({ "if-none-match": "*", "x-amz-security-token": CREDENTIALS.sessionToken });
    expect(authorization).toMatch(/SignedHeaders=[^,]*if-none-match[^,]*x-amz-content-sha256/);
  });

  test("writes the object with its content type", async () => {
    const Key = `uploads/acme/${randomUUID()}/source.csv`;
    await createUploadObjects(runtime).writeOnce(Key, BODY, "text/csv");
    const { Body, ContentType } = await runtime.s3.send(
      new GetObjectCommand({ Bucket: runtime.environment.UPLOADS_BUCKET, Key }),
    );
    expect(await Body?.transformToString()).toBe(BODY.toString());
    expect(ContentType).toBe("text/csv");
  });

  // The embedded engine would overwrite the object.
  test("is done if S3 says that there is an object with the key", async () => {
    const { endpoint, received } = await startServer((response) => refuse(response, 412, "PreconditionFailed"));
    await writeOnceAt(endpoint)(KEY, BODY, "text/csv");
    expect(received.map(({ headers }) => headers["if-none-match"])).toEqual(["*"]);
  });

  test.each([
    [503, "SlowDown"],
    [500, "InternalError"],
    [409, "ConditionalRequestConflict"],
  ])("is tried again after %d %s, and then succeeds", async (status, code) => {
    const { endpoint, received } = await startServer((response, count) =>
      count < 3 ? refuse(response, status, code) : accept(response),
    );
    await writeOnceAt(endpoint)(KEY, BODY, "text/csv");
    expect(received.map(({ body }) => body)).toEqual([BODY, BODY, BODY]);
  });

  test("is tried again after a lost connection", async () => {
    const { endpoint, received } = await startServer((response, count) =>
      count === 1 ? void response.socket?.destroy() : accept(response),
    );
    await writeOnceAt(endpoint)(KEY, BODY, "text/csv");
    expect(received).toHaveLength(2);
  });

  test.each([
    [503, "SlowDown", 3],
    [403, "AccessDenied", 1],
    [404, "NoSuchBucket", 1],
  ])("fails after %d %s with S3's code, as an outage", async (status, code, attempts) => {
    const { endpoint, received } = await startServer((response) => refuse(response, status, code));
    const error = await writeOnceAt(endpoint)(KEY, BODY, "text/csv").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: code, $metadata: { httpStatusCode: status, attempts } });
    expect(isUnavailable(error)).toBe(true);
    expect(received).toHaveLength(attempts);
  });
});
