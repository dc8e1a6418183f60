import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { Trigger, Worker } from "../../functions/workers.ts";
import { type Binding, bindStream, type StatefulResources } from "./grants.ts";
import { LEAST_CONCURRENCY, MEMORY_MB, STREAM_WINDOW_SECONDS, workerTimeoutSeconds } from "../limits.ts";
import { type SharedFunctionProps, ServiceFunction } from "./service-function.ts";

/**
 * How long Lambda gathers the records of a shard. Each shard has its own invocations, whose number can't be limited, so an
 * account with few concurrent executions gathers longer.
 */
const GATHERED = { usually: Duration.seconds(STREAM_WINDOW_SECONDS), inSmallAccounts: Duration.seconds(10) };

/** The longest that Lambda keeps an event. */
const EVENT_AGE_MINUTES_MAX = 6 * 60;

type StreamTrigger = Extract<Trigger, { readonly kind: "stream" }>;

/** Starts a function with the records of a table's stream. None is given up: that would lose a change. */
function addStreamMapping(
  { function: target }: ServiceFunction,
  { stream }: StatefulResources,
  { partitions, batchSize }: StreamTrigger,
  smallAccount: boolean,
): EventSourceMapping {
  return new EventSourceMapping(target, "Stream", {
    target,
    eventSourceArn: stream,
    startingPosition: StartingPosition.TRIM_HORIZON,
    batchSize,
    maxBatchingWindow: smallAccount ? GATHERED.inSmallAccounts : GATHERED.usually,
    // Records must be handled in order: a heartbeat covers all records before it.
    parallelizationFactor: 1,
    reportBatchItemFailures: true,
    filters: partitions.map(({ kind, sortKey }) =>
      FilterCriteria.filter({
        dynamodb: {
          Keys: {
            pk: { S: FilterRule.beginsWith(`${kind}#`) },
            ...(sortKey !== undefined && { sk: { S: FilterRule.isEqual(sortKey) } }),
          },
        },
      }),
    ),
  });
}

function receiveFrom(queue: Queue): Omit<Binding, "variables"> {
  const actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];
  return { statements: [new PolicyStatement({ actions, resources: [queue.queueArn] })] };
}

function sourceOf({ trigger }: Worker, { queues }: StatefulResources, most: number | undefined) {
  if (trigger.kind !== "queue") return undefined;
  const { batchSize = 1 } = trigger;
  const maximumConcurrency = most ?? trigger.maximumConcurrency;
  return { queue: queues[trigger.queue].queue, maximumConcurrency, batchSize };
}

function feedsItself({ trigger, permissions }: Worker): boolean {
  if (trigger.kind !== "queue") return false;
  return permissions[trigger.queue]?.actions.includes("SendMessage") ?? false;
}

export interface WorkerProps extends SharedFunctionProps {
  readonly worker: Worker;
  /** Whether the account has so few concurrent executions that each event source may take only two. */
  readonly smallAccount: boolean;
  /** The most executions that a queue starts. @default the worker's own */
  readonly maximumConcurrency: number | undefined;
}

/** Adds a function that isn't behind the gateway, with its event source or schedule. */
export function addWorker(
  scope: Construct,
  id: string,
  { worker, smallAccount, maximumConcurrency, ...sharedProps }: WorkerProps,
): ServiceFunction {
  const { name, summary, permissions, trigger } = worker;
  const source = sourceOf(worker, sharedProps.resources, smallAccount ? LEAST_CONCURRENCY : maximumConcurrency);
  const workerFunction = new ServiceFunction(scope, id, {
    ...sharedProps,
    name,
    summary,
    permissions,
    memorySize: MEMORY_MB.computes,
    timeout: Duration.seconds(workerTimeoutSeconds(trigger)),
    trigger:
      trigger.kind === "stream"
        ? bindStream(sharedProps.resources.tables[trigger.table])
        : source && receiveFrom(source.queue),
    feedsItself: feedsItself(worker),
  });
  if (source !== undefined) {
    new EventSourceMapping(workerFunction, "Messages", {
      target: workerFunction.function,
      eventSourceArn: source.queue.queueArn,
      // The messages of a batch are handled at the same time (`queueWorker`).
      batchSize: source.batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: source.maximumConcurrency,
    });
  }
  if (trigger.kind === "stream") addStreamMapping(workerFunction, sharedProps.resources, trigger, smallAccount);
  if (trigger.kind === "schedule") {
    const interval = Duration.minutes(trigger.everyMinutes);
    new Rule(workerFunction, "Schedule", {
      description: summary,
      schedule: Schedule.rate(interval),
      targets: [new LambdaFunction(workerFunction.function, { retryAttempts: 0 })],
    });
    // No retries by EventBridge or Lambda: the next run does the same work soon enough.
    const maxEventAge = Duration.minutes(Math.min(trigger.everyMinutes, EVENT_AGE_MINUTES_MAX));
    workerFunction.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge });
  }
  return workerFunction;
}
