import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { Upload } from "@aws-sdk/lib-storage";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import type { S3Event } from "aws-lambda";
import { beforeAll, describe, expect, test } from "vitest";
import { keyOf, openBucket, refusalOf, type TestBucket } from "./bucket.ts";

let bucket: TestBucket;
beforeAll(async () => {
  bucket = await openBucket();
});

const nextEvent = async (): Promise<S3Event | undefined> => {
  const { Messages = [] } = await bucket.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: bucket.QueueUrl, VisibilityTimeout: 600 }),
  );
  return Messages[0]?.Body === undefined ? undefined : (JSON.parse(Messages[0].Body) as S3Event);
};

describe("events", () => {
  test("are sent for each way to create an object, before the response to the upload", async () => {
    const put = async (Key: string) =>
      void (await bucket.s3.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key, Body: "a,b\n1,2\n" })));
    const multipart = async (Key: string) =>
      void (await new Upload({
        client: bucket.s3,
        params: { Bucket: bucket.Bucket, Key, Body: Buffer.alloc(6 * 1024 * 1024) },
      }).done());
    const form = async (Key: string) => void (await bucket.post(Key));
    for (const upload of [put, multipart, form]) {
      await upload(keyOf("a job+1"));
      expect((await nextEvent())?.Records).toEqual([
        expect.objectContaining({
          eventSource: "aws:s3",
          eventName: "ObjectCreated:Put",
          awsRegion: "us-east-1",
          s3: expect.objectContaining({
            bucket: expect.objectContaining({ name: bucket.Bucket }),
            object: expect.objectContaining({ key: "uploads/acme/a+job%2B1/source.csv" }),
          }),
        }),
      ]);
      expect(await nextEvent()).toBeUndefined();
    }
  });

  test("do not come for keys that the queue isn't to know", async () => {
    await bucket.s3.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key: "uploads/acme/1/segment-1", Body: "x" }));
    await bucket.s3.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key: "elsewhere/source.csv", Body: "x" }));
    expect(await nextEvent()).toBeUndefined();
  });
});

describe("a link", () => {
  const linkTo = async (options: { readonly expiresIn?: number } = {}) => {
    const Key = keyOf();
    await bucket.s3.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key, Body: "a,b\n" }));
    const command = new GetObjectCommand({
      Bucket: bucket.Bucket,
      Key,
      ResponseContentDisposition: 'attachment; filename="rows.csv"',
    });
    return getSignedUrl(bucket.s3, command, { expiresIn: 60, ...options });
  };

  test("gives the object with the headers that it asks for", async () => {
    const response = await fetch(await linkTo());
    expect([response.status, await response.text()]).toEqual([200, "a,b\n"]);
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="rows.csv"');
  });

  test("expires", async () => {
    expect(await refusalOf(await fetch(await linkTo({ expiresIn: 0 })))).toEqual([403, "AccessDenied"]);
  });

  test("is refused without its signature, or with an authorization beside it", async () => {
    const link = await linkTo();
    expect(await refusalOf(await fetch(link.split("?")[0] ?? ""))).toEqual([403, "AccessDenied"]);
    const headers = { authorization: "Bearer key" };
    expect(await refusalOf(await fetch(link, { headers }))).toEqual([400, "InvalidArgument"]);
  });
});

describe("everything else", () => {
  test("passes through as it is, ranges and conditions included", async () => {
    const Key = "plain/räksmörgås ½.txt";
    await bucket.s3.send(
      new PutObjectCommand({ Bucket: bucket.Bucket, Key, Body: "0123456789", ContentType: "text/plain" }),
    );
    const range = await bucket.s3.send(new GetObjectCommand({ Bucket: bucket.Bucket, Key, Range: "bytes=2-4" }));
    expect([await range.Body?.transformToString(), range.ContentRange]).toEqual(["234", "bytes 2-4/10"]);
    await expect(
      bucket.s3.send(new GetObjectCommand({ Bucket: bucket.Bucket, Key, IfMatch: '"other"' })),
    ).rejects.toMatchObject({
      name: "PreconditionFailed",
    });
    await expect(bucket.s3.send(new GetObjectCommand({ Bucket: bucket.Bucket, Key: "nothing" }))).rejects.toMatchObject(
      {
        name: "NoSuchKey",
      },
    );
  });
});
