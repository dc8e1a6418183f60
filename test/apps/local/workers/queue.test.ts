import { randomUUID } from "node:crypto";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { expect, onTestFinished, test } from "vitest";
import { pollQueue, type QueueSource } from "../../../../apps/local/workers/queue.ts";

const sqs = new SQSClient({});

const createQueue = async (attributes: Record<string, string> = {}, suffix = "") => {
  const QueueName = randomUUID() + suffix;
  await sqs.send(new CreateQueueCommand({ QueueName, Attributes: attributes }));
  const url = `${process.env["AWS_ENDPOINT_URL_SQS"]}/000000000000/${QueueName}`;
  return { url, arn: `arn:aws:sqs:us-east-1:000000000000:${QueueName}` };
};

const countIn = async (url: string): Promise<number> => {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }));
  return (
    Number(Attributes["ApproximateNumberOfMessages"]) + Number(Attributes["ApproximateNumberOfMessagesNotVisible"])
  );
};

const DONE: SQSBatchResponse = { batchItemFailures: [] };

const poll = (
  queue: { url: string; arn: string },
  handler: (event: SQSEvent) => unknown,
  settings: Partial<QueueSource> = {},
) => {
  const poller = pollQueue(
    {
      queueUrl: queue.url,
      batchSize: 1,
      maximumConcurrency: 2,
      ...settings,
    },
    async (event) => (await handler(event as SQSEvent)) ?? DONE,
    sqs,
  );
  onTestFinished(() => poller.stop());
  return poller;
};

const sendAll = (url: string, bodies: readonly string[]) =>
  Promise.all(bodies.map((MessageBody) => sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody }))));
const failing = (event: SQSEvent, body: string): SQSBatchResponse => ({
  batchItemFailures: event.Records.filter((record) => record.body === body).map((record) => ({
    itemIdentifier: record.messageId,
  })),
});

test("hands messages over in the form that Lambda gives them, at once, and deletes them", async () => {
  const queue = await createQueue();
  const events: SQSEvent[] = [];
  poll(queue, (event) => void events.push(event));
  const from = Date.now();
  await sendAll(queue.url, ["hello"]);
  await expect.poll(() => events.length).toBe(1);
  // A poll that is not answered at once takes 20 s.
  expect(Date.now() - from).toBeLessThan(10_000);
  expect(events[0]?.Records).toEqual([
    expect.objectContaining({
      body: "hello",
      eventSource: "aws:sqs",
      eventSourceARN: queue.arn,
      awsRegion: "us-east-1",
      attributes: expect.objectContaining({ ApproximateReceiveCount: "1" }),
    }),
  ]);
  await expect.poll(() => countIn(queue.url)).toBe(0);
});

test("brings back only the messages that the function names", async () => {
  const queue = await createQueue({ VisibilityTimeout: "1" });
  await sendAll(queue.url, ["good", "bad", "fine"]);
  const bodies: string[] = [];
  poll(
    queue,
    (event) => {
      bodies.push(...event.Records.map(({ body }) => body));
      return bodies.filter((body) => body === "bad").length < 2 ? failing(event, "bad") : undefined;
    },
    { batchSize: 10 },
  );
  await expect.poll(() => bodies.toSorted()).toEqual(["bad", "bad", "fine", "good"]);
  await expect.poll(() => countIn(queue.url)).toBe(0);
});

test.each<[string, (event: SQSEvent) => unknown]>([
  ["throws", () => Promise.reject(new Error("no"))],
  ["names a message that is not in the batch", () => ({ batchItemFailures: [{ itemIdentifier: "other" }] })],
  ["returns a malformed response", () => ({ batchItemFailures: "all" })],
])("keeps the whole batch where the function %s", async (_, handler) => {
  const queue = await createQueue();
  await sendAll(queue.url, ["one", "two"]);
  let events = 0;
  const poller = poll(
    queue,
    async (event) => {
      events += event.Records.length;
      return handler(event);
    },
    { batchSize: 10 },
  );
  await expect.poll(() => events).toBe(2);
  await poller.stop();
  expect(await countIn(queue.url)).toBe(2);
});

test("delivers the messages of a group in order, one batch at a time", async () => {
  const queue = await createQueue({ FifoQueue: "true", ContentBasedDeduplication: "true" }, ".fifo");
  const send = (MessageGroupId: string, MessageBody: string) =>
    sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody, MessageGroupId }));
  for (const at of [1, 2, 3]) for (const group of ["a", "b"]) await send(group, `${group}${at}`);
  const seen: string[] = [];
  let most = 0;
  const running = new Map<string, number>();
  poll(queue, async ({ Records }) => {
    for (const { body, attributes } of Records) {
      const group = attributes.MessageGroupId ?? "";
      running.set(group, (running.get(group) ?? 0) + 1);
      most = Math.max(most, running.get(group) ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running.set(group, (running.get(group) ?? 0) - 1);
      seen.push(body);
    }
  });
  await expect.poll(() => seen.length).toBe(6);
  for (const group of ["a", "b"]) {
    expect(seen.filter((body) => body.startsWith(group))).toEqual([1, 2, 3].map((at) => `${group}${at}`));
  }
  expect(most).toBe(1);
});

test("leaves a message that exhausts its receives to the dead-letter queue", async () => {
  const dead = await createQueue();
  const redrive = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 2 });
  const queue = await createQueue({ VisibilityTimeout: "1", RedrivePolicy: redrive });
  await sendAll(queue.url, ["poison"]);
  let receives = 0;
  poll(queue, (event) => {
    receives += 1;
    return failing(event, "poison");
  });
  await expect.poll(() => countIn(dead.url)).toBe(1);
  expect(receives).toBe(2);
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: dead.url }));
  expect(Messages[0]?.Body).toBe("poison");
});

test("invokes no more at once than the mapping allows", async () => {
  const queue = await createQueue();
  await sendAll(queue.url, ["1", "2", "3", "4", "5", "6"]);
  let [running, most, done] = [0, 0, 0];
  poll(queue, async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 50));
    running -= 1;
    done += 1;
  });
  await expect.poll(() => done).toBe(6);
  expect(most).toBe(2);
});

test("waits for the invocation that is running before it stops", async () => {
  const queue = await createQueue();
  await sendAll(queue.url, ["slow"]);
  let [started, finished] = [false, false];
  const poller = poll(queue, async () => {
    started = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
    finished = true;
  });
  await expect.poll(() => started).toBe(true);
  await poller.stop();
  expect(finished).toBe(true);
});
