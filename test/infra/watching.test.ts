import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PROJECT_ROOT } from "../../infra/build.ts";
import { resourcesOfKind } from "../../lib/resources.ts";
import { evaluateExpression } from "./alarms/math-expression.ts";
import { EVERY_SETTING } from "./every-setting.ts";
import { plain, resourceOf, resourcesOf, synthesize, type Template } from "./synthesized.ts";

const { us } = synthesize({ alarmEmail: "on-call@example.com" });
const everything = synthesize(EVERY_SETTING).us;

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly string[];
  readonly Metrics?: readonly unknown[];
}
const alarmsOf = (template: Template): Alarm[] =>
  resourcesOf(template, "AWS::CloudWatch::Alarm").map(([, properties]) => plain(properties) as Alarm);
const alarms = alarmsOf(us);
const document = (name: string): string => readFileSync(join(PROJECT_ROOT, "docs", name), "utf8");
const alarm = (name: string): Alarm => {
  const found = alarms.find(({ AlarmName }) => AlarmName === `WorkItems-us-${name}`);
  if (found === undefined) throw new Error(`no alarm ${name}`);
  return found;
};

const indexes = resourcesOfKind("table").flatMap(([, table]) => Object.values(table.indexes));

describe("alarms", () => {
  test("ThrottledWrites watches every table and large index, and one more has a place among its ten metrics", () => {
    const watched = resourcesOfKind("table").length + indexes.filter(({ isSmall = false }) => !isSmall).length;
    expect(alarm("ThrottledWrites").Metrics).toHaveLength(watched + 1);
    expect(watched).toBeLessThan(10);
  });

  test("each describes its impact on callers, and names its section of the runbook", () => {
    for (const { AlarmName: name, AlarmDescription: impact } of alarms) {
      const anchor = name.slice("WorkItems-us-".length).toLowerCase();
      expect(impact).toMatch(new RegExp(`^Impact: [A-Z].{40,}\\. Runbook: docs/runbook\\.md#${anchor}$`));
    }
  });

  test("each section of the runbook that a message names has a command, and its logs and saved queries exist", () => {
    const runbook = document("runbook.md");
    const sections = new Map(
      runbook
        .split(/^## /m)
        .slice(1)
        .map((section) => [section.slice(0, section.indexOf("\n")).toLowerCase(), section]),
    );
    const named = JSON.stringify(everything).matchAll(/docs\/runbook\.md#(\w+)/g);
    // No message names what isn't noticed by an alarm of its own.
    for (const unnamed of ["paused", "an operator's credentials leaked"]) expect(sections.delete(unnamed)).toBe(true);
    expect(new Set([...named].map(([, anchor]) => anchor))).toEqual(new Set(sections.keys()));
    for (const [anchor, section] of sections) {
      for (const part of ["**Find the cause.**", "**Fix it.**", "**It is over** when "])
        expect([anchor, section]).toEqual([anchor, expect.stringContaining(part)]);
      expect([anchor, /^ {4}\S/m.test(section)]).toEqual([anchor, true]);
    }
    const { us: prod } = synthesize({}, { stage: "prod" });
    const groups = resourcesOf(prod, "AWS::Logs::LogGroup").map(([, { LogGroupName: name }]) => name);
    const read = [...runbook.matchAll(/aws logs tail (\S+)/g)].map(([, name]) => name);
    expect(read.filter((name) => !groups.includes(name))).toEqual([]);
    const queries = resourcesOf(prod, "AWS::Logs::QueryDefinition").map(([, { Name: name }]) => name);
    const asked = [...runbook.matchAll(/saved query\s_([^_]+)_/g)].map(([, name]) => `WorkItems-us-prod/${name}`);
    expect(asked.filter((name) => !queries.includes(name))).toEqual([]);
    const functions = resourcesOf(prod, "AWS::Lambda::Function").map(([, { FunctionName: name }]) => name);
    const started = [...runbook.matchAll(/--function-name (\S+)/g)].map(([, name]) => name);
    expect(started.filter((name) => !functions.includes(name))).toEqual([]);
    const rules = resourcesOf(prod, "AWS::Events::Rule").map(([id]) => id);
    const listed = [...runbook.matchAll(/list-rules --name-prefix WorkItems-us-prod-(\w+)/g)].map(([, id = ""]) => id);
    expect(listed.filter((id) => !rules.some((rule) => rule.startsWith(id)))).toEqual([]);
    const outputs = [...runbook.matchAll(/output (\w+)>|outputs? `(\w+)`/g)].map(([, a, b]) => a ?? b ?? "");
    expect(outputs.filter((name) => !(name in everything.Outputs))).toEqual([]);
  });

  test("the page about the first day names functions, alarms, rules, logs and outputs of the stack", () => {
    const page = document("first-day.md");
    const { us: prod } = synthesize({ firewall: "count" }, { stage: "prod" });
    const namesOf = (type: string, property: string): unknown[] =>
      resourcesOf(prod, type).map(([, { [property]: name }]) => name);
    const listed = [...page.matchAll(/for name in ([a-z- ]+);/g)].flatMap(([, names = ""]) => names.split(" "));
    const functions = [
      ...listed.map((name) => `WorkItems-us-prod-${name}`),
      ...[...page.matchAll(/--function-name (\S+)/g)].map(([, name]) => name),
    ];
    expect(functions.length).toBeGreaterThan(10);
    expect(functions.filter((name) => !namesOf("AWS::Lambda::Function", "FunctionName").includes(name))).toEqual([]);
    const groups = namesOf("AWS::Logs::LogGroup", "LogGroupName");
    const read = [...page.matchAll(/(?:aws logs tail |LogGroupName,Value=)(\S+)/g)].map(([, name]) => name);
    expect(read.filter((name) => !groups.includes(name))).toEqual([]);
    const outputs = Object.keys(prod.Outputs ?? {});
    const named = [...page.matchAll(/<output (\w+)>/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !outputs.includes(name))).toEqual([]);
    const alarmNames = namesOf("AWS::CloudWatch::Alarm", "AlarmName");
    for (const name of ["SweepStopped", "StoreRefusals", "RetentionBehind"]) {
      expect(page).toContain(name);
      expect(alarmNames).toContain(`WorkItems-us-prod-${name}`);
    }
    const [, rule = ""] = /--name-prefix WorkItems-us-prod-(\w+)/.exec(page) ?? [];
    expect(resourcesOf(prod, "AWS::Events::Rule").filter(([id]) => id.startsWith(rule))).toHaveLength(1);
  });

  test("each is sent to the topic that operations.md says", () => {
    const [pages] = resourcesOf(everything, "AWS::SNS::Topic").map(([id]) => id);
    const sent = new Map(
      alarmsOf(everything).map(({ AlarmName: name, AlarmActions: [topic] }) => [
        name.slice("WorkItems-us-".length),
        topic === pages ? "page" : "ticket",
      ]),
    );
    const written = document("operations.md").matchAll(/^\| (\S+) +\| (page|ticket) +\|/gm);
    const topics = new Map([...written].map(([, name, topic]) => [name, topic]));
    expect(topics).toEqual(new Map([...sent, ["BackupFailed", "ticket"]]));
  });

  test("the topics accept alarms of this account and have the given subscribers", () => {
    const policies = resourcesOf(us, "AWS::SNS::TopicPolicy").map(([, policy]) => plain(policy));
    const accepted = {
      PolicyDocument: expect.objectContaining({
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Action: "sns:Publish",
            Effect: "Allow",
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": "AWS::AccountId" } },
          }),
        ]) as unknown,
      }) as unknown,
    };
    expect(policies).toEqual([expect.objectContaining(accepted), expect.objectContaining(accepted)]);
    const email = { Protocol: "email", Endpoint: "on-call@example.com" };
    const subscriptions = resourcesOf(us, "AWS::SNS::Subscription").map(([, subscription]) => subscription);
    expect(subscriptions).toEqual([expect.objectContaining(email), expect.objectContaining(email)]);
    const { us: split } = synthesize({ alarmEmail: "on-call@example.com", ticketEmail: "later@example.com" });
    const addresses = resourcesOf(split, "AWS::SNS::Subscription").map(([, { Endpoint: address }]) => address);
    expect(addresses).toEqual(["on-call@example.com", "later@example.com"]);
  });

  test("the topics are encrypted by a key that CloudWatch may use for this account", () => {
    const [keyId, key] = resourcesOf(us, "AWS::KMS::Key")[0] ?? [];
    for (const [, topic] of resourcesOf(us, "AWS::SNS::Topic")) {
      expect(plain(topic)).toMatchObject({ KmsMasterKeyId: `${keyId}.Arn` });
    }
    expect(key).toMatchObject({
      EnableKeyRotation: true,
      KeyPolicy: {
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Action: ["kms:Decrypt", "kms:GenerateDataKey*"],
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
          }),
        ]),
      },
    });
  });

  test("a topic of the operator's own gets them too", () => {
    const alarmTopic = "arn:aws:sns:us-east-1:111122223333:on-call";
    const { us: template } = synthesize({ regions: { us: { alarmTopic }, eu: {} } });
    for (const { AlarmActions: actions } of alarmsOf(template))
      expect(actions).toEqual([expect.any(String), alarmTopic]);
  });

  test.each(["JobAge", "FilesWaiting", "LimiterFailingOpen"])(
    "%s looks where functions write their own metrics",
    (name) => {
      expect(alarm(name).Metrics).toMatchObject([
        {
          MetricStat: { Metric: { Namespace: "WorkItems", Dimensions: [{ Name: "service", Value: "WorkItems-us" }] } },
        },
      ]);
    },
  );
});

test("the dashboard shows service levels, requests, errors, latency, rows a second, ages, consumed capacity and the lag of changes", () => {
  const { DashboardBody: body } = plain(resourceOf(us, "AWS::CloudWatch::Dashboard")) as { DashboardBody: string };
  const { widgets } = JSON.parse(body) as {
    widgets: readonly { properties: { title: string; metrics?: unknown[] } }[];
  };
  const graphs = widgets.filter(({ properties }) => (properties.metrics?.length ?? 0) > 0);
  expect(graphs.map(({ properties }) => properties.title)).toEqual([
    "Service level of calls: 99.9 % in 30 days",
    "Service level of uploads: 99 % in 30 days",
    "Requests",
    "Errors",
    "Latency",
    "Rows of uploads",
    "Age of jobs and messages",
    "Messages waiting",
    "Consumed read capacity",
    "Consumed write capacity",
    "Refused and unlimited",
    "Lag of the change feed",
    "Calls of webhooks",
  ]);
});

test.each([
  ["calls", { requests: 10_000, errors: 5 }, [99.95, 50]],
  ["calls", { requests: 10_000, errors: 20 }, [99.8, -100]],
  ["calls", { requests: 10_000 }, [100, 100]],
  ["uploads", { jobs: 100, files: 99.5 }, [99.5, 50]],
] as const)("the service level of %s and its error budget, if there are %j, are %j", (name, values, expected) => {
  const { DashboardBody: body } = plain(resourceOf(us, "AWS::CloudWatch::Dashboard")) as { DashboardBody: string };
  const { widgets } = JSON.parse(body) as {
    widgets: readonly { properties: { title: string; start?: string; metrics: { expression?: string }[][] } }[];
  };
  const { properties } = widgets.find((each) => each.properties.title.startsWith(`Service level of ${name}`))!;
  expect(properties).toMatchObject({ start: "-P30D", setPeriodToTimeRange: true });
  const shown = properties.metrics.flatMap(([{ expression } = {}]) => expression ?? []);
  const valueOf = (id: string) => new Map<string, number>(Object.entries(values)).get(id);
  expect(shown.map((expression) => evaluateExpression(expression, valueOf)?.toFixed(3))).toEqual(
    expected.map((value) => value.toFixed(3)),
  );
});

test("a sweep that fails is not repeated by Lambda: the next one follows soon enough", () => {
  const configs = resourcesOf(us, "AWS::Lambda::EventInvokeConfig").map(([, config]) => plain(config));
  const wanted = { SweepUploads: 60, SweepWebhooks: 60, SweepChanges: 600, EraseExpired: 900 };
  expect(configs).toHaveLength(Object.keys(wanted).length);
  for (const [name, seconds] of Object.entries(wanted)) {
    expect(configs).toContainEqual(
      expect.objectContaining({
        FunctionName: expect.stringContaining(name) as string,
        MaximumRetryAttempts: 0,
        MaximumEventAgeInSeconds: seconds,
      }),
    );
  }
});
