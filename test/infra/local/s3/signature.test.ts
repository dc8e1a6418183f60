import {
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { beforeAll, describe, expect, test } from "vitest";
import { CREDENTIALS, refusalOf, startBucket, type TestBucket } from "./bucket.ts";

let bucket: TestBucket;
beforeAll(async () => {
  bucket = await startBucket();
  return () => bucket.stop();
});

describe("a presigned URL", () => {
  const Key = "plain/report.csv";
  const content = "0123456789";
  const urlOf = (command: GetObjectCommand | HeadObjectCommand | PutObjectCommand, expiresIn = 60): Promise<string> =>
    getSignedUrl(bucket.s3, command, { expiresIn });
  const urlToRead = (more: Partial<GetObjectCommandInput> = {}, expiresIn?: number): Promise<string> =>
    urlOf(new GetObjectCommand({ Bucket: bucket.Bucket, Key, ...more }), expiresIn);
  beforeAll(async () => {
    await bucket.engine.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key, Body: content }));
  });

  test("reads its object, also in parts and by conditions, with the headers that it names", async () => {
    const url = await urlToRead({ ResponseContentType: "text/csv; charset=utf-8" });
    const response = await fetch(url);
    const etag = response.headers.get("etag") ?? "";
    expect([response.headers.get("content-type"), await response.text()]).toEqual(["text/csv; charset=utf-8", content]);
    const part = await fetch(url, { headers: { range: "bytes=2-4", "x-forwarded-for": "::1", accept: "text/csv" } });
    expect([part.status, await part.text()]).toEqual([206, "234"]);
    expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
    const head = await fetch(await urlOf(new HeadObjectCommand({ Bucket: bucket.Bucket, Key })), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(content.length)]);
  });

  test("writes its object", async () => {
    const name = "plain/räksmörgås ½ (1)+~'!*.csv";
    const url = await urlOf(new PutObjectCommand({ Bucket: bucket.Bucket, Key: name }));
    expect((await fetch(url, { method: "PUT", body: "written" })).status).toBe(200);
    expect((await bucket.bytesOf(name)).toString()).toBe("written");
    expect(await (await fetch(await urlToRead({ Key: name }))).text()).toBe("written");
  });

  const changed = (change: (url: URL) => void) => async (): Promise<Response> => {
    const url = new URL(await urlToRead());
    change(url);
    return fetch(url);
  };
  test.each<[string, number, string, () => Promise<Response>]>([
    ["another object", 403, "SignatureDoesNotMatch", changed((url) => (url.pathname += ".old"))],
    ["a longer expiry", 403, "SignatureDoesNotMatch", changed((url) => url.searchParams.set("X-Amz-Expires", "3600"))],
    ["a parameter more", 403, "SignatureDoesNotMatch", changed((url) => url.searchParams.set("versionId", "1"))],
    ["a parameter less", 403, "SignatureDoesNotMatch", changed((url) => url.searchParams.delete("x-id"))],
    [
      "a later date",
      403,
      "SignatureDoesNotMatch",
      changed((url) => {
        const later = new Date(bucket.time.now + 60_000).toISOString().replaceAll(/[-:]|\.\d+/g, "");
        url.searchParams.set("X-Amz-Date", later);
      }),
    ],
    [
      "another signature",
      403,
      "SignatureDoesNotMatch",
      changed((url) => url.searchParams.set("X-Amz-Signature", "0".repeat(64))),
    ],
    ["another host", 403, "SignatureDoesNotMatch", changed((url) => (url.hostname = "localhost"))],
    [
      "an unknown key id",
      403,
      "InvalidAccessKeyId",
      changed((url) => {
        url.searchParams.set("X-Amz-Credential", url.searchParams.get("X-Amz-Credential")!.replace("local", "other"));
      }),
    ],
    [
      "no signature",
      400,
      "AuthorizationQueryParametersError",
      changed((url) => url.searchParams.delete("X-Amz-Signature")),
    ],
    [
      "a month's expiry",
      400,
      "AuthorizationQueryParametersError",
      changed((url) => url.searchParams.set("X-Amz-Expires", "2592000")),
    ],
    ["no query", 403, "AccessDenied", changed((url) => (url.search = ""))],
    [
      "another method",
      403,
      "SignatureDoesNotMatch",
      async () => fetch(await urlToRead(), { method: "PUT", body: "x" }),
    ],
    [
      "an Authorization header",
      400,
      "InvalidArgument",
      async () => fetch(await urlToRead(), { headers: { authorization: "Bearer wi_us_key" } }),
    ],
    [
      "a header of S3 that is not signed",
      403,
      "AccessDenied",
      async () =>
        fetch(await urlOf(new PutObjectCommand({ Bucket: bucket.Bucket, Key })), {
          method: "PUT",
          headers: { "x-amz-copy-source": `/${bucket.Bucket}/plain/other.csv` },
        }),
    ],
    [
      "a secret that is not the account's",
      403,
      "SignatureDoesNotMatch",
      async () => {
        const other = new S3Client({
          endpoint: bucket.endpoint,
          forcePathStyle: true,
          credentials: { ...CREDENTIALS, secretAccessKey: "x" },
        });
        return fetch(await getSignedUrl(other, new GetObjectCommand({ Bucket: bucket.Bucket, Key })));
      },
    ],
  ])("is rejected with %s", async (_, status, code, send) => {
    const response = await send();
    expect(response.headers.get("content-type")).toBe("application/xml");
    expect(await refusalOf(response)).toEqual([status, code]);
    expect((await bucket.bytesOf(Key)).toString()).toBe(content);
  });

  test("is rejected once it has expired, and only then", async () => {
    const url = await urlToRead({}, 60);
    try {
      bucket.time.now = Date.now() + 50_000;
      expect((await fetch(url)).status).toBe(200);
      bucket.time.now = Date.now() + 61_000;
      const response = await fetch(url);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("<Code>AccessDenied</Code><Message>Request has expired</Message>");
    } finally {
      bucket.time.now = Date.now();
    }
  });
});

describe("a request that is signed by its header", () => {
  test("is rejected with another secret, and with a date that is long ago", async () => {
    const credentials = { ...CREDENTIALS, secretAccessKey: "other" };
    const other = new S3Client({ endpoint: bucket.endpoint, forcePathStyle: true, credentials });
    const put = new PutObjectCommand({ Bucket: bucket.Bucket, Key: "plain/forged.txt", Body: "x" });
    await expect(other.send(put)).rejects.toMatchObject({ name: "SignatureDoesNotMatch" });
    const past = new S3Client({
      endpoint: bucket.endpoint,
      forcePathStyle: true,
      credentials: CREDENTIALS,
      systemClockOffset: -3_600_000,
      maxAttempts: 1,
    });
    await expect(past.send(put)).rejects.toMatchObject({ name: "RequestTimeTooSkewed" });
    expect(await bucket.exists("plain/forged.txt")).toBe(false);
  });

  test("is rejected without a signature of S3's kind", async () => {
    const url = `${bucket.endpoint}/${bucket.Bucket}/plain/forged.txt`;
    expect(await refusalOf(await fetch(url, { method: "PUT", body: "x" }))).toEqual([403, "AccessDenied"]);
    const headers = { authorization: "Bearer wi_us_key" };
    expect(await refusalOf(await fetch(url, { method: "PUT", body: "x", headers }))).toEqual([400, "InvalidArgument"]);
    expect(await bucket.exists("plain/forged.txt")).toBe(false);
  });
});
