import { Duration } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { type IMetric, MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { resourcesOfKind } from "../../lib/resources.ts";
import type { StatefulResources } from "./grants.ts";
import type { WorkQueue } from "./queues.ts";
import { POWERTOOLS } from "./service-function.ts";

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

/** Of every table and every index; ids are fit for expressions. */
const ofEveryTable = ({ tables }: StatefulResources, metricName: string): Record<string, Metric> =>
  Object.fromEntries(
    resourcesOfKind("table").flatMap(([name, { id, indexes }]) => [
      [name, tableMetric(tables[name], metricName, id)],
      ...Object.keys(indexes).map((index) => [
        `${name}_${index}`,
        tableMetric(tables[name], metricName, `${id}, index ${index}`, index),
      ]),
    ]),
  );

/** The sum of metrics, of which those that have no data count as 0. */
const sumOf = (metrics: Record<string, Metric>, label: string): MathExpression =>
  new MathExpression({
    expression: Object.keys(metrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(" + "),
    usingMetrics: metrics,
    period: PERIOD,
    label,
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
  readonly resources: StatefulResources;
  readonly sweepUploads: Function;
  readonly failDeadUpload: Function;
}

/** Every number that an alarm or the dashboard shows, defined once. */
export const serviceMetrics = ({ api, resources, sweepUploads, failDeadUpload }: MetricSources): ServiceMetrics => {
  const requests = api.metricCount({ ...sum, label: "Requests" });
  const serverErrors = api.metricServerError({ ...sum, label: "5xx" });
  const ofEveryQueue = (map: (queue: WorkQueue, label: string) => Metric) =>
    Object.fromEntries(resourcesOfKind("queue").map(([name, { id }]) => [name, map(resources.queues[name], id)]));
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
    messagesWaiting: Object.values(
      ofEveryQueue(({ queue }, label) => queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label })),
    ),
    deadLettersTaken: failDeadUpload.metricInvocations({ ...sum, label: "Dead letters taken" }),
    deadLettersWaiting: sumOf(
      ofEveryQueue(({ deadLetters }) => deadLetters.metricApproximateNumberOfMessagesVisible(maximum)),
      "Dead letters waiting",
    ),
    limiterFailedOpen: ownMetric("LimiterFailedOpen", Stats.SUM, "Requests let through unlimited"),
    sweeps: sweepUploads.metricInvocations({ ...sum, label: "Sweeps" }),
    throttledWrites: sumOf(ofEveryTable(resources, "WriteThrottleEvents"), "Throttled writes"),
    consumedReads: Object.values(ofEveryTable(resources, "ConsumedReadCapacityUnits")),
    consumedWrites: Object.values(ofEveryTable(resources, "ConsumedWriteCapacityUnits")),
  };
};
