import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { beforeAll, describe, expect, it, test } from "vitest";
import { keyOf, refusalOf, openBucket, type TestBucket } from "./s3/bucket.ts";

const sqsEndpoint = process.env["AWS_ENDPOINT_URL_SQS"] ?? "";
const dynamodbEndpoint = process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "";

/** The status of a request, whose headers may be any. */
const statusOf = (url: string, method: string, headers: Record<string, string>, body = ""): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => resolve(response.resume().statusCode ?? 0));
    sent.once("error", reject).end(body);
  });

const CREATE = { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.CreateQueue" };
const wasCreated = async (name: string): Promise<boolean> => {
  const { QueueUrls = [] } = await new SQSClient({}).send(new ListQueuesCommand({ QueueNamePrefix: name }));
  return QueueUrls.length > 0;
};

describe("the engine of the queues", () => {
  it.each<[string, string, Record<string, string>]>([
    ["a request", "POST", { origin: "http://evil.example" }],
    ["a request of the local service's own page", "POST", { origin: "http://localhost:3000" }],
    ["a request of a file", "POST", { origin: "null" }],
    ["a preflight", "OPTIONS", { origin: "http://evil.example", "access-control-request-method": "POST" }],
    ["a picture or a link", "GET", { "sec-fetch-site": "cross-site" }],
    ["a page whose name leads to this machine", "POST", { host: "evil.example" }],
    ["a page whose name looks like this machine", "POST", { host: "localhost.evil.example" }],
  ])("refuses %s", async (_, method, page) => {
    const QueueName = randomUUID();
    expect(await statusOf(sqsEndpoint, method, { ...CREATE, ...page }, JSON.stringify({ QueueName }))).toBe(403);
    expect(await wasCreated(QueueName)).toBe(false);
  });

  it.each(["localhost", "127.0.0.1", "127.8.9.10:4566", "[::1]:4566"])(
    "serves programs that call it %s",
    async (host) => {
      const QueueName = randomUUID();
      expect(await statusOf(sqsEndpoint, "POST", { ...CREATE, host }, JSON.stringify({ QueueName }))).toBe(200);
      expect(await wasCreated(QueueName)).toBe(true);
    },
  );
});

// Only Linux has more loopback addresses than one.
test.runIf(process.platform === "linux" && process.env["DYNAMODB_ENDPOINT"] === undefined)(
  "the DynamoDB engine is not at an address where pages look for it",
  async () => {
    const { hostname, port } = new URL(dynamodbEndpoint);
    expect(hostname).toMatch(/^127\.\d+\.\d+\.\d+$/);
    expect(hostname).not.toBe("127.0.0.1");
    for (const host of ["127.0.0.1", "[::1]"]) {
      await expect(statusOf(`http://${host}:${port}/`, "POST", {})).rejects.toThrow("ECONNREFUSED");
    }
  },
);

describe("the object store", () => {
  let bucket: TestBucket;
  beforeAll(async () => {
    bucket = await openBucket();
  });

  it("answers our pages for links and forms", async () => {
    const Key = keyOf();
    const headers = { origin: "http://localhost:3000" };
    expect((await bucket.post(Key, { headers })).status).toBe(204);
    const read = await fetch(await bucket.linkTo(Key), { headers });
    expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, headers.origin]);
    expect((await fetch(await bucket.linkTo(Key))).status).toBe(200);
  });

  it.each(["http://evil.example", "http://localhost:3001", "null"])("refuses pages of %s", async (origin) => {
    const Key = keyOf();
    expect(await refusalOf(await bucket.post(Key, { headers: { origin } }))).toEqual([403, "AccessForbidden"]);
    expect(await bucket.exists(Key)).toBe(false);
    await bucket.post(Key);
    expect(await refusalOf(await fetch(await bucket.linkTo(Key), { headers: { origin } }))).toEqual([
      403,
      "AccessForbidden",
    ]);
  });

  it("refuses our pages for anything else, and other names of this machine", async () => {
    const Key = keyOf();
    await bucket.post(Key);
    const url = await bucket.linkTo(Key);
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      expect(await statusOf(url, method, { origin: "http://localhost:3000" })).toBe(403);
    }
    expect(await statusOf(url, "GET", { host: "evil.example" })).toBe(403);
    expect(await bucket.exists(Key)).toBe(true);
  });
});

test.runIf(process.env["DYNAMODB_ENDPOINT"] === undefined)(
  "the DynamoDB engine is at a port that browsers refuse, as this fetch does, and programs reach it",
  async () => {
    await expect(fetch(dynamodbEndpoint, { method: "POST" })).rejects.toMatchObject({
      cause: expect.objectContaining({ message: "bad port" }) as Error,
    });
    expect(await statusOf(dynamodbEndpoint, "POST", {})).toBeGreaterThanOrEqual(200);
  },
);
