import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { Upload } from "@aws-sdk/lib-storage";
import type { S3Event } from "aws-lambda";
import { beforeAll, describe, expect, test } from "vitest";
import { keyOf, startBucket, type TestBucket } from "./bucket.ts";

let bucket: TestBucket;
beforeAll(async () => {
  bucket = await startBucket();
  return () => bucket.stop();
});

const nextEvent = async (): Promise<S3Event | undefined> => {
  const { Messages = [] } = await bucket.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: bucket.QueueUrl, VisibilityTimeout: 600 }),
  );
  return Messages[0]?.Body === undefined ? undefined : (JSON.parse(Messages[0].Body) as S3Event);
};

describe("event notifications", () => {
  test("are sent for each way to create an object, before the response to the upload", async () => {
    const put = async (Key: string) =>
      void (await bucket.s3.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key, Body: "a,b\n1,2\n" })));
    const multipart = async (Key: string) =>
      void (await new Upload({
        client: bucket.s3,
        params: { Bucket: bucket.Bucket, Key, Body: Buffer.alloc(6 * 1024 * 1024) },
      }).done());
    const form = async (Key: string) => void (await bucket.post(Key));
    for (const [how, upload, size] of [
      ["Put", put, 8],
      ["CompleteMultipartUpload", multipart, 6 * 1024 * 1024],
      ["Post", form, 4],
    ] as const) {
      while ((await nextEvent()) !== undefined);
      const Key = keyOf("a job+1");
      await upload(Key);
      const { ETag } = await bucket.engine.send(new HeadObjectCommand({ Bucket: bucket.Bucket, Key }));
      expect((await nextEvent())?.Records).toEqual([
        expect.objectContaining({
          eventSource: "aws:s3",
          eventName: `ObjectCreated:${how}`,
          awsRegion: "us-east-1",
          s3: expect.objectContaining({
            bucket: expect.objectContaining({ name: bucket.Bucket }),
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
    await bucket.s3.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key: "uploads/acme/1/segment-1", Body: "x" }));
    await bucket.s3.send(new PutObjectCommand({ Bucket: bucket.Bucket, Key: "elsewhere/source.csv", Body: "x" }));
    expect(await nextEvent()).toBeUndefined();
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
