import { Stack } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  PeriodOverride,
  SingleValueWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { ServiceMetrics } from "./metrics.ts";

/** Columns of one graph. The dashboard has 24, so that a row holds three graphs. */
const WIDTH = 8;

function graph(title: string, unit: string, metrics: readonly IMetric[]) {
  return new GraphWidget({
    title,
    width: WIDTH,
    left: [...metrics],
    leftYAxis: { label: unit, min: 0, showUnits: false },
  });
}

/** Numbers of the last 30 days, whatever period the dashboard shows. */
function lastMonth(title: string, metrics: readonly IMetric[]) {
  return new SingleValueWidget({
    title,
    width: (3 * WIDTH) / 2,
    height: 3,
    metrics: [...metrics],
    setPeriodToTimeRange: true,
    start: "-P30D",
  });
}

/** Adds the region's dashboard: alarms, service levels, requests and responses, upload jobs, capacity, changes and webhooks. */
export function addDashboard(
  scope: Construct,
  id: string,
  metrics: ServiceMetrics,
  alarms: readonly Alarm[],
): Dashboard {
  const dashboard = new Dashboard(scope, id, {
    dashboardName: Stack.of(scope).stackName,
    periodOverride: PeriodOverride.INHERIT,
  });
  dashboard.addWidgets(new AlarmStatusWidget({ title: "Alarms", width: 3 * WIDTH, height: 3, alarms: [...alarms] }));
  dashboard.addWidgets(
    lastMonth("Service level of calls: 99.9 % in 30 days", metrics.availability),
    lastMonth("Service level of uploads: 99 % in 30 days", metrics.uploadsInTime),
  );
  dashboard.addWidgets(
    graph("Requests", "in 5 minutes", [metrics.requests]),
    graph("Errors", "in 5 minutes", [metrics.clientErrors, metrics.serverErrors]),
    graph("Latency", "ms", [metrics.latencyP50, metrics.latencyP99]),
  );
  dashboard.addWidgets(
    graph("Rows of uploads", "a second", [metrics.rowsPerSecond]),
    graph("Age of jobs and messages", "s", [
      metrics.jobAgeSeconds,
      metrics.fileWaitSeconds,
      metrics.messageAgeSeconds.splitQueue,
      metrics.messageAgeSeconds.chunksQueue,
    ]),
    graph("Messages waiting", "messages", [...metrics.messagesWaiting, metrics.deadLettersHeld]),
  );
  dashboard.addWidgets(
    graph("Consumed read capacity", "units in 5 minutes", metrics.consumedReads),
    graph("Consumed write capacity", "units in 5 minutes", metrics.consumedWrites),
    graph("Refused and unlimited", "in 5 minutes", [
      metrics.unauthorized,
      metrics.rateLimited,
      metrics.throttledReads,
      metrics.throttledWrites,
      metrics.limiterFailedOpen,
      metrics.storeRefusals,
      metrics.directFailures,
      metrics.dataRefused,
    ]),
  );
  dashboard.addWidgets(
    graph("Lag of the change feed", "s", [metrics.changeAgeSeconds]),
    graph("Calls of webhooks", "in 5 minutes", [metrics.webhookCalls, metrics.webhookFailures]),
  );
  return dashboard;
}
