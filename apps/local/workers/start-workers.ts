import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { ScheduledEvent } from "aws-lambda";
import { allWorkers, type Trigger } from "../../../functions/workers.ts";
import { resources } from "@work-items/lib/resources.ts";
import { STREAM_WINDOW_SECONDS, workerTimeoutSeconds } from "../../../infra/limits.ts";
import { type FunctionHost, type Invoke, loadFunction } from "../functions.ts";
import { ACCOUNT, REGION } from "../platform.ts";
import { expireObjects } from "../s3/expire-objects.ts";
import { type Poller, pollQueue } from "./queue.ts";
import { type Checkpoints, pollStream } from "./stream.ts";

type Kind<K extends Trigger["kind"]> = Extract<Trigger, { readonly kind: K }>;

/** Workers that run longer are interrupted; their messages are delivered again after the next start. */
const STOP_WITHIN_MS = 5000;
const OBJECTS_EXPIRE_EVERY_MS = 3_600_000;

function scheduledEvent(): ScheduledEvent<Record<string, never>> {
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Scheduled Event",
    source: "aws.events",
    account: ACCOUNT,
    time: new Date().toISOString(),
    region: REGION,
    resources: [`arn:aws:events:${REGION}:${ACCOUNT}:rule/local`],
    detail: {},
  };
}

/** Runs something at once and then by its schedule, one run at a time. */
export function startSchedule(everyMs: number, invoke: (event: ScheduledEvent) => Promise<unknown>): Poller {
  let running: Promise<unknown> | undefined;
  const run = (): void => {
    // An error is in the function's log, and the next run follows anyway.
    running ??= invoke(scheduledEvent())
      .catch(() => {})
      .finally(() => (running = undefined));
  };
  const timer = setInterval(run, everyMs);
  run();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

export interface WorkersOptions extends FunctionHost {
  readonly checkpoints: Checkpoints;
}

/** Starts the pollers and schedules of all workers. The clients' endpoints come from this process's environment. */
export async function startWorkers({ checkpoints, ...host }: WorkersOptions): Promise<Poller> {
  const { environment } = host.runtime;
  const sqs = new SQSClient({});
  const streams = new DynamoDBStreamsClient({});
  const tables = new DynamoDBClient({ endpoint: process.env["AWS_ENDPOINT_URL_DYNAMODB_STREAMS"] ?? "" });

  const fromQueue = (
    queueUrl: string,
    { maximumConcurrency, batchSize = 1 }: Pick<Kind<"queue">, "maximumConcurrency" | "batchSize">,
    invoke: Invoke,
  ): Poller => pollQueue({ queueUrl, batchSize, maximumConcurrency }, invoke, sqs);
  const fromStream = async ({ table, partitions, batchSize }: Kind<"stream">, invoke: Invoke): Promise<Poller> => {
    const described = new DescribeTableCommand({ TableName: environment[resources[table].variable] });
    const { Table } = await tables.send(described);
    const source = {
      streamArn: Table?.LatestStreamArn ?? "",
      batchSize,
      windowMs: STREAM_WINDOW_SECONDS * 1000,
      partitions,
    };
    return pollStream(source, invoke, streams, checkpoints);
  };
  const start = async (trigger: Trigger, invoke: Invoke): Promise<Poller | undefined> => {
    switch (trigger.kind) {
      case "queue":
        return fromQueue(environment[resources[trigger.queue].variable], trigger, invoke);
      case "stream":
        return fromStream(trigger, invoke);
      case "schedule":
        return startSchedule(trigger.everyMinutes * 60_000, invoke);
      default:
        return undefined;
    }
  };

  const triggered = allWorkers.filter(({ trigger }) => trigger.kind !== "direct");
  const loaded = await Promise.all(
    triggered.map(async ({ name, trigger }) => ({
      trigger,
      invoke: await loadFunction(name, workerTimeoutSeconds(trigger), host),
    })),
  );
  const pollers = (await Promise.all(loaded.map(({ trigger, invoke }) => start(trigger, invoke)))).filter(
    (poller) => poller !== undefined,
  );
  const { s3, clock } = host.runtime;
  pollers.push(startSchedule(OBJECTS_EXPIRE_EVERY_MS, () => expireObjects(s3, environment.UPLOADS_BUCKET, clock())));
  return {
    stop: async () => {
      const finished = Promise.all(pollers.map((poller) => poller.stop()));
      await Promise.race([finished, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
      sqs.destroy();
      streams.destroy();
      tables.destroy();
    },
  };
}
