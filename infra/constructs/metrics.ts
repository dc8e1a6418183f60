import { Duration, Stack } from "aws-cdk-lib";
import { MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { allWorkers, type Worker, workers } from "../../functions/workers.ts";
import { mapResources, resourcesOfKind } from "../../lib/resources.ts";
import type { StatefulResources } from "./grants.ts";
import type { RegionSettings } from "../settings/stage-settings.ts";
import type { WorkQueue } from "./queues.ts";
import type { ServiceApi } from "./rest-api.ts";
import { powertoolsOf } from "./service-function.ts";

const PERIOD = Duration.minutes(5);
/** For values measured every ten minutes: each period has data. */
const QUARTER_HOUR = Duration.minutes(15);
/** For runs every ten minutes, of which one may fail. */
const LONG_PERIOD = Duration.minutes(30);
const HOUR_SECONDS = 60 * 60;
const sum = { statistic: Stats.SUM, period: PERIOD } as const;
const maximum = { statistic: Stats.MAXIMUM, period: PERIOD } as const;

/** A metric that functions write into their logs in CloudWatch's embedded metric format. */
function ownMetric(
  stack: Stack,
  metricName:
    | "RowsApplied"
    | "JobAgeSeconds"
    | "FileWaitSeconds"
    | "LimiterFailedOpen"
    | "StoreRefusals"
    | "DirectCallsRefused"
    | "DataRefused"
    | "ChangeAgeSeconds"
    | "ChangesFailingSeconds"
    | "RetentionUnfinished"
    | "OrganizationsUnreachable"
    | "WebhookCalls"
    | "WebhookFailures",
  statistic: string,
  label: string,
) {
  const { POWERTOOLS_METRICS_NAMESPACE: namespace, POWERTOOLS_SERVICE_NAME: service } = powertoolsOf(stack);
  return new Metric({ namespace, metricName, dimensionsMap: { service }, statistic, period: PERIOD, label });
}

/** A metric of a table, or of one of its indexes, which DynamoDB counts separately. */
function tableMetric(table: Table, metricName: string, label: string, index?: string) {
  return new Metric({
    namespace: "AWS/DynamoDB",
    metricName,
    dimensionsMap: {
      TableName: table.tableName,
      ...(index !== undefined && { GlobalSecondaryIndexName: index }),
    },
    ...sum,
    label,
  });
}

/** A metric of every table and index, by ids that math expressions can use. */
function ofEveryTable(
  { tables }: StatefulResources,
  metricName: string,
  { withSmall = true }: { readonly withSmall?: boolean } = {},
): Record<string, Metric> {
  return Object.fromEntries(
    resourcesOfKind("table").flatMap(([name, { id, indexes }]) => [
      // A graph of two metrics needs ids that differ for all tables.
      [`${name}_${metricName}`, tableMetric(tables[name], metricName, id)],
      ...Object.entries(indexes)
        .filter(([, { isSmall = false }]) => withSmall || !isSmall)
        .map(([index]) => [
          `${name}_${index}_${metricName}`,
          tableMetric(tables[name], metricName, `${id}, index ${index}`, index),
        ]),
    ]),
  );
}

/** The sum of metrics; those without data count as 0. */
function sumOf(metrics: Record<string, Metric>, label: string): MathExpression {
  return new MathExpression({
    expression: Object.keys(metrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(" + "),
    usingMetrics: metrics,
    period: PERIOD,
    label,
  });
}

/** The share of time or calls that is good, and how much of an objective's error budget is left. */
function objective(label: string, allowedPercent: number, good: string, usingMetrics: Record<string, Metric>) {
  const shown = { [label]: good, "Error budget left, %": `100 - 100 * (100 - ${good}) / ${allowedPercent}` };
  return Object.entries(shown).map(
    ([name, expression]) => new MathExpression({ expression, usingMetrics, period: PERIOD, label: name }),
  );
}

/** Successful invocations of a function. There is no data while it doesn't start. */
function successesOf(target: Function, period: Duration, label: string): MathExpression {
  return new MathExpression({
    expression: "invocations - FILL(errors, 0)",
    usingMetrics: {
      invocations: target.metricInvocations({ ...sum, period }),
      errors: target.metricErrors({ ...sum, period }),
    },
    period,
    label,
  });
}

/** Errors and throttles of the functions that other systems invoke, by ids that math expressions can use. */
function failuresOfDirectCalls(functionOf: (worker: Worker) => Function): Record<string, Metric> {
  return Object.fromEntries(
    allWorkers
      .filter(({ trigger }) => trigger.kind === "direct")
      .flatMap((worker, index) => [
        [`errors${index}`, functionOf(worker).metricErrors(sum)],
        [`throttles${index}`, functionOf(worker).metricThrottles(sum)],
      ]),
  );
}

/** The constructs that the metrics belong to. */
export interface MetricSources {
  readonly api: ServiceApi;
  /** The API's own host name. */
  readonly domain: RegionSettings["domain"];
  readonly resources: StatefulResources;
  /** The function of each worker, by name. */
  readonly workerFunctions: ReadonlyMap<string, Function>;
}

/** Defines every metric that an alarm or the dashboard shows. */
export function serviceMetrics({ api: { api, refused }, domain, resources, workerFunctions }: MetricSources) {
  const stack = Stack.of(api);
  const functionOf = ({ name }: Pick<Worker, "name">): Function => {
    const found = workerFunctions.get(name);
    if (found === undefined) throw new Error(`the stack has no function ${name}`);
    return found;
  };
  const requests = api.metricCount({ ...sum, label: "Requests" });
  const serverErrors = api.metricServerError({ ...sum, label: "5xx" });
  const ofEveryQueue = (map: (queue: WorkQueue, label: string) => Metric) =>
    mapResources("queue", ({ id }, name) => map(resources.queues[name], id));
  const inDeadLetters = Object.fromEntries(
    resourcesOfKind("queue").flatMap(([name]) => {
      const found = resources.queues[name].deadLetters?.metricApproximateNumberOfMessagesVisible(maximum);
      return found ? [[name, found]] : [];
    }),
  );
  return {
    requests,
    clientErrors: api.metricClientError({ ...sum, label: "4xx" }),
    serverErrors,
    serverErrorPercent: new MathExpression({
      // Up to 100 requests, each error counts as 1 %, so that one error in a quiet hour raises no alarm.
      expression: "IF(requests > 100, 100 * errors / requests, errors)",
      usingMetrics: { requests, errors: serverErrors },
      period: PERIOD,
      label: "5xx, % of requests",
    }),
    /** Milliseconds, including the functions' time. */
    latencyP50: api.metricLatency({ period: PERIOD, statistic: Stats.p(50), label: "p50" }),
    latencyP99: api.metricLatency({ period: PERIOD, statistic: Stats.p(99), label: "p99" }),
    /** Calls that don't fail with a 5xx: 99.9 %. */
    availability: objective("Calls without 5xx, %", 0.1, "(100 - 100 * FILL(errors, 0) / requests)", {
      requests,
      errors: serverErrors,
    }),
    /** The time in which no upload takes longer than an hour after its file arrived: 99 %. */
    uploadsInTime: objective("Uploads within an hour, %", 1, "IF(files > jobs, jobs, files)", {
      jobs: ownMetric(stack, "JobAgeSeconds", Stats.percentileRank(HOUR_SECONDS), "Jobs"),
      files: ownMetric(stack, "FileWaitSeconds", Stats.percentileRank(HOUR_SECONDS), "Files"),
    }),
    rowsPerSecond: new MathExpression({
      expression: "rows / PERIOD(rows)",
      usingMetrics: { rows: ownMetric(stack, "RowsApplied", Stats.SUM, "Rows") },
      period: PERIOD,
      label: "Rows a second",
    }),
    /** Seconds since the oldest running job was created. */
    jobAgeSeconds: ownMetric(stack, "JobAgeSeconds", Stats.MAXIMUM, "Oldest open job"),
    /** Seconds for which the oldest uploaded file has waited to be read. */
    fileWaitSeconds: ownMetric(stack, "FileWaitSeconds", Stats.MAXIMUM, "Oldest waiting file"),
    messagesWaiting: Object.values(
      ofEveryQueue(({ queue }, label) => queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label })),
    ),
    /** Seconds since the oldest message of each queue was sent. */
    messageAgeSeconds: ofEveryQueue(({ queue }, label) =>
      queue.metricApproximateAgeOfOldestMessage({ ...maximum, label }),
    ),
    /** Messages that have failed five times. */
    deadLettersHeld: sumOf(inDeadLetters, "Dead letters"),
    /**
     * Seconds for which the oldest change outside a log may have waited, in the stream or in the queue. There is no data while
     * the sweep doesn't measure the stream. Lambda's iterator age wouldn't help: it has no data while the stream isn't read.
     */
    changeAgeSeconds: new MathExpression({
      expression: "IF(stream > FILL(queue, 0), stream, FILL(queue, 0))",
      usingMetrics: {
        stream: ownMetric(stack, "ChangeAgeSeconds", Stats.MINIMUM, "Stream"),
        queue: resources.queues.changesQueue.queue.metricApproximateAgeOfOldestMessage(maximum),
      },
      period: QUARTER_HOUR,
      label: "Oldest change",
    }),
    /** Organizations that may still have expired work items after the best run in an hour. */
    retentionUnfinished: ownMetric(stack, "RetentionUnfinished", Stats.MINIMUM, "Retention unfinished").with({
      period: Duration.hours(1),
    }),
    /** Seconds since changes of an organization first failed to be appended. The sweep tries gaps every ten minutes. */
    changesFailingSeconds: ownMetric(stack, "ChangesFailingSeconds", Stats.MAXIMUM, "Failing changes").with({
      period: QUARTER_HOUR,
    }),
    /**
     * Organizations with a webhook that can't be reached, while no call of any webhook succeeds. Then the cause isn't a
     * receiver but our way to all of them.
     */
    organizationsUnreachable: new MathExpression({
      expression: "IF(FILL(succeeded, 0) > 0, 0, unreachable)",
      usingMetrics: {
        succeeded: ownMetric(stack, "WebhookCalls", Stats.SUM, "Successful calls"),
        unreachable: ownMetric(stack, "OrganizationsUnreachable", Stats.MINIMUM, "Unreachable"),
      },
      period: QUARTER_HOUR,
      label: "Organizations that can't be reached, while no call succeeds",
    }),
    /** Calls of webhooks' endpoints. Failed ones are up to their receivers, unless all fail. */
    webhookCalls: ownMetric(stack, "WebhookCalls", Stats.SUM, "Successful calls"),
    webhookFailures: ownMetric(stack, "WebhookFailures", Stats.SUM, "Failed calls"),
    /**
     * Receives of messages about webhooks while none is handled. A queue's age ignores messages that were received three
     * times (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html).
     */
    webhooksFailing: new MathExpression({
      expression: "IF(FILL(handled, 0) > 0, 0, FILL(received, 0))",
      usingMetrics: {
        handled: resources.queues.webhooksQueue.queue.metricNumberOfMessagesDeleted(sum),
        received: resources.queues.webhooksQueue.queue.metricNumberOfMessagesReceived(sum),
      },
      period: PERIOD,
      label: "Receives of messages about webhooks while none is handled",
    }),
    /** Successful sweeps of the webhooks. */
    webhookSweeps: successesOf(functionOf(workers.sweepWebhooks), PERIOD, "Sweeps of webhooks"),
    limiterFailedOpen: ownMetric(stack, "LimiterFailedOpen", Stats.SUM, "Requests let through unlimited"),
    /** Writes that the WorkItems table rejected for reasons other than the items: access, table, credentials. */
    storeRefusals: ownMetric(stack, "StoreRefusals", Stats.SUM, "Writes refused by the store"),
    /** Successful sweeps. There is no data while no sweep starts. */
    sweeps: successesOf(functionOf(workers.sweepUploads), PERIOD, "Sweeps"),
    /** Successful sweeps of the change logs, which come every ten minutes. */
    changeSweeps: successesOf(functionOf(workers.sweepChanges), LONG_PERIOD, "Sweeps of change logs"),
    /** Invocations of workers that refused what is stored. */
    dataRefused: ownMetric(stack, "DataRefused", Stats.SUM, "Refused versions of data"),
    /** Invocations by other systems that failed or were throttled, except those with an invalid payload. */
    directFailures: new MathExpression({
      expression: "failed - FILL(refused, 0)",
      usingMetrics: {
        failed: sumOf(failuresOfDirectCalls(functionOf), "Failed calls"),
        refused: ownMetric(stack, "DirectCallsRefused", Stats.SUM, "Refused calls"),
      },
      period: PERIOD,
      label: "Failed calls by other systems",
    }),
    unauthorized: refused["401"].metric({ ...sum, label: "401" }),
    rateLimited: refused["429"].metric({ ...sum, label: "429" }),
    /** Days until the domain's certificate expires; undefined without a domain. */
    certificateDays:
      domain &&
      new Metric({
        namespace: "AWS/CertificateManager",
        metricName: "DaysToExpiry",
        dimensionsMap: { CertificateArn: domain.certificate },
        statistic: Stats.MINIMUM,
        period: Duration.days(1),
        label: "Days until the certificate expires",
      }),
    // Without small indexes: an alarm takes ten metrics, and must have room for another table.
    throttledReads: sumOf(ofEveryTable(resources, "ReadThrottleEvents", { withSmall: false }), "Throttled reads"),
    throttledWrites: sumOf(ofEveryTable(resources, "WriteThrottleEvents", { withSmall: false }), "Throttled writes"),
    consumedReads: Object.values(ofEveryTable(resources, "ConsumedReadCapacityUnits")),
    consumedWrites: Object.values(ofEveryTable(resources, "ConsumedWriteCapacityUnits")),
  };
}

/** All metrics that an alarm or the dashboard shows. */
export type ServiceMetrics = ReturnType<typeof serviceMetrics>;
