import { randomUUID } from "node:crypto";
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { createFaults, type FaultRates } from "./faults.ts";
import type { Proxy } from "./engine-proxy.ts";
import { startS3FaultsProxy } from "./s3-proxy.ts";
import { startSqsProxy } from "./sqs-proxy.ts";

const engineEndpoint = process.env["AWS_ENDPOINT_URL_S3"] ?? "";
let proxy: Proxy;
afterEach(() => proxy.stop());

const nameOf = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => "done",
    (error: Error) => error.name,
  );

describe("SQS on AWS's terms", () => {
  const start = async (rates: FaultRates) => {
    proxy = await startSqsProxy(engineEndpoint, createFaults(1, "sqs", rates));
    const sqs = new SQSClient({ endpoint: proxy.endpoint, useQueueUrlAsEndpoint: false, maxAttempts: 1 });
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: randomUUID() }));
    return {
      sqs,
      QueueUrl,
      send: (MessageBody: string) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody })),
      receive: async (seconds = 0) => {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: seconds }),
        );
        return Messages;
      },
    };
  };
  const bodies = (messages: readonly { Body?: string | undefined }[]) => messages.map(({ Body }) => Body);

  it("delivers a message again while it is worked on, and deletes it", async () => {
    const rates = { duplicate: 1 };
    const { sqs, QueueUrl, send, receive } = await start(rates);
    await send("one");
    expect(bodies(await receive())).toEqual(["one"]);
    rates.duplicate = 0;
    const [again] = await receive();
    expect(again?.Body).toBe("one");
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: again?.ReceiptHandle }));
    expect(await receive()).toEqual([]);
  });

  it("delivers late", async () => {
    const { send, receive } = await start({ late: 1 });
    await send("one");
    expect(await receive()).toEqual([]);
    expect(bodies(await receive(10))).toEqual(["one"]);
  });

  it("delivers out of order", async () => {
    const { send, receive } = await start({});
    const sent = Array.from({ length: 10 }, (_, index) => String(index));
    for (const body of sent) await send(body);
    const received = bodies(await receive());
    expect(received).not.toEqual(sent);
    expect(new Set(received)).toEqual(new Set(sent));
  });

  it("fails single entries of a batch and sends the others", async () => {
    const { sqs, QueueUrl, receive } = await start({ "entry failed": 0.5 });
    const Entries = Array.from({ length: 10 }, (_, index) => ({ Id: String(index), MessageBody: String(index) }));
    const { Failed = [], Successful = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(Failed.length).toBeGreaterThan(0);
    expect(Failed.length + Successful.length).toBe(10);
    expect(new Set(bodies(await receive()))).toEqual(new Set(Successful.map(({ Id }) => Id)));
  });

  it("throttles, fails, and loses responses after it has sent", async () => {
    const rates: Partial<Record<string, number>> = { throttled: 1 };
    const { send, receive } = await start(rates);
    expect(await nameOf(send("throttled"))).toBe("RequestThrottled");
    Object.assign(rates, { throttled: 0, "server fault": 1 });
    expect(await nameOf(send("failed"))).toBe("InternalServerError");
    Object.assign(rates, { "server fault": 0, "lost response": 1 });
    expect(await nameOf(send("lost"))).toMatch(/Error/);
    rates["lost response"] = 0;
    expect(bodies(await receive())).toEqual(["lost"]);
  });

  it("answers with bodies that are not JSON, before it has sent and after it", async () => {
    const rates: Partial<Record<string, number>> = {};
    const { send, receive } = await start(rates);
    for (const [fault, isSent] of [
      ["html", false],
      ["html after", true],
      ["truncated", true],
      ["cut", true],
    ] as const) {
      rates[fault] = 1;
      expect(await nameOf(send(fault)), fault).not.toBe("done");
      rates[fault] = 0;
      expect(bodies(await receive()), fault).toEqual(isSent ? [fault] : []);
    }
    rates["empty"] = 1;
    await send("empty").catch(() => undefined);
    expect(bodies(await receive())).toEqual([]);
  });
});

describe("S3 on AWS's terms", () => {
  it("slows down, denies access, fails, and loses responses after it has stored", async () => {
    const rates: Partial<Record<string, number>> = {};
    proxy = await startS3FaultsProxy(engineEndpoint, createFaults(1, "s3", rates));
    const s3 = new S3Client({ endpoint: proxy.endpoint, forcePathStyle: true, maxAttempts: 1 });
    const Bucket = randomUUID();
    await s3.send(new CreateBucketCommand({ Bucket }));
    const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const read = async (Key: string) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return Body?.transformToString();
    };
    for (const [fault, name, isStored] of [
      ["throttled", /SlowDown/, false],
      ["denied", /AccessDenied/, false],
      ["expired", /ExpiredToken/, false],
      ["server fault", /InternalError/, false],
      ["lost response", /Error/, true],
    ] as const) {
      rates[fault] = 1;
      expect(await nameOf(put(fault)), fault).toMatch(name);
      expect(await nameOf(s3.send(new HeadObjectCommand({ Bucket, Key: fault }))), fault).not.toBe("done");
      rates[fault] = 0;
      expect(await read(fault).catch(() => undefined), fault).toBe(isStored ? fault : undefined);
    }
    await put("calm");
    expect(await read("calm")).toBe("calm");

    for (const fault of ["truncated", "cut", "wrong checksum"]) {
      rates[fault] = 1;
      const received = await read("calm").catch((error: Error) => error);
      // The SDK compares the length and the checksum of a whole object.
      expect(received, fault).toBeInstanceOf(Error);
      rates[fault] = 0;
    }
    for (const [fault, isStored] of [
      ["html", false],
      ["html after", true],
      ["empty", false],
      ["empty after", true],
    ] as const) {
      rates[fault] = 1;
      await put(fault).catch(() => undefined);
      expect(await read("calm").catch(() => undefined), fault).not.toBe("calm");
      rates[fault] = 0;
      expect(await read(fault).catch(() => undefined), fault).toBe(isStored ? fault : undefined);
    }
  });
});
