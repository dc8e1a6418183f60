import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../../../apps/local/gateway/gateway.ts";
import { GATEWAY_RESPONSES } from "../../../../infra/gateway-responses.ts";
import { echoed, logged, sendTo, start } from "./tiny-api.ts";

let base: string;
beforeAll(async () => {
  const gateway = await start();
  base = `http://127.0.0.1:${gateway.port}`;
  return () => gateway.stop();
});

const send = (path: string, options?: Parameters<typeof sendTo>[2]) => sendTo(base, path, options);

describe("limits", () => {
  test("responds with 413 to a body above 10 MiB after reading all of it, and continues", async () => {
    const response = await fetch(`${base}/items`, { method: "POST", body: Buffer.alloc(11 * 1024 * 1024) });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ error: GATEWAY_RESPONSES.REQUEST_TOO_LARGE.error });
    expect((await send("/items/1")).status).toBe(200);
  });

  test("responds with 413 to an event that is larger than a function accepts", async () => {
    const form = new FormData();
    form.append("file", new Blob([Buffer.alloc(5 * 1024 * 1024)]));
    const response = await fetch(`${base}/items`, { method: "POST", body: form });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ error: GATEWAY_RESPONSES.REQUEST_TOO_LARGE.error });
  });

  test("responds with 500 to a result that is larger than a function may return, and logs it", async () => {
    const gateway = await start(() => ({ statusCode: 200, body: '"'.repeat(3.2 * 1024 * 1024) }));
    onTestFinished(() => gateway.stop());
    logged.length = 0;
    const response = await fetch(`http://127.0.0.1:${gateway.port}/items/1`);
    expect([response.status, await response.json()]).toEqual([500, { error: "internal error" }]);
    expect(logged).toEqual([["response refused", expect.objectContaining({ path: "/items/{id}" })]]);
  });

  test("lets pages of the allowed origin read its own responses", async () => {
    const gateway = await start(echoed, ["https://app.example.com"]);
    onTestFinished(() => gateway.stop());
    const { headers } = await fetch(`http://127.0.0.1:${gateway.port}/items/%zz`);
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
  });

  test("responds with JSON to a request that is not HTTP", async () => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    socket.end("nonsense\r\n\r\n");
    const response = await text(socket);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('{"error":"Malformed request"}');
    expect(response).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
  });

  test("responds with 431 to a request line that is larger than the gateway takes", async () => {
    expect((await send(`/items/1?q=${"a".repeat(9 * 1024)}`)).status).toBe(200);
    expect((await send(`/items/1?q=${"a".repeat(10 * 1024)}`)).status).toBe(431);
  });

  test.each([
    ["http://work.example.com:80/items/7?a=b", 200, '"path":"/items/7","httpMethod":"GET"'],
    ["HTTPS://work.example.com/items/7?a=/b", 200, '"queryStringParameters":{"a":"/b"}'],
    ["http://work.example.com?a=b", 405, '"/"'],
  ])("takes the target %s in absolute form", async (target, status, shown) => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    socket.end(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    const response = await text(socket);
    expect(response).toContain(`HTTP/1.1 ${status} `);
    expect(response).toContain(shown);
  });

  test("responds with problem details where the client accepts them", async () => {
    const accept = "application/json, application/problem+json";
    const response = await fetch(`${base}/items/%zz`, { headers: { accept } });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const instance = response.headers.get("x-request-id");
    expect(await response.json()).toMatchObject({ instance, status: 400, error: "malformed request" });
    const other = await fetch(`${base}/items/%zz`);
    expect(other.headers.get("content-type")).toBe("application/json");
  });

  test.each([
    ["that asks for a tunnel", "CONNECT h:1 HTTP/1.1\r\nHost: h", 400, "Malformed request"],
    ["without Host", "GET /items/1 HTTP/1.1", 400, "the header Host is required"],
    ["that has an unknown expectation", "POST /items HTTP/1.1\r\nHost: h\r\nExpect: foo", 417, "Expect must be"],
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
    await expect(
      startGateway({
        endpoints: [],
        unknown: async () => undefined,
        allowedOrigins: [],
        log: { error: () => {} },
        port: Number(port),
      }),
    ).rejects.toThrow(`port ${port} is taken`);
  });
});
