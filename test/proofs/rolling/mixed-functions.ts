import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "aws-lambda";
import type { CreateHandler, LocalRuntime } from "../../../infra/local/functions.ts";

/** The two versions of a rolling deployment. */
export type Side = "older" | "newer";

type Handler = (event: unknown, context: Context) => Promise<unknown>;
type Make<T> = (environment: T) => unknown;
type Named = Readonly<Record<string, { readonly variable: string }>>;

/**
 * A version's functions, with clients and environment as its own code makes them.
 * @returns undefined if it has no such function
 */
function createVersion(directory: string) {
  const load = <T>(file: string) => import(pathToFileURL(join(directory, file)).href) as Promise<T>;
  let own: Promise<LocalRuntime> | undefined;
  const runtimeOf = async (host: LocalRuntime): Promise<LocalRuntime> => {
    const { resources } = await load<{ resources: Named }>("lib/resources.ts");
    const everything = Object.fromEntries(Object.keys(resources).map((name) => [name, { actions: [] }]));
    const { parseEnvironment } = await load<{
      parseEnvironment: (permissions: unknown, variables: NodeJS.ProcessEnv) => LocalRuntime["environment"];
    }>("lib/aws/environment.ts");
    // It fails if the newer version calls a table, bucket or queue differently: a deployment would start without data.
    const environment = parseEnvironment(everything, process.env);
    const { createDynamoDbClient } = await load<{ createDynamoDbClient: Make<typeof environment> }>(
      "lib/aws/dynamodb-client.ts",
    );
    const { createS3Client } = await load<{ createS3Client: Make<typeof environment> }>("lib/aws/s3-client.ts");
    const { createSqsClient } = await load<{ createSqsClient: Make<typeof environment> }>("lib/aws/sqs-client.ts");
    const clients = {
      dynamodb: createDynamoDbClient(environment),
      s3: createS3Client(environment),
      sqs: createSqsClient(environment),
    };
    return { ...host, environment, ...clients } as LocalRuntime;
  };
  return async (name: string, host: LocalRuntime): Promise<Handler | undefined> => {
    const file = `functions/${name}.ts`;
    if (!existsSync(join(directory, file))) return undefined;
    const { create } = await load<{ create: (runtime: LocalRuntime) => Handler }>(file);
    return create(await (own ??= runtimeOf(host)));
  };
}

/**
 * Makes functions that serve each invocation by their older or their newer version. Routes, queues and triggers are those
 * of this checkout, as CloudFormation changes them while functions of both versions run. A function that only one
 * version has is served by that.
 * @param directories the versions' checkouts
 * @param choose called once for each invocation of a function that both have
 * @param onServed called once for each invocation
 */
export function createMixedFunctions(
  directories: Readonly<Record<Side, string>>,
  choose: () => Side,
  onServed: (side: Side) => void,
): CreateHandler {
  const versions = { older: createVersion(directories.older), newer: createVersion(directories.newer) };
  return async (name, runtime) => {
    const [older, newer] = await Promise.all([versions.older(name, runtime), versions.newer(name, runtime)]);
    const sideOf = (): Side => {
      if (older === undefined) return "newer";
      return newer === undefined ? "older" : choose();
    };
    return async (event, context) => {
      const side = sideOf();
      onServed(side);
      return (side === "older" ? older : newer)?.(event, context);
    };
  };
}
