import { randomUUID } from "node:crypto";
import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { create as createApplyUploadChunk } from "../../../functions/apply-upload-chunk.ts";
import { create as createSplitUpload } from "../../../functions/split-upload.ts";
import { type Organization } from "../../../lib/organizations/organization.ts";
import type { QueueWorker } from "../../../lib/aws/queue-worker.ts";
import { createUploadObjects, objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import type { JobKey } from "../../../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../../../lib/uploads/job/upload-store.ts";
import { lambdaContext } from "../lambda-context.ts";
import type { TestRuntime } from "../runtime.ts";

const WORKER_MS = 120_000;

/** The event of SQS messages. A body that is not a string is sent as JSON. */
export const sqsEvent = (...bodies: readonly unknown[]): SQSEvent => ({
  Records: bodies.map((body) => ({
    messageId: randomUUID(),
    receiptHandle: "test",
    body: typeof body === "string" ? body : JSON.stringify(body),
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "0",
      SenderId: "test",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:123456789012:test",
    awsRegion: "us-east-1",
  })),
});

/** The message that requests the splitting of a job's file. */
export const splitMessage = ({ organization, id }: JobKey) => ({ organization, id });

/** The event that S3 sends for a job's uploaded file. */
export const s3Event = (job: JobKey) => ({
  Records: [
    {
      eventSource: "aws:s3",
      eventName: "ObjectCreated:Put",
      s3: {
        bucket: { name: "uploads" },
        object: { key: encodeURIComponent(objectKeys.source(job)).replaceAll("%2F", "/") },
      },
    },
  ],
});

/** The workers of upload jobs and the queues between them. The test decides when messages are delivered. */
export const createUploadHarness = (runtime: TestRuntime) => {
  const { environment, sqs, clock } = runtime;
  const split = createSplitUpload(runtime);
  const apply = createApplyUploadChunk(runtime);
  const store = new UploadStore(runtime);
  const objects = createUploadObjects(runtime);

  const receive = async (queueUrl: string) => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 1 }),
    );
    return Messages.map(({ Body = "", ReceiptHandle = "" }) => ({ body: Body, receipt: ReceiptHandle }));
  };
  const deliver = async (queueUrl: string, worker: QueueWorker): Promise<number> => {
    const messages = await receive(queueUrl);
    await Promise.all(
      messages.map(async ({ body, receipt }) => {
        const { batchItemFailures }: SQSBatchResponse = await worker(sqsEvent(body), lambdaContext(WORKER_MS));
        if (batchItemFailures.length > 0) return;
        await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: receipt }));
      }),
    );
    return messages.length;
  };

  const queues = {
    split: { url: environment.SPLIT_QUEUE_URL, worker: split },
    chunks: { url: environment.CHUNKS_QUEUE_URL, worker: apply },
  };
  const deliverFrom = (queue: keyof typeof queues) => deliver(queues[queue].url, queues[queue].worker);

  return {
    split,
    apply,
    store,
    objects,
    deliver: deliverFrom,
    /** Receives and deletes all messages of a queue. @returns their parsed bodies */
    take: async (queue: keyof typeof queues): Promise<Record<string, unknown>[]> => {
      const queueUrl = queues[queue].url;
      const taken: Record<string, unknown>[] = [];
      for (let messages = await receive(queueUrl); messages.length > 0; messages = await receive(queueUrl)) {
        for (const { body, receipt } of messages) {
          taken.push(JSON.parse(body) as Record<string, unknown>);
          await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: receipt }));
        }
      }
      return taken;
    },
    /** Deletes an object of a job; no function may do that. */
    remove: async (key: string): Promise<void> => {
      await runtime.s3.send(new DeleteObjectCommand({ Bucket: environment.UPLOADS_BUCKET, Key: key }));
    },
    /** Delivers messages until the queues are empty. */
    drain: async (): Promise<void> => {
      while ((await deliverFrom("split")) + (await deliverFrom("chunks")));
    },
    /** Creates a job and writes its file to the bucket, as the endpoint does. */
    upload: async (organization: Organization, file: string | Buffer, id: string = randomUUID()): Promise<JobKey> => {
      const { job } = await store.create(organization, { id, origin: "request" }, clock() + 120_000);
      await objects.write(objectKeys.source(job), Buffer.from(file as string), "text/csv");
      return { organization: organization.id, id };
    },
  };
};
