import { describe, expect, test } from "vitest";
import { resourcesOfKind } from "../../lib/resources.ts";
import { plain, resourceOf, resourcesOf, synthesize } from "./synthesized.ts";

const { us } = synthesize({ alarmEmail: "on-call@example.com" });

interface MetricQuery {
  readonly Expression?: string;
  readonly MetricStat?: { readonly Metric: { readonly MetricName: string } };
}
interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly string[];
  readonly MetricName?: string;
  readonly Metrics?: readonly MetricQuery[];
}
const alarms = resourcesOf(us, "AWS::CloudWatch::Alarm").map(([, properties]) => plain(properties) as Alarm);
const metricNames = ({ MetricName: name, Metrics: queries = [] }: Alarm): readonly string[] => [
  ...(name === undefined ? [] : [name]),
  ...queries.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric.MetricName])),
];
const alarm = (name: string): Alarm => {
  const found = alarms.find(({ AlarmName }) => AlarmName === `WorkItems-us-${name}`);
  if (found === undefined) throw new Error(`no alarm ${name}`);
  return found;
};

const tablesAndIndexes = resourcesOfKind("table").flatMap(([name, { indexes }]) => [name, ...Object.keys(indexes)]);

describe("alarms", () => {
  test.each([
    ["DeadLetters", ["Invocations"]],
    ["DeadLettersStuck", ["ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesVisible"]],
    ["ServerErrors", ["Count", "5XXError"]],
    ["Latency", ["Latency"]],
    ["ThrottledWrites", tablesAndIndexes.map(() => "WriteThrottleEvents")],
    ["JobAge", ["JobAgeSeconds"]],
    ["LimiterFailingOpen", ["LimiterFailedOpen"]],
    ["StoreRefusals", ["StoreRefusals"]],
    ["SweepStopped", ["Invocations"]],
  ])("%s watches %j", (name, metrics) => {
    expect(metricNames(alarm(name)).toSorted()).toEqual(metrics.toSorted());
  });

  test("each describes its impact on callers and is sent to the topic", () => {
    const topic = resourcesOf(us, "AWS::SNS::Topic")[0]?.[0];
    for (const { AlarmName: name, AlarmDescription: impact, AlarmActions: actions } of alarms) {
      expect([name, impact]).toEqual([name, expect.stringMatching(/^Impact: [A-Z].{40,}\.$/)]);
      expect(actions).toEqual([topic]);
    }
  });

  test("the topic accepts alarms of this account and has the given subscriber", () => {
    expect(plain(resourceOf(us, "AWS::SNS::TopicPolicy"))).toMatchObject({
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Action: "sns:Publish",
            Effect: "Allow",
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": "AWS::AccountId" } },
          }),
        ]),
      },
    });
    expect(resourceOf(us, "AWS::SNS::Subscription")).toMatchObject({
      Protocol: "email",
      Endpoint: "on-call@example.com",
    });
  });

  test.each(["JobAge", "LimiterFailingOpen"])("%s looks where functions write their own metrics", (name) => {
    expect(alarm(name).Metrics).toMatchObject([
      { MetricStat: { Metric: { Namespace: "WorkItems", Dimensions: [{ Name: "service", Value: "WorkItems-us" }] } } },
    ]);
  });
});

test("the dashboard shows requests, errors, latency, rows a second, job age and consumed capacity", () => {
  const { DashboardBody: body } = plain(resourceOf(us, "AWS::CloudWatch::Dashboard")) as { DashboardBody: string };
  const { widgets } = JSON.parse(body) as {
    widgets: readonly { properties: { title: string; metrics?: unknown[] } }[];
  };
  const graphs = widgets.filter(({ properties }) => (properties.metrics?.length ?? 0) > 0);
  expect(graphs.map(({ properties }) => properties.title)).toEqual([
    "Requests",
    "Errors",
    "Latency",
    "Rows of uploads",
    "Job age",
    "Messages waiting",
    "Consumed read capacity",
    "Consumed write capacity",
    "Refused and unlimited",
  ]);
});
