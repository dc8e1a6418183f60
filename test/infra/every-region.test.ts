import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildFunctions, functionNames } from "../../infra/build.ts";
import type { InstanceData, InstanceResponse } from "../../infra/local/lambda-instance.ts";
import { resolveTemplate } from "../../infra/local/template.ts";
import { functionsOf } from "../../infra/local/template-functions.ts";
import { createServiceApp } from "../../infra/service-app.ts";
import { REGIONS, regionCodes, stackIdOf } from "../../lib/regions.ts";

const directory = mkdtempSync(join(tmpdir(), "work-items-regions-"));
const bundles = join(directory, "bundles");
beforeAll(() => buildFunctions(bundles));
afterAll(() => rmSync(directory, { recursive: true }));

/** Loads a function as Lambda does, with the variables of its template and no others. */
const start = async (file: string, variables: Readonly<Record<string, string>>): Promise<InstanceResponse> => {
  const context = {
    functionName: "test",
    functionVersion: "$LATEST",
    invokedFunctionArn: "",
    memoryLimitInMB: "512",
    logGroupName: "",
    logStreamName: "",
  };
  const workerData: InstanceData = { file, handlerName: "handler", context };
  const { NODE_OPTIONS: _, ...env } = variables;
  const worker = new Worker(new URL("../../infra/local/lambda-instance.ts", import.meta.url), {
    workerData,
    env: { ...env, AWS_LAMBDA_FUNCTION_NAME: "test" },
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
  });
  const started = await new Promise<InstanceResponse>((resolve) => worker.once("message", resolve));
  await worker.terminate();
  return started;
};

describe.each(regionCodes)("region %s", (region) => {
  test("has codes that keys and host names can hold", () => {
    expect(region).toMatch(/^[a-z]{2}$/);
    expect(REGIONS[region].awsRegion).toMatch(/^[a-z]{2}(-[a-z]+)+-\d$/);
  });

  test("starts every function with the variables of its template", { timeout: 60_000 }, async () => {
    const outdir = mkdtempSync(join(directory, "app-"));
    const assembly = createServiceApp({ context: { region }, outdir, bundles }).synth();
    const stackName = stackIdOf(region);
    const { awsRegion } = REGIONS[region];
    const template = resolveTemplate({
      template: assembly.getStackByName(stackName).template,
      stackName,
      region: awsRegion,
      sqsEndpoint: "http://localhost",
    });
    const functions = functionsOf(template, outdir, { AWS_REGION: awsRegion });
    expect(functions.map(({ name }) => name).toSorted()).toEqual(
      functionNames.map((name) => `${stackName}-${name}`).toSorted(),
    );
    for (const { name, environment } of functions) {
      const bundle = join(bundles, name.slice(stackName.length + 1), "index.js");
      expect([name, await start(bundle, environment)]).toEqual([name, { kind: "ready" }]);
    }
  });
});
