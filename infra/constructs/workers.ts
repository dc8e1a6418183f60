import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { Worker } from "../../functions/workers.ts";
import type { StatefulResources } from "./grants.ts";
import { MEMORY_MB } from "./function-memory.ts";
import { WORKER_TIMEOUT } from "./queues.ts";
import { type SharedFunctionProps, ServiceFunction } from "./service-function.ts";

/** The smallest maximum concurrency that Lambda allows for an SQS event source. */
const LEAST_CONCURRENCY = 2;

interface QueueSource {
  readonly id: string;
  readonly queue: Queue;
  readonly maximumConcurrency: number;
  readonly batchSize: number;
}

const receiveFrom = ({ queue }: QueueSource): PolicyStatement =>
  new PolicyStatement({
    actions: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
    resources: [queue.queueArn],
  });

const sourcesOf = (
  { trigger }: Worker,
  { queues }: StatefulResources,
  smallAccount: boolean,
): readonly QueueSource[] => {
  if (trigger.kind === "queue") {
    const { batchSize = 1 } = trigger;
    const maximumConcurrency = smallAccount ? LEAST_CONCURRENCY : trigger.maximumConcurrency;
    return [{ id: "Messages", queue: queues[trigger.queue].queue, maximumConcurrency, batchSize }];
  }
  if (trigger.kind !== "dead-letters") return [];
  const concurrency = { maximumConcurrency: LEAST_CONCURRENCY, batchSize: 1 };
  return [
    { id: "DeadSplits", queue: queues.splitQueue.deadLetters, ...concurrency },
    { id: "DeadParts", queue: queues.partsQueue.deadLetters, ...concurrency },
  ];
};

export interface WorkerProps extends SharedFunctionProps {
  readonly worker: Worker;
  /** Whether the account has so few concurrent executions that each event source may take two of them only. */
  readonly smallAccount: boolean;
}

/** Adds a function that is not behind the gateway, with its event sources or its schedule. */
export const addWorker = (
  scope: Construct,
  id: string,
  { worker, smallAccount, ...sharedProps }: WorkerProps,
): ServiceFunction => {
  const { name, summary, permissions, trigger } = worker;
  const sources = sourcesOf(worker, sharedProps.resources, smallAccount);
  const workerFunction = new ServiceFunction(scope, id, {
    ...sharedProps,
    name,
    summary,
    permissions,
    memorySize: MEMORY_MB.computes,
    timeout: WORKER_TIMEOUT,
    triggerStatements: sources.map(receiveFrom),
    feedsItself: trigger.kind === "queue" && permissions[trigger.queue] !== undefined,
  });
  for (const source of sources) {
    new EventSourceMapping(workerFunction, source.id, {
      target: workerFunction.function,
      eventSourceArn: source.queue.queueArn,
      // The messages of a batch are handled at the same time (`queueWorker`).
      batchSize: source.batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: source.maximumConcurrency,
    });
  }
  if (trigger.kind === "schedule") {
    const interval = Duration.minutes(trigger.everyMinutes);
    new Rule(workerFunction, "Schedule", {
      description: summary,
      schedule: Schedule.rate(interval),
      targets: [new LambdaFunction(workerFunction.function, { retryAttempts: 0 })],
    });
    // No retries, neither of EventBridge nor of Lambda's own queue: the next run does the same work soon enough.
    workerFunction.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: interval });
  }
  return workerFunction;
};
