import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { responseCoding, unpackRequest } from "../../../../apps/local/gateway/content-coding.ts";

const body = Buffer.from('{"name":"ä"}');
const MAXIMUM = 1000;

describe("the body of a request", () => {
  it.each([
    [undefined, body],
    ["identity", body],
    ["gzip", gzipSync(body)],
    ["GZip", gzipSync(body)],
    ["X-Gzip", gzipSync(body)],
    ["deflate", deflateSync(body)],
  ])("is unpacked from %s", (coding, sent) => {
    expect(unpackRequest(sent, coding, MAXIMUM)).toEqual(body);
  });

  it.each([
    ["br", brotliCompressSync(body)],
    ["gzip", body],
    ["deflate", gzipSync(body)],
    ["gzip", gzipSync(body).subarray(0, -1)],
    ["gzip, gzip", gzipSync(gzipSync(body))],
  ])("is rejected as %s if it is in another coding", (coding, sent) => {
    expect(unpackRequest(sent, coding, MAXIMUM)).toBe("unsupported");
  });

  it("is rejected above the maximum, and may be empty", () => {
    expect(unpackRequest(gzipSync(Buffer.alloc(MAXIMUM)), "gzip", MAXIMUM)).toHaveLength(MAXIMUM);
    expect(unpackRequest(gzipSync(Buffer.alloc(MAXIMUM + 1)), "gzip", MAXIMUM)).toBe("too large");
    expect(unpackRequest(Buffer.alloc(0), "gzip", MAXIMUM)).toHaveLength(0);
  });
});

describe("the coding of a response", () => {
  it.each([
    ["gzip", "gzip"],
    ["gzip, deflate, br", "gzip"],
    ["deflate;q=0.9, gzip;q=0.5", "deflate"],
    ["br;q=0.1, gzip", "gzip"],
    ["br, gzip", undefined],
    ["identity, gzip;q=0.5", undefined],
    ["gzip;q=0", undefined],
    ["*", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("for Accept-Encoding: %s is %s", (header, coding) => {
    expect(responseCoding(header)).toBe(coding);
  });
});
