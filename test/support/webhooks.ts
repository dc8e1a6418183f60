import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { DeleteMessageCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { create as createDeliverWebhooks } from "../../functions/deliver-webhooks.ts";
import { create as createSweepWebhooks } from "../../functions/sweep-webhooks.ts";
import { createDelivery } from "./stream.ts";
import { lambdaContext } from "./lambda-context.ts";
import type { TestRuntime } from "./runtime.ts";
import { sqsEvent } from "./uploads/upload-harness.ts";

/** A message that a receiver got. */
interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** Starts a receiver on this machine. @param answer @default 204 */
export async function startReceiver(
  answer: (...call: Parameters<RequestListener>) => unknown = (_, response) => response.writeHead(204).end(),
) {
  const received: Received[] = [];
  const paths: string[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    paths.push(request.url ?? "");
    const body = await text(request);
    const { type, data } = JSON.parse(body) as Pick<Received, "type" | "data">;
    received.push({ headers: request.headers as Record<string, string>, body, type, data });
  };
  const server = createServer((request, response) => {
    void take(request)
      .catch(() => {})
      .then(() => answer(request, response));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/hook`,
    received,
    /** The paths at which it was called, in order. */
    paths: () => [...paths],
    /** What it was told, in order. */
    told: () => received.map(({ type, data }) => ({ type, data })),
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Whether a secret has signed a message. The public library would first compare its time with that of this machine. */
export const isSignedBy = (secret: string, { body, headers }: Pick<Received, "body" | "headers">): boolean => {
  const at = new Date(Number(headers["webhook-timestamp"]) * 1000);
  const signature = new StandardWebhook(secret).sign(headers["webhook-id"]!, at, body);
  return headers["webhook-signature"]!.split(" ").includes(signature);
};

/** The way of a runtime's changes and ended jobs to its webhooks, as Lambda takes it. */
export async function createWebhookDelivery(runtime: TestRuntime, deliver = createDeliverWebhooks(runtime)) {
  const { sqs, environment, clock } = runtime;
  const QueueUrl = environment.WEBHOOKS_QUEUE_URL;
  const record = await createDelivery(runtime);
  const sweep = createSweepWebhooks(runtime);
  /** Handles all messages that are not delayed. @returns how many have failed */
  const drain = async (): Promise<number> => {
    for (let failed = 0; ;) {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
      if (Messages.length === 0) return failed;
      for (const { ReceiptHandle } of Messages) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      const event = sqsEvent(...Messages.map(({ Body }) => Body));
      failed += (await deliver(event, lambdaContext(30_000, clock))).batchItemFailures.length;
    }
  };
  return {
    /** Takes everything that was written to the webhooks' queue. */
    record,
    drain,
    /** Takes everything that was written to the endpoints. */
    ring: async (): Promise<number> => {
      await record();
      return drain();
    },
    /** Lets the sweep run, and then the deliverer. */
    sweep: async (): Promise<number> => {
      await sweep({});
      return drain();
    },
    /** How many messages wait in the queue, also delayed ones. */
    waiting: async (): Promise<number> => {
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({
          QueueUrl,
          AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"],
        }),
      );
      return Object.values(Attributes).reduce((sum, each) => sum + Number(each), 0);
    },
  };
}
