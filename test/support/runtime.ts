import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { pages } from "../../functions/pages.ts";
import { provision } from "../../infra/local/engines/provision.ts";
import { type Synthesis, synthesize } from "../../infra/local/synthesis.ts";
import { ResolvedTemplate } from "../../infra/local/template.ts";
import { functionsOf } from "../../infra/local/lambda/template-functions.ts";
import type { Clock } from "../../lib/clock.ts";
import { resources } from "../../lib/resources.ts";
import { createDynamoDbClient } from "../../lib/aws/dynamodb-client.ts";
import { parseEnvironment } from "../../lib/aws/environment.ts";
import type { Permissions } from "../../lib/aws/permissions.ts";
import type { Runtime } from "../../lib/aws/runtime.ts";
import { createS3Client } from "../../lib/aws/s3-client.ts";
import { createSqsClient } from "../../lib/aws/sqs-client.ts";
import { TestLogger } from "./test-logger.ts";

/** Permissions on all resources, so that tests can pass one runtime to any function. */
type Everything = Required<Permissions>;
const everything = Object.fromEntries(
  Object.keys(resources).map((name) => [name, { actions: [] }]),
) as never as Everything;

/** A runtime with all clients and variables. */
export type TestRuntime = Runtime<Everything>;

/** Makes all clients as functions do. */
export const createTestClients = () => ({
  dynamodb: createDynamoDbClient(),
  s3: createS3Client({ S3_FORCE_PATH_STYLE: true }),
  sqs: createSqsClient(),
});

let synthesis: Promise<Synthesis> | undefined;

interface TestRuntimeOptions {
  readonly clock?: Clock;
  readonly variables?: Record<string, string>;
}

/** Creates the template's tables, bucket and queues for this caller in the embedded engines, and a runtime for them. */
export const createTestRuntime = async (options: TestRuntimeOptions = {}): Promise<TestRuntime> =>
  (await createTestDeployment(options)).runtime;

/** The same, with the template that names these resources. */
export const createTestDeployment = async (
  options: TestRuntimeOptions = {},
): Promise<{ readonly runtime: TestRuntime; readonly template: ResolvedTemplate }> => {
  const { template: raw, region, directory } = await (synthesis ??= synthesize());
  const sqsEndpoint = process.env["AWS_ENDPOINT_URL_SQS"] ?? "";
  const template = new ResolvedTemplate({ template: raw, stackName: `test-${randomUUID()}`, region, sqsEndpoint });
  const clients = createTestClients();
  const engine = new DynamoDBClient({});
  await provision(template, { ...clients, dynamodb: engine });
  engine.destroy();
  const functions = functionsOf(template, directory, {
    S3_FORCE_PATH_STYLE: "true",
    AWS_ENDPOINT_URL_S3: process.env["AWS_ENDPOINT_URL_S3"] ?? "",
  });
  const code = functions.find(({ name }) => name.endsWith(`-${pages.name}`))?.directory;
  const variables = Object.assign(
    { LAMBDA_TASK_ROOT: code },
    ...functions.map(({ environment }) => environment),
    options.variables,
  );
  const environment = parseEnvironment(everything, variables as Record<string, string>);
  return { template, runtime: { environment, clock: options.clock ?? Date.now, log: new TestLogger(), ...clients } };
};
