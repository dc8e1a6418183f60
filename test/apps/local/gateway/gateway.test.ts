import { gzipSync } from "node:zlib";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { beforeAll, describe, expect, test } from "vitest";
import { sendTo, start } from "./tiny-api.ts";

let base: string;
beforeAll(async () => {
  const gateway = await start();
  base = `http://127.0.0.1:${gateway.port}`;
  return () => gateway.stop();
});

const send = (path: string, options?: Parameters<typeof sendTo>[2]) => sendTo(base, path, options);
const eventOf = async (path: string, options?: Parameters<typeof sendTo>[2]): Promise<APIGatewayProxyEvent> =>
  JSON.parse((await send(path, options)).body.toString()) as APIGatewayProxyEvent;

describe("the event", () => {
  test("holds path, method, resource and decoded path parameters", async () => {
    expect(await eventOf("/items/a%2Fb%20c%25")).toMatchObject({
      resource: "/items/{id}",
      path: "/items/a%2Fb%20c%25",
      httpMethod: "GET",
      pathParameters: { id: "a/b c%" },
      body: null,
      isBase64Encoded: false,
      requestContext: { resourcePath: "/items/{id}", stage: "local", identity: { sourceIp: "127.0.0.1" } },
    });
  });

  test("holds the last value of a repeated query parameter, and all of them", async () => {
    const event = await eventOf("/items/1?limit=5&status=a&status=b%20c&empty=&latin1=%FC");
    expect(event.queryStringParameters).toEqual({ limit: "5", status: "b c", empty: "", latin1: "\uFFFD" });
    expect(event.multiValueQueryStringParameters).toEqual({
      limit: ["5"],
      status: ["a", "b c"],
      empty: [""],
      latin1: ["\uFFFD"],
    });
  });

  test("has null where there is no query and no path parameter", async () => {
    const event = await eventOf("/items", { method: "POST" });
    expect(event.queryStringParameters).toBeNull();
    expect(event.multiValueQueryStringParameters).toBeNull();
    expect(event.pathParameters).toBeNull();
  });

  test("keeps the case of header names and every value of repeated ones", async () => {
    const headers = ["Host", "h", "X-MiXed-Case", "1", "X-Twice", "a", "X-Twice", "b"];
    const event = await eventOf("/items/1", { headers });
    expect(event.headers).toMatchObject({ "X-MiXed-Case": "1", "X-Twice": "b" });
    expect(event.multiValueHeaders).toMatchObject({ "X-Twice": ["a", "b"] });
  });

  test("holds any body in base64, so that no byte changes", async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x61]);
    for (const type of ["multipart/form-data; boundary=x", "application/json"]) {
      const headers = ["Host", "h", "Content-Type", type, "Content-Length", "3"];
      const event = await eventOf("/items", { method: "POST", headers, body: bytes });
      expect(event).toMatchObject({ isBase64Encoded: true, body: bytes.toString("base64") });
    }
  });

  test("holds an unpacked body beside its Content-Encoding", async () => {
    const body = gzipSync('{"a":1}');
    const headers = ["Host", "h", "Content-Type", "application/json", "Content-Encoding", "gzip"];
    const event = await eventOf("/items", {
      method: "POST",
      headers: [...headers, "Content-Length", `${body.length}`],
      body,
    });
    expect(event).toMatchObject({
      body: Buffer.from('{"a":1}').toString("base64"),
      headers: { "Content-Encoding": "gzip" },
    });
  });

  test("is not made of a body in another coding", async () => {
    for (const coding of ["br", "gzip"]) {
      const response = await fetch(`${base}/items`, {
        method: "POST",
        headers: { "content-encoding": coding },
        body: "{}",
      });
      expect([response.status, await response.json()]).toEqual([
        415,
        { error: expect.stringContaining("Content-Encoding") },
      ]);
    }
  });

  test("has a request id that no other request has", async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await eventOf("/items/1")).requestContext.requestId));
    expect(new Set(ids).size).toBe(3);
  });
});

describe("routing", () => {
  test.each([
    ["POST", "/items/batch", '"batch"', "a fixed segment before a parameter"],
    ["PUT", "/items/batch", '"/items/batch"', "itself where the fixed segment has no such method"],
    ["DELETE", "/items/1", '"/items/{id}"', "the fallback where the path has no such method"],
    ["GET", "/nowhere/at/all", '"/{proxy+}"', "the greedy path where nothing else matches"],
    ["GET", "/items/1/nothing", '"/{proxy+}"', "the greedy path below a parameter"],
    ["GET", "/", '"/"', "the root"],
    ["DELETE", "/items/1/", '"/items/{id}"', "a path with a slash at its end"],
    ["GET", "/items//events", '"/{proxy+}"', "no parameter for an empty segment"],
  ])("matches %s %s to %s: %s", async (verb, path, expected) => {
    expect((await send(path, { method: verb })).body.toString()).toBe(expected);
  });

  test("takes a fixed name as a parameter where only that leads on", async () => {
    expect((await eventOf("/items/batch/events")).pathParameters).toEqual({ id: "batch" });
  });

  test("responds with 400 to a path that is not percent-encoded", async () => {
    const { status, body } = await send("/items/%zz");
    expect([status, body.toString()]).toEqual([400, '{"error":"malformed request"}']);
  });
});
