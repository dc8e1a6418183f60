import { describe, expect, test } from "vitest";
import { functionNames } from "../../infra/build.ts";
import { allWorkers } from "../../functions/workers.ts";
import { evaluateExpression } from "../support/alarms/math-expression.ts";
import { plain, type Resource, resourcesOf, synthesize, type Template } from "./synthesized.ts";
import { EVERY_SETTING } from "./every-setting.ts";

const WORKERS = new Set(allWorkers.map(({ name }) => name));
const apiFunctions = functionNames.filter((name) => !WORKERS.has(name));

const atOnce = synthesize().us;
const everything = synthesize(EVERY_SETTING).us;

const count = (template: Template, type: string): number => resourcesOf(template, type).length;
const entries = (template: Template): [string, Resource][] => Object.entries(template.Resources);

describe("a rollout by canary", () => {
  test("is that of each function of the API, but not of a worker", () => {
    expect(count(everything, "AWS::Lambda::Alias")).toBe(apiFunctions.length);
    expect(count(everything, "AWS::CodeDeploy::DeploymentGroup")).toBe(apiFunctions.length);
    for (const [, group] of resourcesOf(everything, "AWS::CodeDeploy::DeploymentGroup")) {
      expect(plain(group)).toMatchObject({
        DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent5Minutes",
        AlarmConfiguration: {
          Enabled: true,
          Alarms: [
            { Name: expect.stringMatching(/^Failing/) as string },
            { Name: expect.stringMatching(/^\w+Failing/) as string },
          ],
        },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: expect.arrayContaining(["DEPLOYMENT_STOP_ON_ALARM"]) as string[],
        },
      });
    }
    const aliases = entries(everything).filter(([, { Type }]) => Type === "AWS::Lambda::Alias");
    for (const [, alias] of aliases) expect(alias).toHaveProperty("UpdatePolicy.CodeDeployLambdaAliasUpdate");
    for (const name of WORKERS) {
      const worker = name.replaceAll("-", "").toLowerCase();
      expect(aliases.filter(([id]) => id.toLowerCase().startsWith(worker))).toEqual([]);
    }
  });

  test("is what every method calls, and may call", () => {
    const aliasIds = new Set(resourcesOf(everything, "AWS::Lambda::Alias").map(([id]) => id));
    for (const [, method] of resourcesOf(everything, "AWS::ApiGateway::Method")) {
      const { Uri: uri } = (plain(method) as { Integration: { Uri: string } }).Integration;
      expect([...aliasIds].some((id) => uri.includes(id))).toBe(true);
    }
    const [, invoker] = resourcesOf(everything, "AWS::IAM::Role").find(([id]) => id.startsWith("ApiInvoker"))!;
    const { Policies: policies } = plain(invoker) as {
      Policies: { PolicyDocument: { Statement: { Resource: string[] }[] } }[];
    };
    const invoked = policies.flatMap(
      ({
        PolicyDocument: {
          Statement: [only],
        },
      }) => only?.Resource ?? [],
    );
    expect(new Set(invoked)).toEqual(aliasIds);
  });

  test("keeps old versions for a rollback by hand", () => {
    const versions = entries(everything).filter(([, { Type }]) => Type === "AWS::Lambda::Version");
    expect(versions).toHaveLength(apiFunctions.length);
    for (const [, version] of versions) expect(version.DeletionPolicy).toBe("Retain");
  });

  test("ends when one of a hundred requests fails, or three of a quiet minute", () => {
    const [, alarm] = resourcesOf(everything, "AWS::CloudWatch::Alarm").find(([id]) => id.startsWith("Failing")) ?? [];
    const { Metrics: metrics = [], Threshold: threshold = 0 } = alarm as {
      Metrics?: { Expression?: string }[];
      Threshold?: number;
    };
    const { Expression: expression = "" } = metrics.find((metric) => metric.Expression !== undefined) ?? {};
    const isOn = (requests: number, errors: number): boolean => {
      const values: Record<string, number> = { requests, errors };
      return (evaluateExpression(expression, (id) => values[id]) ?? 0) >= threshold;
    };
    expect([isOn(20, 2), isOn(20, 3), isOn(1000, 9), isOn(1000, 10)]).toEqual([false, true, false, true]);
  });

  test("ends when an endpoint fails alone, even one with few calls", () => {
    const alarms = resourcesOf(everything, "AWS::CloudWatch::Alarm").filter(([, { AlarmName: name }]) =>
      apiFunctions.some((each) => name === `WorkItems-us-${each}-Rollout`),
    );
    expect(alarms).toHaveLength(apiFunctions.length);
    for (const [id, alarm] of alarms) {
      const { Metrics: metrics, Threshold: threshold } = plain(alarm) as {
        Metrics: {
          Id: string;
          Expression?: string;
          MetricStat?: { Metric: { Dimensions: { Name: string; Value: string }[] } };
        }[];
        Threshold: number;
      };
      const expression = metrics.find((metric) => metric.Expression !== undefined)!.Expression!;
      const isOn = (calls: number, failures?: number, crashes?: number): boolean => {
        const values: Record<string, number | undefined> = { calls, failures, crashes };
        return (evaluateExpression(expression, (name) => values[name]) ?? 0) >= threshold;
      };
      expect([isOn(3, 1), isOn(3, 2), isOn(3, undefined, 2), isOn(3, 1, 1), isOn(3)]).toEqual([
        false,
        true,
        true,
        true,
        false,
      ]);
      expect([isOn(1000, 49), isOn(1000, 50), isOn(1000, 25, 25)]).toEqual([false, true, true]);
      // Of the new version alone: the old one's calls are nine times as many.
      const versionOf = (name: string): string | undefined =>
        metrics
          .find((metric) => metric.Id === name)
          ?.MetricStat?.Metric.Dimensions.find(({ Name }) => /version/i.test(Name))?.Value;
      const version = expect.stringMatching(
        new RegExp(`^${id.slice(0, id.indexOf("Failing"))}FunctionCurrentVersion`),
      ) as string;
      expect([versionOf("calls"), versionOf("failures"), versionOf("crashes")]).toEqual([version, version, version]);
    }
  });

  test("is off in stages that don't configure it", () => {
    for (const type of ["AWS::Lambda::Alias", "AWS::CodeDeploy::DeploymentGroup", "AWS::CodeDeploy::Application"]) {
      expect(count(atOnce, type)).toBe(0);
    }
  });
});
