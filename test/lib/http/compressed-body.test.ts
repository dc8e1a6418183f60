import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { BodyTooLargeError, MalformedBodyError, UnsupportedMediaTypeError } from "../../../lib/errors.ts";
import { BODY_MAX_BYTES, readJsonBody } from "../../../lib/http/request-body.ts";
import { readUploadBody } from "../../../lib/uploads/files/upload-body.ts";

const json = Buffer.from('{"name":"ä"}');
const file = "external_id\r\nä\r\n";
const form = Buffer.from(
  `--x\r\nContent-Disposition: form-data; name="upload[file]"; filename="a.csv"\r\n\r\n${file}\r\n--x--\r\n`,
);

/** Reads a body as a type. @param contentEncoding absent if undefined */
const read = (body: Buffer, contentEncoding: string | undefined, contentType = "application/json") =>
  (contentType === "application/json" ? readJsonBody : readUploadBody)(
    { body: body.toString("base64"), isBase64Encoded: true },
    { "content-type": contentType, ...(contentEncoding !== undefined && { "content-encoding": contentEncoding }) },
  );

describe("a body in gzip", () => {
  it.each(["gzip", "GZIP", "x-gzip", " gzip "])("is unpacked for Content-Encoding: %s", async (coding) => {
    expect(await read(gzipSync(json), coding)).toEqual({ kind: "json", value: { name: "ä" } });
  });

  it("may be a multipart form", async () => {
    const body = await read(gzipSync(form), "gzip", "multipart/form-data; boundary=x");
    expect(body).toEqual({
      kind: "file",
      file: { filename: "a.csv", content: Buffer.from(file) },
      fields: { upload: {} },
    });
  });

  it("is taken as it is if a gateway has unpacked it and left the header", async () => {
    expect(await read(json, "gzip")).toEqual({ kind: "json", value: { name: "ä" } });
    expect(await read(form, "gzip", "multipart/form-data; boundary=x")).toMatchObject({ kind: "file" });
  });

  it("is malformed without its header", async () => {
    await expect(read(gzipSync(json), undefined)).rejects.toThrow(MalformedBodyError);
  });

  it.each([
    ["cut off", gzipSync(json).subarray(0, -9)],
    ["damaged", Buffer.concat([gzipSync(json).subarray(0, 12), Buffer.alloc(40, 7)])],
    ["only its first bytes", Buffer.from([0x1f, 0x8b])],
  ])("is malformed if it is %s", async (_, body) => {
    await expect(read(body, "gzip")).rejects.toThrow(MalformedBodyError);
  });

  it("may unpack to 4 MiB and no more, without unpacking the rest", async () => {
    const text = (bytes: number) => gzipSync(Buffer.from(`"${"a".repeat(bytes - 2)}"`));
    expect(await read(text(BODY_MAX_BYTES), "gzip")).toMatchObject({ kind: "json" });
    await expect(read(text(BODY_MAX_BYTES + 1), "gzip")).rejects.toThrow(BodyTooLargeError);
    const bomb = gzipSync(Buffer.alloc(400 * 1024 ** 2));
    const started = process.memoryUsage().rss;
    await expect(read(bomb, "gzip")).rejects.toThrow(/^the request body must be at most 4194304 bytes$/);
    expect(process.memoryUsage().rss - started).toBeLessThan(200 * 1024 ** 2);
  });
});

describe("another coding", () => {
  it.each([
    ["deflate", deflateSync(json)],
    ["br", json],
    ["gzip, gzip", gzipSync(gzipSync(json))],
  ])("is rejected: %s", async (coding, body) => {
    await expect(read(body, coding)).rejects.toThrow(UnsupportedMediaTypeError);
  });

  it("may be identity", async () => {
    expect(await read(json, "identity")).toMatchObject({ kind: "json" });
  });
});
