import type { Stack } from "aws-cdk-lib";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { describe, expect, test } from "vitest";
import { EVERY_SETTING } from "../../infra/every-setting.ts";
import { makeApp } from "../../infra/synthesized.ts";

/** The app of one region after a change to its stack. */
const appWith = (change: (stack: Stack) => void, validates = false) => {
  const app = makeApp({}, { region: "us" }, validates);
  change(app.node.findChild("WorkItems-us") as Stack);
  return app;
};

const giveFunctionMoreTimeThanThereIs = (stack: Stack): void =>
  stack.node
    .findAll()
    .find((node) => node instanceof CfnFunction)
    ?.addPropertyOverride("Timeout", 1000);

describe("the rules at synthesis", () => {
  test("cdk-nag rejects a queue without dead letters", () => {
    expect(() => appWith((stack) => new Queue(stack, "Bare", { enforceSSL: true })).synth()).toThrow(
      "AwsSolutions-SQS3",
    );
  });

  test.each([
    ["no settings", {}],
    ["every setting", EVERY_SETTING],
    ["the settings of a small account", { smallAccount: true }],
  ])("CloudFormation's own rules accept a stack with %s", (_, settings) => {
    // One region: the other's is alike in all but names.
    expect(() => makeApp(settings, { region: "us" }, true).synth()).not.toThrow();
  });

  test("CloudFormation's own rules reject a function that may run longer than Lambda allows", () => {
    expect(() => appWith(giveFunctionMoreTimeThanThereIs, true).synth()).toThrow("1000 exceeds maximum 900");
  });

  test("each rule that is acknowledged has a reason in words", () => {
    const acknowledged = makeApp()
      .node.findAll()
      .flatMap(({ node }) => node.metadata)
      .filter(({ type }) => type === "aws:cdk:acknowledged-rules")
      .flatMap(({ data }) => Object.entries(data as Record<string, unknown>));
    expect(acknowledged.length).toBeGreaterThan(5);
    for (const [rule, reason] of acknowledged)
      expect([rule, String(reason).split(" ").length > 5]).toEqual([rule, true]);
  });
});
