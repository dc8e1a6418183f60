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
import { type FunctionSurroundings, ServiceFunction, WORKER_TIMEOUT } from "./service-function.ts";

/** SQS takes no maximum concurrency below 2. */
const DEAD_LETTER_CONCURRENCY = 2;

interface Source {
  readonly id: string;
  readonly queue: Queue;
  readonly maximumConcurrency: number;
}

const receiveFrom = ({ queue }: Source): PolicyStatement =>
  new PolicyStatement({
    actions: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
    resources: [queue.queueArn],
  });

const sourcesOf = ({ trigger }: Worker, { queues }: StatefulResources): readonly Source[] => {
  if (trigger.kind === "queue") {
    return [{ id: "Messages", queue: queues[trigger.queue].queue, maximumConcurrency: trigger.maximumConcurrency }];
  }
  if (trigger.kind !== "dead-letters") return [];
  const concurrency = { maximumConcurrency: DEAD_LETTER_CONCURRENCY };
  return [
    { id: "DeadSplits", queue: queues.splitQueue.deadLetters, ...concurrency },
    { id: "DeadParts", queue: queues.partsQueue.deadLetters, ...concurrency },
  ];
};

/** A function that a queue, a schedule or another system of the account starts, with what starts it. */
export const addWorker = (
  scope: Construct,
  id: string,
  { worker, ...surroundings }: FunctionSurroundings & { readonly worker: Worker },
): ServiceFunction => {
  const { name, summary, permissions, trigger } = worker;
  const sources = sourcesOf(worker, surroundings.resources);
  const made = new ServiceFunction(scope, id, {
    ...surroundings,
    name,
    summary,
    permissions,
    memorySize: MEMORY_MB.computes,
    timeout: WORKER_TIMEOUT,
    triggerStatements: sources.map(receiveFrom),
    feedsItself: trigger.kind === "queue" && permissions[trigger.queue] !== undefined,
  });
  for (const source of sources) {
    new EventSourceMapping(made, source.id, {
      target: made.function,
      eventSourceArn: source.queue.queueArn,
      // A message is up to 90 s of work: a second one in the batch would only wait for it.
      batchSize: 1,
      reportBatchItemFailures: true,
      maxConcurrency: source.maximumConcurrency,
    });
  }
  if (trigger.kind === "schedule") {
    new Rule(made, "Schedule", {
      description: summary,
      schedule: Schedule.rate(Duration.minutes(trigger.everyMinutes)),
      // The next one comes soon enough: late and repeated runs do nothing that it does not.
      targets: [new LambdaFunction(made.function, { retryAttempts: 0 })],
    });
  }
  return made;
};
