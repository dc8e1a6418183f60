import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { start } from "./tiny-api.ts";

describe("the response", () => {
  const responseTo = async (result: unknown, headers: Record<string, string> = {}): Promise<Response> => {
    const gateway = await start(typeof result === "function" ? (result as () => unknown) : () => result);
    onTestFinished(() => gateway.stop());
    return fetch(`http://127.0.0.1:${gateway.port}/items/1`, { headers });
  };

  test("has the function's status and headers", async () => {
    const response = await responseTo({
      statusCode: 201,
      headers: { "X-One": "1", "content-type": "text/plain" },
      body: "made",
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("x-one")).toBe("1");
    expect(response.headers.get("content-type")).toBe("text/plain");
    expect(await response.text()).toBe("made");
  });

  test("is JSON where the function names no content type", async () => {
    expect((await responseTo({ statusCode: 204, body: "" })).headers.get("content-type")).toBe("application/json");
  });

  test("is compressed where the client prefers gzip or deflate, unless it is small or compressed already", async () => {
    const large = { statusCode: 200, body: JSON.stringify("a".repeat(2000)) };
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
      { "accept-encoding": "gzip" },
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

  test("holds the bytes of a result in base64", async () => {
    const result = { statusCode: 200, body: Buffer.from("bytes").toString("base64"), isBase64Encoded: true };
    expect(await (await responseTo(result, { accept: "text/html" })).text()).toBe("bytes");
  });

  test.each([
    ["fails", () => Promise.reject(new Error("no"))],
    [
      "returns a header that HTTP doesn't allow",
      () => ({ statusCode: 200, headers: { "x-a": "1\r\nx-b: 2" }, body: "" }),
    ],
  ])("is a 500 if the function %s", async (_, handler) => {
    const response = await responseTo(handler);
    expect(response.status).toBe(500);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.text()).toBe('{"error":"internal error"}');
  });
});
