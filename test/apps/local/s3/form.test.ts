import { createPresignedPost, type PresignedPostOptions } from "@aws-sdk/s3-presigned-post";
import { beforeAll, describe, expect, test } from "vitest";
import { type Form, keyOf, refusalOf, openBucket, type TestBucket } from "./bucket.ts";

let bucket: TestBucket;
beforeAll(async () => {
  bucket = await openBucket();
});

describe("a presigned form", () => {
  test("stores the file and responds as S3 does", async () => {
    const Key = keyOf();
    const response = await bucket.post(Key);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(response.headers.get("etag")).toMatch(/^"[0-9a-f]{32}"$/);
    expect((await bucket.bytesOf(Key)).toString()).toBe("a,b\n");
  });

  test("stores a file that the embedded S3 would not take in one request", async () => {
    const Key = keyOf();
    const file = Buffer.alloc(20 * 1024 * 1024, "0123456789abcde\n");
    const size = file.length;
    const options: Partial<PresignedPostOptions> = { Conditions: [["content-length-range", size, size]] };
    const response = await bucket.post(Key, { file: new Blob([file]), options });
    expect(response.status).toBe(204);
    expect((await bucket.bytesOf(Key)).equals(file)).toBe(true);
  });

  test.each<[string, Form, number, string]>([
    ["another key than it was signed for", { fields: { key: "uploads/other/source.csv" } }, 403, "AccessDenied"],
    ["a policy that isn't one", { fields: { Policy: "e30=" } }, 400, "InvalidPolicyDocument"],
    ["no policy", { fields: { Policy: undefined } }, 403, "AccessDenied"],
    ["a field that the policy does not name", { fields: { "x-amz-meta-more": "1" } }, 403, "AccessDenied"],
    ["no key", { fields: { key: undefined } }, 400, "InvalidArgument"],
    ["no file", { file: null }, 400, "InvalidArgument"],
    ["a file that is too large", { options: { Conditions: [["content-length-range", 1, 3]] } }, 400, "EntityTooLarge"],
    ["a file that is too small", { options: { Conditions: [["content-length-range", 5, 9]] } }, 400, "EntityTooSmall"],
  ])("is rejected with %s", async (_, form, status, code) => {
    const Key = keyOf();
    expect(await refusalOf(await bucket.post(Key, form))).toEqual([status, code]);
    expect(await bucket.exists(Key)).toBe(false);
  });

  test("is rejected once it has expired", async () => {
    const Key = keyOf();
    expect(await refusalOf(await bucket.post(Key, { options: { Expires: -1 } }))).toEqual([403, "AccessDenied"]);
    expect(await bucket.exists(Key)).toBe(false);
  });

  test("leaves nothing behind of a large file that is rejected at its end", async () => {
    const Key = keyOf();
    const options: Partial<PresignedPostOptions> = { Conditions: [["content-length-range", 1, 9 * 1024 * 1024]] };
    const file = new Blob([Buffer.alloc(10 * 1024 * 1024)]);
    expect(await refusalOf(await bucket.post(Key, { options, file }))).toEqual([400, "EntityTooLarge"]);
    expect(await bucket.exists(Key)).toBe(false);
  });

  test("is rejected if it is incomplete", async () => {
    const Key = keyOf();
    const signed = await createPresignedPost(bucket.s3, { Bucket: bucket.Bucket, Key });
    const fieldOf = (name: string, value: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const fields = Object.entries(signed.fields).map(([name, value]) => fieldOf(name, value));
    const body = `${fields.join("")}--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nhalf a f`;
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const response = await fetch(signed.url, { method: "POST", headers, body });
    expect(await refusalOf(response)).toEqual([400, "MalformedPOSTRequest"]);
    expect(await bucket.exists(Key)).toBe(false);
  });
});

describe("pages of other origins", () => {
  const preflight = (origin: string, method: string) =>
    fetch(`${bucket.endpoint}/${bucket.Bucket}`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method, "access-control-request-headers": "x-a" },
    });

  test("may use the bucket where the service allows it", async () => {
    const response = await preflight("http://localhost:3000", "POST");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "access-control-allow-origin": "http://localhost:3000",
      "access-control-allow-methods": "POST, GET",
      "access-control-allow-headers": "x-a",
      "access-control-max-age": "3600",
    });
    const posted = await bucket.post(keyOf(), { headers: { origin: "http://localhost:3000" } });
    expect(posted.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
  });

  test.each([
    ["http://elsewhere.example", "POST"],
    ["http://localhost:3000", "DELETE"],
  ])("are kept out otherwise: %s %s", async (origin, method) => {
    expect(await refusalOf(await preflight(origin, method))).toEqual([403, "AccessForbidden"]);
  });
});
