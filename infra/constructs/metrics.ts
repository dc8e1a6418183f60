import { Duration } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { type IMetric, MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { LISTING_INDEX } from "../../lib/aws/tables.ts";
import type { Parts } from "./grants.ts";
import { POWERTOOLS } from "./service-function.ts";
import type { WorkQueues } from "./workers.ts";

const PERIOD = Duration.minutes(5);
const sum = { statistic: Stats.SUM, period: PERIOD } as const;
const maximum = { statistic: Stats.MAXIMUM, period: PERIOD } as const;

/** What functions measure themselves and write into their logs in CloudWatch's embedded metric format. */
const ownMetric = (
  metricName: "RowsApplied" | "JobAgeSeconds" | "LimiterFailedOpen",
  statistic: string,
  label: string,
) =>
  new Metric({
    namespace: POWERTOOLS.POWERTOOLS_METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { service: POWERTOOLS.POWERTOOLS_SERVICE_NAME },
    statistic,
    period: PERIOD,
    label,
  });

/** Of a table, or of its index, which counts for itself. */
const tableMetric = (table: Table, metricName: string, label: string, index?: string) =>
  new Metric({
    namespace: "AWS/DynamoDB",
    metricName,
    dimensionsMap: {
      TableName: table.tableName,
      ...(index !== undefined && { GlobalSecondaryIndexName: index }),
    },
    ...sum,
    label,
  });

const forEachStore = (parts: Parts, metricName: string) => ({
  workItems: tableMetric(parts.workItems, metricName, "WorkItems"),
  listing: tableMetric(parts.workItems, metricName, "WorkItems, index listing", LISTING_INDEX),
  limits: tableMetric(parts.limits, metricName, "Limits"),
  access: tableMetric(parts.access, metricName, "Access"),
});

export interface ServiceMetrics {
  readonly requests: IMetric;
  readonly clientErrors: IMetric;
  readonly serverErrors: IMetric;
  readonly serverErrorPercent: IMetric;
  /** Milliseconds, the functions' time included. */
  readonly latencyP50: IMetric;
  readonly latencyP99: IMetric;
  readonly rowsPerSecond: IMetric;
  readonly jobAgeSeconds: IMetric;
  readonly messagesWaiting: readonly IMetric[];
  /** Dead letters whose job was ended. */
  readonly deadLettersTaken: IMetric;
  readonly deadLettersWaiting: IMetric;
  readonly limiterFailedOpen: IMetric;
  readonly sweeps: IMetric;
  readonly throttledWrites: IMetric;
  readonly consumedReads: readonly IMetric[];
  readonly consumedWrites: readonly IMetric[];
}

export interface MetricSources {
  readonly api: RestApi;
  readonly parts: Parts;
  readonly queues: WorkQueues;
  readonly sweepUploads: Function;
  readonly failDeadUpload: Function;
}

/** Every number that an alarm or the dashboard shows, defined once. */
export const serviceMetrics = ({ api, parts, queues, sweepUploads, failDeadUpload }: MetricSources): ServiceMetrics => {
  const requests = api.metricCount({ ...sum, label: "Requests" });
  const serverErrors = api.metricServerError({ ...sum, label: "5xx" });
  const throttled = forEachStore(parts, "WriteThrottleEvents");
  const visible = (queue: keyof WorkQueues) =>
    queues[queue].deadLetters.metricApproximateNumberOfMessagesVisible({ ...maximum });
  return {
    requests,
    clientErrors: api.metricClientError({ ...sum, label: "4xx" }),
    serverErrors,
    serverErrorPercent: new MathExpression({
      // Below 100 requests one error is one per cent: a quiet hour does not ring for a single failure.
      expression: "IF(requests > 100, 100 * errors / requests, errors)",
      usingMetrics: { requests, errors: serverErrors },
      period: PERIOD,
      label: "5xx, % of requests",
    }),
    latencyP50: api.metricLatency({ period: PERIOD, statistic: Stats.p(50), label: "p50" }),
    latencyP99: api.metricLatency({ period: PERIOD, statistic: Stats.p(99), label: "p99" }),
    rowsPerSecond: new MathExpression({
      expression: "rows / PERIOD(rows)",
      usingMetrics: { rows: ownMetric("RowsApplied", Stats.SUM, "Rows") },
      period: PERIOD,
      label: "Rows a second",
    }),
    jobAgeSeconds: ownMetric("JobAgeSeconds", Stats.MAXIMUM, "Oldest open job"),
    messagesWaiting: [
      queues.splitQueue.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: "Files to split" }),
      queues.partsQueue.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: "Parts to apply" }),
    ],
    deadLettersTaken: failDeadUpload.metricInvocations({ ...sum, label: "Dead letters taken" }),
    deadLettersWaiting: new MathExpression({
      expression: "splits + parts",
      usingMetrics: { splits: visible("splitQueue"), parts: visible("partsQueue") },
      period: PERIOD,
      label: "Dead letters waiting",
    }),
    limiterFailedOpen: ownMetric("LimiterFailedOpen", Stats.SUM, "Requests let through unlimited"),
    sweeps: sweepUploads.metricInvocations({ ...sum, label: "Sweeps" }),
    throttledWrites: new MathExpression({
      expression: "FILL(items, 0) + FILL(listing, 0) + FILL(limits, 0)",
      usingMetrics: { items: throttled.workItems, listing: throttled.listing, limits: throttled.limits },
      period: PERIOD,
      label: "Throttled writes",
    }),
    consumedReads: Object.values(forEachStore(parts, "ConsumedReadCapacityUnits")),
    consumedWrites: Object.values(forEachStore(parts, "ConsumedWriteCapacityUnits")),
  };
};
