import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { provision, variablesOf } from "../../apps/local/engines/provision.ts";
import { createClients, createLocalRuntime, type LocalRuntime } from "../../apps/local/functions.ts";
import { REGION_CODE } from "../../apps/local/platform.ts";
import type { Clock } from "../../lib/clock.ts";
import { writeDataVersion } from "../../lib/store/data-version.ts";
import { aroundRequests } from "./faults.ts";
import manifest from "../../package.json" with { type: "json" };
import { TestLogger } from "./test-logger.ts";

/** A runtime with all clients and variables. */
export type TestRuntime = LocalRuntime;

/** Puts a header in place of a client's signatures, a third of a request's work: the embedded engines check none. */
const leaveUnsigned = ({ middlewareStack }: Pick<DynamoDBClient, "middlewareStack">): void => {
  if (process.env["DYNAMODB_ENDPOINT"] !== undefined) return;
  const authorization = "AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host;x-amz-date, Signature=0";
  middlewareStack.remove("httpSigningMiddleware");
  middlewareStack.add(
    (next) => (args) => {
      Object.assign((args.request as { readonly headers: object }).headers, { authorization, "x-amz-date": "-" });
      return next(args);
    },
    { step: "finalizeRequest", priority: "low", name: "leaveUnsigned" },
  );
};

/** The clients, with which all requests but S3's are unsigned. */
const unsigned = <C extends ReturnType<typeof createClients>>(clients: C): C => {
  leaveUnsigned(clients.dynamodb);
  leaveUnsigned(clients.sqs as unknown as DynamoDBClient);
  return clients;
};

/** Makes all clients as functions do. */
export const createTestClients = () => unsigned(createClients());

/** Makes tables. In DynamoDB Local nothing expires in them: it deletes by its own clock, not a test's. */
const createProvisioner = (): DynamoDBClient => {
  const client = new DynamoDBClient({});
  leaveUnsigned(client);
  const isLeftOut = (command: string): boolean =>
    command === "UpdateTimeToLiveCommand" && process.env["DYNAMODB_ENDPOINT"] !== undefined;
  aroundRequests(client, async (command, _, send) => (isLeftOut(command) ? { output: {} } : send()));
  return client;
};

/** Clients by their endpoints. */
const provisioners = new Map<string | undefined, DynamoDBClient>();

interface TestRuntimeOptions {
  readonly clock?: Clock;
  readonly variables?: Record<string, string>;
}

/** Creates tables, bucket and queues for this caller in the embedded engines, and a runtime for them. */
export const createTestRuntime = async (options: TestRuntimeOptions = {}): Promise<TestRuntime> => {
  const prefix = `test-${randomUUID()}-`;
  const { AWS_ENDPOINT_URL_SQS: sqs = "", AWS_ENDPOINT_URL_S3: s3 = "" } = process.env;
  const variables = {
    ...variablesOf(sqs, prefix),
    AWS_ENDPOINT_URL_S3: s3,
    S3_FORCE_PATH_STYLE: "true",
    LAMBDA_TASK_ROOT: tmpdir(),
    REGION_CODE,
    VERSION: manifest.version,
    ...options.variables,
  };
  const runtime = unsigned(createLocalRuntime(variables, new TestLogger()));
  const endpoint = process.env["AWS_ENDPOINT_URL_DYNAMODB"];
  const provisioner = provisioners.get(endpoint) ?? createProvisioner();
  provisioners.set(endpoint, provisioner);
  await provision({ ...runtime, dynamodb: provisioner }, prefix);
  const made = { ...runtime, clock: options.clock ?? Date.now };
  await writeDataVersion(made);
  return made;
};
