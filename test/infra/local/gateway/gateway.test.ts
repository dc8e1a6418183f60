import { type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../../../infra/local/gateway/gateway.ts";
import { PAYLOAD_MAX_BYTES } from "../../../../infra/local/lambda/instance.ts";
import { type LambdaFunction, PayloadTooLargeError } from "../../../../infra/local/lambda/lambda-function.ts";
import { type Resource, ResolvedTemplate } from "../../../../infra/local/template.ts";

const uri = (functionName: string) => ({
  "Fn::Join": [
    "",
    [
      "arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/",
      { "Fn::GetAtt": [functionName, "Arn"] },
      "/invocations",
    ],
  ],
});
const lambda = (FunctionName: string): Resource => ({ Type: "AWS::Lambda::Function", Properties: { FunctionName } });
const resource = (PathPart: string, parent?: string): Resource => ({
  Type: "AWS::ApiGateway::Resource",
  Properties: {
    PathPart,
    ParentId: parent === undefined ? { "Fn::GetAtt": ["Api", "RootResourceId"] } : { Ref: parent },
  },
});
const method = (HttpMethod: string, id: string, functionName: string): Resource => ({
  Type: "AWS::ApiGateway::Method",
  Properties: { HttpMethod, ResourceId: { Ref: id }, Integration: { Type: "AWS_PROXY", Uri: uri(functionName) } },
});
const gatewayResponse = (ResponseType: string, StatusCode: string, error: string, more = {}): Resource => ({
  Type: "AWS::ApiGateway::GatewayResponse",
  Properties: {
    ResponseType,
    StatusCode,
    ResponseParameters: {
      "gatewayresponse.header.x-request-id": "context.requestId",
      "gatewayresponse.header.Retry-After": "'1'",
    },
    ResponseTemplates: { "application/json": JSON.stringify({ error }), ...more },
  },
});

const template = new ResolvedTemplate({
  stackName: "Tiny",
  region: "us-east-1",
  sqsEndpoint: "http://127.0.0.1:1",
  template: {
    Resources: {
      Api: {
        Type: "AWS::ApiGateway::RestApi",
        Properties: { BinaryMediaTypes: ["multipart/form-data"], MinimumCompressionSize: 100 },
      },
      Stage: { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "dev" } },
      Echo: lambda("echo"),
      Batch: lambda("batch"),
      Reject: lambda("reject"),
      Items: resource("items"),
      BatchOfItems: resource("batch", "Items"),
      Item: resource("{id}", "Items"),
      Events: resource("events", "Item"),
      Bare: resource("bare"),
      Proxy: resource("{proxy+}"),
      GetItem: method("GET", "Item", "Echo"),
      HeadItem: method("HEAD", "Item", "Echo"),
      PostItems: method("POST", "Items", "Echo"),
      AnyItem: method("ANY", "Item", "Reject"),
      AnyItems: method("ANY", "Items", "Reject"),
      PostBatch: method("POST", "BatchOfItems", "Batch"),
      GetEvents: method("GET", "Events", "Echo"),
      AnyProxy: method("ANY", "Proxy", "Reject"),
      TooLarge: gatewayResponse("REQUEST_TOO_LARGE", "413", "Request body too large"),
      Unsupported: gatewayResponse("UNSUPPORTED_MEDIA_TYPE", "415", "Unsupported"),
      NotFound: gatewayResponse("MISSING_AUTHENTICATION_TOKEN", "404", "Not found"),
      Malformed: gatewayResponse("DEFAULT_4XX", "400", "Bad request", {
        "application/problem+json": JSON.stringify({ instance: "$context.requestId", error: "Bad request" }),
      }),
      Broken: gatewayResponse("DEFAULT_5XX", "500", "Internal error"),
    },
  },
});

/** A function without its own thread; `lambda-function.test.ts` tests those. */
const inline = (name: string, handler: (event: APIGatewayProxyEvent) => unknown): LambdaFunction => ({
  name,
  invoke: async (payload) => {
    try {
      return { ok: true, payload: JSON.stringify(await handler(JSON.parse(payload) as APIGatewayProxyEvent)) };
    } catch (error) {
      if (error instanceof PayloadTooLargeError) throw error;
      return { ok: false, error: { errorType: "Error", errorMessage: String(error) } };
    }
  },
  stop: async () => {},
});

const echoed = (event: APIGatewayProxyEvent) => ({ statusCode: 200, body: JSON.stringify(event) });
const start = (handler: (event: APIGatewayProxyEvent) => unknown = echoed) =>
  startGateway({
    template,
    port: 0,
    functions: new Map([
      ["echo", inline("echo", handler)],
      ["batch", inline("batch", () => ({ statusCode: 200, body: '"batch"' }))],
      ["reject", inline("reject", ({ resource: path }) => ({ statusCode: 405, body: JSON.stringify(path) }))],
    ]),
  });

let base: string;
beforeAll(async () => {
  const gateway = await start();
  base = `http://127.0.0.1:${gateway.port}`;
  return () => gateway.stop();
});

/** Sends a request by Node's HTTP client, so that path and header names are not changed. */
const send = async (path: string, options: { method?: string; headers?: string[]; body?: Buffer } = {}) => {
  const { host, port } = new URL(base);
  const sent = httpRequest({
    host: host.split(":")[0],
    port,
    path,
    method: options.method ?? "GET",
    headers: options.headers ?? ["Host", host],
  });
  const received = new Promise<Awaited<ReturnType<typeof read>>>((resolve, reject) => {
    sent.once("response", (response) => void read(response).then(resolve)).once("error", reject);
  });
  sent.end(options.body);
  return received;
};
const read = async (response: IncomingMessage) => ({
  status: response.statusCode,
  headers: response.headers,
  body: await buffer(response),
});
const eventOf = async (path: string, options: Parameters<typeof send>[1] = {}): Promise<APIGatewayProxyEvent> =>
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
      requestContext: { resourcePath: "/items/{id}", stage: "dev", identity: { sourceIp: "127.0.0.1" } },
    });
  });

  test("holds the last value of a repeated query parameter, and all of them", async () => {
    const event = await eventOf("/items/1?limit=5&status=a&status=b%20c&empty=");
    expect(event.queryStringParameters).toEqual({ limit: "5", status: "b c", empty: "" });
    expect(event.multiValueQueryStringParameters).toEqual({ limit: ["5"], status: ["a", "b c"], empty: [""] });
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

  test("holds text as it is and binary media types in base64", async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x61]);
    const multipart = ["Host", "h", "Content-Type", "Multipart/Form-Data; boundary=x", "Content-Length", "3"];
    const binary = await eventOf("/items", { method: "POST", headers: multipart, body: bytes });
    expect(binary).toMatchObject({ isBase64Encoded: true, body: bytes.toString("base64") });
    const json = ["Host", "h", "Content-Type", "application/json", "Content-Length", "6"];
    const plain = await eventOf("/items", { method: "POST", headers: json, body: Buffer.from('"ü€"'.slice(0, 3)) });
    expect(plain).toMatchObject({ isBase64Encoded: false, body: '"ü€' });
  });

  test("holds an unpacked body beside its Content-Encoding", async () => {
    const body = gzipSync('{"a":1}');
    const headers = ["Host", "h", "Content-Type", "application/json", "Content-Encoding", "gzip"];
    const event = await eventOf("/items", {
      method: "POST",
      headers: [...headers, "Content-Length", `${body.length}`],
      body,
    });
    expect(event).toMatchObject({ body: '{"a":1}', headers: { "Content-Encoding": "gzip" } });
  });

  test("is not made of a body in another coding", async () => {
    for (const coding of ["br", "gzip"]) {
      const response = await fetch(`${base}/items`, {
        method: "POST",
        headers: { "content-encoding": coding },
        body: "{}",
      });
      expect([response.status, await response.text()]).toEqual([415, '{"error":"Unsupported"}']);
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
    ["PUT", "/items/batch", '{"error":"Not found"}', "itself where the fixed segment has no such method"],
    ["DELETE", "/items/1", '"/items/{id}"', "ANY where the resource has no such method"],
    ["GET", "/nowhere/at/all", '"/{proxy+}"', "the greedy path where nothing else matches"],
    ["GET", "/items/1/nothing", '"/{proxy+}"', "the greedy path below a parameter"],
    ["DELETE", "/items/1/", '"/items/{id}"', "a path with a slash at its end"],
    ["GET", "/items//events", '"/{proxy+}"', "no parameter for an empty segment"],
  ])("matches %s %s to %s: %s", async (verb, path, expected) => {
    expect((await send(path, { method: verb })).body.toString()).toBe(expected);
  });

  test("takes a fixed name as a parameter where only that leads on", async () => {
    expect((await eventOf("/items/batch/events")).pathParameters).toEqual({ id: "batch" });
  });

  test("responds with the template's 404 if no method serves the path", async () => {
    const { status, body } = await send("/");
    expect([status, body.toString()]).toEqual([404, '{"error":"Not found"}']);
  });

  test("responds with 400 to a path that is not percent-encoded", async () => {
    const { status, body } = await send("/items/%zz");
    expect([status, body.toString()]).toEqual([400, '{"error":"Bad request"}']);
  });
});

describe("the response", () => {
  const responseTo = async (result: unknown, headers: Record<string, string> = {}): Promise<Response> => {
    const gateway = await start(() => result);
    onTestFinished(() => gateway.stop());
    return fetch(`http://127.0.0.1:${gateway.port}/items/1`, { headers });
  };

  test("has the function's status, headers and repeated headers", async () => {
    const response = await responseTo({
      statusCode: 201,
      headers: { "X-One": "1", "content-type": "text/plain" },
      multiValueHeaders: { "Set-Cookie": ["a=1", "b=2"] },
      body: "made",
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("x-one")).toBe("1");
    expect(response.headers.get("content-type")).toBe("text/plain");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.text()).toBe("made");
  });

  test("is JSON where the function names no content type", async () => {
    expect((await responseTo({ statusCode: 204 })).headers.get("content-type")).toBe("application/json");
  });

  test("is compressed where the client prefers gzip or deflate, unless it is small or compressed already", async () => {
    const large = { statusCode: 200, body: JSON.stringify("a".repeat(200)) };
    for (const coding of ["gzip", "deflate"]) {
      const response = await responseTo(large, { "accept-encoding": coding });
      expect(response.headers.get("content-encoding")).toBe(coding);
      expect(Number(response.headers.get("content-length"))).toBeLessThan(100);
      expect(await response.text()).toBe(large.body);
    }
    const plain = [
      [large, "br"],
      [{ statusCode: 200, body: '"a"' }, "gzip"],
    ] as const;
    for (const [result, accepted] of plain) {
      const response = await responseTo(result, { "accept-encoding": accepted });
      expect([response.headers.get("content-encoding"), await response.text()]).toEqual([null, result.body]);
    }
    const packed = gzipSync(large.body).toString("base64");
    const headers = { "Content-Encoding": "gzip" };
    const response = await responseTo(
      { statusCode: 200, headers, body: packed, isBase64Encoded: true },
      { "accept-encoding": "gzip", accept: "multipart/form-data" },
    );
    expect(await response.text()).toBe(large.body);
  });

  test.each([
    ["HEAD", { statusCode: 200, body: "text" }],
    ["GET", { statusCode: 304, body: "text" }],
    ["GET", { statusCode: 204, body: "text" }],
  ])("to %s with %o has no body", async (verb, result) => {
    const gateway = await start(() => result);
    onTestFinished(() => gateway.stop());
    const response = await fetch(`http://127.0.0.1:${gateway.port}/items/1`, { method: verb });
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
      result.statusCode,
      null,
      "",
    ]);
  });

  test("decodes base64 only for clients that accept a binary media type first", async () => {
    const result = { statusCode: 200, body: Buffer.from("bytes").toString("base64"), isBase64Encoded: true };
    expect(await (await responseTo(result, { accept: "multipart/form-data" })).text()).toBe("bytes");
    expect(await (await responseTo(result, { accept: "text/html" })).text()).toBe("Ynl0ZXM=");
  });

  test.each([
    ["no object", "text"],
    ["no status", { body: "x" }],
    ["an unknown key", { statusCode: 200, cookies: [] }],
    ["a body that is no text", { statusCode: 200, body: { a: 1 } }],
    ["a header that HTTP does not allow", { statusCode: 200, headers: { "x-a": "1\r\nx-b: 2" } }],
  ])("is the template's 500 if the function returns %s", async (_, result) => {
    const response = await responseTo(result);
    expect(response.status).toBe(500);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.text()).toBe('{"error":"Internal error"}');
  });
});

describe("limits", () => {
  test("responds with 413 to a body above 10 MiB after reading all of it, and continues", async () => {
    const response = await fetch(`${base}/items`, { method: "POST", body: Buffer.alloc(11 * 1024 * 1024) });
    expect(response.status).toBe(413);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.text()).toBe('{"error":"Request body too large"}');
    expect((await send("/items/1")).status).toBe(200);
  });

  test("responds with 413 to an event that is larger than a function accepts", async () => {
    const form = new FormData();
    form.append("file", new Blob([Buffer.alloc(5 * 1024 * 1024)]));
    const size = (event: APIGatewayProxyEvent) => {
      const length = JSON.stringify(event).length;
      if (length > PAYLOAD_MAX_BYTES) throw new PayloadTooLargeError(`${length} bytes`);
      return echoed(event);
    };
    const gateway = await start(size);
    onTestFinished(() => gateway.stop());
    const response = await fetch(`http://127.0.0.1:${gateway.port}/items`, { method: "POST", body: form });
    expect(response.status).toBe(413);
    expect(await response.text()).toBe('{"error":"Request body too large"}');
  });

  test("responds with JSON to a request that is not HTTP", async () => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    socket.end("nonsense\r\n\r\n");
    const response = await text(socket);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('{"error":"Malformed request"}');
    expect(response).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
  });

  test("responds with problem details where the template has them and the client accepts them", async () => {
    const accept = "application/json, application/problem+json";
    const response = await fetch(`${base}/items/%zz`, { headers: { accept } });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toEqual({ instance: response.headers.get("x-request-id"), error: "Bad request" });
    const other = await fetch(`${base}/items`, {
      method: "POST",
      body: Buffer.alloc(11 * 1024 * 1024),
      headers: { accept },
    });
    expect(other.headers.get("content-type")).toBe("application/json");
  });

  test.each([
    ["that asks for a tunnel", "CONNECT h:1 HTTP/1.1\r\nHost: h", 400, "Malformed request"],
    ["without Host", "GET /items/1 HTTP/1.1", 400, "the header Host is required"],
    ["that expects what nobody knows", "POST /items HTTP/1.1\r\nHost: h\r\nExpect: foo", 417, "Expect must be"],
  ])("responds with JSON and a request id to a request %s", async (_, head, status, error) => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    socket.write(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    const response = await text(socket);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(response).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
    expect(JSON.parse(response.split("\r\n\r\n")[1] ?? "")).toEqual({ error: expect.stringContaining(error) });
  });

  test("serves HTTP/1.0, which has no Host", async () => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    socket.write("GET /items/1 HTTP/1.0\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("responds with 431 in JSON to headers that are too large", async () => {
    const { status, body } = await send("/items/1", { headers: ["Host", "h", "X-Large", "x".repeat(20_000)] });
    expect([status, body.toString()]).toEqual([431, '{"error":"Request header fields too large"}']);
  });

  test("survives a client that hangs up in its body", async () => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    socket.write("POST /items HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc", () => socket.destroy());
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await send("/items/1")).status).toBe(200);
  });

  test("finishes the requests in flight before it stops", async () => {
    const arrived = Promise.withResolvers<void>();
    const gateway = await start(async (event) => {
      arrived.resolve();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return echoed(event);
    });
    const inFlight = fetch(`http://127.0.0.1:${gateway.port}/items/1`);
    await arrived.promise;
    await gateway.stop();
    expect((await inFlight).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${gateway.port}/items/1`)).rejects.toThrow("fetch failed");
  });

  test("says which port is taken", async () => {
    const { port } = new URL(base);
    await expect(startGateway({ template, functions: new Map(), port: Number(port) })).rejects.toThrow(
      `port ${port} is taken`,
    );
  });
});
