import { randomUUID } from "node:crypto";
import {
  CreateBucketCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { Upload } from "@aws-sdk/lib-storage";
import { createPresignedPost, type PresignedPostOptions } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import type { S3Event } from "aws-lambda";
import { beforeAll, describe, expect, test } from "vitest";
import { s3Cors } from "../../../../infra/local/s3/cors.ts";
import { startS3Proxy } from "../../../../infra/local/s3/proxy.ts";
import { s3Notifications } from "../../../../infra/local/s3/notification.ts";
import { ResolvedTemplate } from "../../../../infra/local/template.ts";

const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };
const unique = randomUUID();
const engineEndpoint = process.env["AWS_ENDPOINT_URL_S3"] ?? "";
const template = new ResolvedTemplate({
  stackName: `proxy-${unique}`,
  region: "us-east-1",
  sqsEndpoint: engineEndpoint,
  template: {
    Resources: {
      Api: { Type: "AWS::ApiGateway::RestApi" },
      Q: { Type: "AWS::SQS::Queue" },
      B: {
        Type: "AWS::S3::Bucket",
        Properties: {
          CorsConfiguration: {
            CorsRules: [
              {
                AllowedMethods: ["POST", "GET"],
                AllowedHeaders: ["*"],
                AllowedOrigins: [
                  { "Fn::Join": ["", ["https://", { Ref: "Api" }, ".execute-api.us-east-1.amazonaws.com"]] },
                ],
                MaxAge: 3600,
              },
            ],
          },
          NotificationConfiguration: {
            QueueConfigurations: [
              {
                Event: "s3:ObjectCreated:*",
                Queue: { "Fn::GetAtt": ["Q", "Arn"] },
                Filter: {
                  S3Key: {
                    Rules: [
                      { Name: "prefix", Value: "uploads/" },
                      { Name: "suffix", Value: "source.csv" },
                    ],
                  },
                },
              },
            ],
          },
        },
      },
    },
  },
});
const Bucket = template.physicalName("B");
const QueueUrl = `${engineEndpoint}/000000000000/${template.physicalName("Q")}`;
const engine = new S3Client({ endpoint: engineEndpoint, forcePathStyle: true });
const sqs = new SQSClient({});

let now = Date.now();
let endpoint: string;
let s3: S3Client;
beforeAll(async () => {
  await engine.send(new CreateBucketCommand({ Bucket }));
  await sqs.send(new CreateQueueCommand({ QueueName: template.physicalName("Q") }));
  const proxy = await startS3Proxy({
    engineEndpoint,
    s3: engine,
    signer: CREDENTIALS,
    clock: () => now,
    allowOrigin: s3Cors(template, () => ["http://localhost:3000"]),
    notify: s3Notifications(template, { s3: engine, sqs, sqsEndpoint: engineEndpoint }),
  });
  endpoint = proxy.endpoint;
  s3 = new S3Client({ endpoint, forcePathStyle: true, credentials: CREDENTIALS });
  return () => proxy.stop();
});

const keyOf = (name: string = randomUUID()): string => `uploads/acme/${name}/source.csv`;
const bytesOf = async (Key: string): Promise<Buffer> => {
  const { Body } = await engine.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
const exists = (Key: string): Promise<boolean> =>
  engine.send(new HeadObjectCommand({ Bucket, Key })).then(
    () => true,
    () => false,
  );
const nextEvent = async (): Promise<S3Event | undefined> => {
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 600 }));
  return Messages[0]?.Body === undefined ? undefined : (JSON.parse(Messages[0].Body) as S3Event);
};

interface Form {
  readonly options?: Partial<PresignedPostOptions>;
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly file?: Blob | null;
  readonly headers?: Record<string, string>;
}
const post = async (Key: string, { options, fields = {}, file = new Blob(["a,b\n"]), headers = {} }: Form = {}) => {
  const signed = await createPresignedPost(s3, { Bucket, Key, Expires: 900, ...options });
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...signed.fields, ...fields })) {
    if (value !== undefined) form.append(name, value);
  }
  if (file !== null) form.append("file", file, "people.csv");
  return fetch(signed.url, { method: "POST", body: form, headers });
};
const refusalOf = async (response: Response): Promise<[number, string | undefined]> => [
  response.status,
  /<Code>(.*)<\/Code>/.exec(await response.text())?.[1],
];

describe("a presigned form", () => {
  test("stores the file and responds as S3 does", async () => {
    const Key = keyOf();
    const response = await post(Key);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(response.headers.get("etag")).toMatch(/^"[0-9a-f]{32}"$/);
    expect((await bytesOf(Key)).toString()).toBe("a,b\n");
  });

  test("stores a file that the embedded S3 would not take in one request", async () => {
    const Key = keyOf();
    const file = Buffer.alloc(20 * 1024 * 1024, "0123456789abcde\n");
    const size = file.length;
    const options: Partial<PresignedPostOptions> = { Conditions: [["content-length-range", size, size]] };
    const response = await post(Key, { file: new Blob([file]), options });
    expect(response.status).toBe(204);
    expect((await bytesOf(Key)).equals(file)).toBe(true);
  });

  test("responds with 201 and the object's location if the form requests it", async () => {
    const Key = keyOf();
    const response = await post(Key, { options: { Fields: { success_action_status: "201" } } });
    expect(response.status).toBe(201);
    expect(await response.text()).toContain(`<Bucket>${Bucket}</Bucket><Key>${Key}</Key>`);
  });

  test("puts the file's name where the key asks for it", async () => {
    const directory = `uploads/${randomUUID()}/`;
    const options: Partial<PresignedPostOptions> = { Conditions: [["starts-with", "$key", directory]] };
    expect((await post(`${directory}\${filename}`, { options })).status).toBe(204);
    expect(await exists(`${directory}people.csv`)).toBe(true);
  });

  test.each<[string, Form, number, string]>([
    ["another key than it was signed for", { fields: { key: "uploads/other/source.csv" } }, 403, "AccessDenied"],
    [
      "a changed policy",
      { fields: { Policy: Buffer.from('{"expiration":"2999-01-01T00:00:00Z","conditions":[]}').toString("base64") } },
      403,
      "SignatureDoesNotMatch",
    ],
    ["no policy", { fields: { Policy: undefined } }, 403, "AccessDenied"],
    [
      "a foreign access key",
      { fields: { "X-Amz-Credential": "other/20260101/us-east-1/s3/aws4_request" } },
      403,
      "InvalidAccessKeyId",
    ],
    ["a field that the policy does not name", { fields: { "x-amz-meta-more": "1" } }, 403, "AccessDenied"],
    ["no key", { fields: { key: undefined } }, 400, "InvalidArgument"],
    ["no file", { file: null }, 400, "InvalidArgument"],
    ["a file that is too large", { options: { Conditions: [["content-length-range", 1, 3]] } }, 400, "EntityTooLarge"],
    ["a file that is too small", { options: { Conditions: [["content-length-range", 5, 9]] } }, 400, "EntityTooSmall"],
  ])("is refused with %s", async (_, form, status, code) => {
    const Key = keyOf();
    expect(await refusalOf(await post(Key, form))).toEqual([status, code]);
    expect(await exists(Key)).toBe(false);
  });

  test("is rejected once it has expired", async () => {
    const Key = keyOf();
    now = Date.now() + 901_000;
    try {
      expect(await refusalOf(await post(Key))).toEqual([403, "AccessDenied"]);
    } finally {
      now = Date.now();
    }
    expect(await exists(Key)).toBe(false);
  });

  test("leaves nothing behind of a large file that is rejected at its end", async () => {
    const Key = keyOf();
    const options: Partial<PresignedPostOptions> = { Conditions: [["content-length-range", 1, 9 * 1024 * 1024]] };
    const file = new Blob([Buffer.alloc(10 * 1024 * 1024)]);
    expect(await refusalOf(await post(Key, { options, file }))).toEqual([400, "EntityTooLarge"]);
    expect(await exists(Key)).toBe(false);
  });

  test("is rejected if it is incomplete", async () => {
    const Key = keyOf();
    const signed = await createPresignedPost(s3, { Bucket, Key });
    const fieldOf = (name: string, value: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const fields = Object.entries(signed.fields).map(([name, value]) => fieldOf(name, value));
    const body = `${fields.join("")}--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nhalf a f`;
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const response = await fetch(signed.url, { method: "POST", headers, body });
    expect(await refusalOf(response)).toEqual([400, "MalformedPOSTRequest"]);
    expect(await exists(Key)).toBe(false);
  });
});

describe("event notifications", () => {
  test("are sent for each way to create an object, before the response to the upload", async () => {
    const put = async (Key: string) => void (await s3.send(new PutObjectCommand({ Bucket, Key, Body: "a,b\n1,2\n" })));
    const multipart = async (Key: string) =>
      void (await new Upload({ client: s3, params: { Bucket, Key, Body: Buffer.alloc(6 * 1024 * 1024) } }).done());
    const form = async (Key: string) => void (await post(Key));
    for (const [how, upload, size] of [
      ["Put", put, 8],
      ["CompleteMultipartUpload", multipart, 6 * 1024 * 1024],
      ["Post", form, 4],
    ] as const) {
      while ((await nextEvent()) !== undefined);
      const Key = keyOf("a job+1");
      await upload(Key);
      const { ETag } = await engine.send(new HeadObjectCommand({ Bucket, Key }));
      expect((await nextEvent())?.Records).toEqual([
        expect.objectContaining({
          eventSource: "aws:s3",
          eventName: `ObjectCreated:${how}`,
          awsRegion: "us-east-1",
          s3: expect.objectContaining({
            bucket: expect.objectContaining({ name: Bucket }),
            object: expect.objectContaining({
              key: "uploads/acme/a+job%2B1/source.csv",
              size,
              eTag: ETag?.replaceAll('"', ""),
            }),
          }),
        }),
      ]);
    }
  });

  test("do not come for keys outside the template's filter", async () => {
    while ((await nextEvent()) !== undefined);
    await s3.send(new PutObjectCommand({ Bucket, Key: "uploads/acme/1/segment-1", Body: "x" }));
    await s3.send(new PutObjectCommand({ Bucket, Key: "elsewhere/source.csv", Body: "x" }));
    expect(await nextEvent()).toBeUndefined();
  });
});

describe("everything else", () => {
  test("passes through as it is, ranges and conditions included", async () => {
    const Key = "plain/räksmörgås ½.txt";
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: "0123456789", ContentType: "text/plain" }));
    const range = await s3.send(new GetObjectCommand({ Bucket, Key, Range: "bytes=2-4" }));
    expect([await range.Body?.transformToString(), range.ContentRange]).toEqual(["234", "bytes 2-4/10"]);
    await expect(s3.send(new GetObjectCommand({ Bucket, Key, IfMatch: '"other"' }))).rejects.toMatchObject({
      name: "PreconditionFailed",
    });
    await expect(s3.send(new GetObjectCommand({ Bucket, Key: "nothing" }))).rejects.toMatchObject({
      name: "NoSuchKey",
    });
  });
});

describe("a presigned URL", () => {
  const Key = "plain/report.csv";
  const content = "0123456789";
  const urlOf = (command: GetObjectCommand | HeadObjectCommand | PutObjectCommand, expiresIn = 60): Promise<string> =>
    getSignedUrl(s3, command, { expiresIn });
  const urlToRead = (more: Partial<GetObjectCommandInput> = {}, expiresIn?: number): Promise<string> =>
    urlOf(new GetObjectCommand({ Bucket, Key, ...more }), expiresIn);
  beforeAll(async () => {
    await engine.send(new PutObjectCommand({ Bucket, Key, Body: content }));
  });

  test("reads its object, also in parts and by conditions, with the headers that it names", async () => {
    const url = await urlToRead({ ResponseContentType: "text/csv; charset=utf-8" });
    const response = await fetch(url);
    const etag = response.headers.get("etag") ?? "";
    expect([response.headers.get("content-type"), await response.text()]).toEqual(["text/csv; charset=utf-8", content]);
    const part = await fetch(url, { headers: { range: "bytes=2-4", "x-forwarded-for": "::1", accept: "text/csv" } });
    expect([part.status, await part.text()]).toEqual([206, "234"]);
    expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
    const head = await fetch(await urlOf(new HeadObjectCommand({ Bucket, Key })), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(content.length)]);
  });

  test("writes its object", async () => {
    const name = "plain/räksmörgås ½ (1)+~'!*.csv";
    const url = await urlOf(new PutObjectCommand({ Bucket, Key: name }));
    expect((await fetch(url, { method: "PUT", body: "written" })).status).toBe(200);
    expect((await bytesOf(name)).toString()).toBe("written");
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
        const later = new Date(now + 60_000).toISOString().replaceAll(/[-:]|\.\d+/g, "");
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
        fetch(await urlOf(new PutObjectCommand({ Bucket, Key })), {
          method: "PUT",
          headers: { "x-amz-copy-source": `/${Bucket}/plain/other.csv` },
        }),
    ],
    [
      "a secret that is not the account's",
      403,
      "SignatureDoesNotMatch",
      async () => {
        const other = new S3Client({
          endpoint,
          forcePathStyle: true,
          credentials: { ...CREDENTIALS, secretAccessKey: "x" },
        });
        return fetch(await getSignedUrl(other, new GetObjectCommand({ Bucket, Key })));
      },
    ],
  ])("is refused with %s", async (_, status, code, send) => {
    const response = await send();
    expect(response.headers.get("content-type")).toBe("application/xml");
    expect(await refusalOf(response)).toEqual([status, code]);
    expect((await bytesOf(Key)).toString()).toBe(content);
  });

  test("is refused once it has expired, and only then", async () => {
    const url = await urlToRead({}, 60);
    try {
      now = Date.now() + 50_000;
      expect((await fetch(url)).status).toBe(200);
      now = Date.now() + 61_000;
      const response = await fetch(url);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("<Code>AccessDenied</Code><Message>Request has expired</Message>");
    } finally {
      now = Date.now();
    }
  });
});

describe("a request that is signed by its header", () => {
  test("is refused with another secret, and with a date that is long ago", async () => {
    const credentials = { ...CREDENTIALS, secretAccessKey: "other" };
    const other = new S3Client({ endpoint, forcePathStyle: true, credentials });
    const put = new PutObjectCommand({ Bucket, Key: "plain/forged.txt", Body: "x" });
    await expect(other.send(put)).rejects.toMatchObject({ name: "SignatureDoesNotMatch" });
    const past = new S3Client({
      endpoint,
      forcePathStyle: true,
      credentials: CREDENTIALS,
      systemClockOffset: -3_600_000,
      maxAttempts: 1,
    });
    await expect(past.send(put)).rejects.toMatchObject({ name: "RequestTimeTooSkewed" });
    expect(await exists("plain/forged.txt")).toBe(false);
  });

  test("is refused without a signature of S3's kind", async () => {
    const url = `${endpoint}/${Bucket}/plain/forged.txt`;
    expect(await refusalOf(await fetch(url, { method: "PUT", body: "x" }))).toEqual([403, "AccessDenied"]);
    const headers = { authorization: "Bearer wi_us_key" };
    expect(await refusalOf(await fetch(url, { method: "PUT", body: "x", headers }))).toEqual([400, "InvalidArgument"]);
    expect(await exists("plain/forged.txt")).toBe(false);
  });
});

describe("pages of other origins", () => {
  const preflight = (origin: string, method: string) =>
    fetch(`${endpoint}/${Bucket}`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method, "access-control-request-headers": "x-a" },
    });

  test("may use the bucket where the template allows the API's own origin", async () => {
    const response = await preflight("http://localhost:3000", "POST");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "access-control-allow-origin": "http://localhost:3000",
      "access-control-allow-methods": "POST, GET",
      "access-control-allow-headers": "x-a",
      "access-control-max-age": "3600",
    });
    const posted = await post(keyOf(), { headers: { origin: "http://localhost:3000" } });
    expect(posted.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
  });

  test.each([
    ["http://elsewhere.example", "POST"],
    ["http://localhost:3000", "DELETE"],
  ])("are kept out otherwise: %s %s", async (origin, method) => {
    expect(await refusalOf(await preflight(origin, method))).toEqual([403, "AccessForbidden"]);
  });
});
