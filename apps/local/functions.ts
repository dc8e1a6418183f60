import { randomUUID } from "node:crypto";
import type { Logger } from "@aws-lambda-powertools/logger";
import type { Context } from "aws-lambda";
import { createDynamoDbClient } from "@work-items/lib/aws/dynamodb-client.ts";
import { parseEnvironment } from "@work-items/lib/aws/environment.ts";
import type { Permissions } from "@work-items/lib/aws/permissions.ts";
import type { Runtime } from "@work-items/lib/aws/runtime.ts";
import { createS3Client } from "@work-items/lib/aws/s3-client.ts";
import { createSqsClient } from "@work-items/lib/aws/sqs-client.ts";
import { loggedError } from "@work-items/lib/http/middleware.ts";
import { resources } from "@work-items/lib/resources.ts";
import type { Variables } from "@work-items/terminal/environment-file.ts";
import { reportFullDisk } from "./engines/full-disk.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";

type Everything = Required<Permissions>;
const everything = Object.fromEntries(
  Object.keys(resources).map((name) => [name, { actions: [] }]),
) as never as Everything;

/** A runtime with all clients and variables, which suits every function. */
export type LocalRuntime = Runtime<Everything>;

/** Makes the clients. Endpoints and credentials come from this process's environment, as in functions. */
export const createClients = () => {
  const dynamodb = createDynamoDbClient();
  reportFullDisk(dynamodb);
  return { dynamodb, s3: createS3Client({ S3_FORCE_PATH_STYLE: true }), sqs: createSqsClient() };
};

/** @param variables name tables, bucket and queues */
export function createLocalRuntime(variables: Variables, log: Logger): LocalRuntime {
  return { environment: parseEnvironment(everything, variables), clock: Date.now, log, ...createClients() };
}

/** Handles an event as a deployed function does. The promise is rejected if the handler throws or takes too long. */
export type Invoke = (event: unknown, requestId?: string) => Promise<unknown>;

/** Makes the handler of the function with this name. */
export type CreateHandler = (
  name: string,
  runtime: LocalRuntime,
) => Promise<(event: unknown, context: Context) => Promise<unknown>>;

/** Loads the file of a function of this checkout. */
export function importFunction(name: string) {
  return import(`../../functions/${name}.ts`) as Promise<{ readonly create: (from: LocalRuntime) => never }>;
}

const createHandler: CreateHandler = async (name, runtime) => (await importFunction(name)).create(runtime);

/** Logs uncaught errors. In Lambda, such an error ends one instance and not the service. */
export function surviveUncaught(name: string, log: Logger): void {
  process.on("uncaughtException", (error) => {
    log.error("uncaught exception", { function: name, error: loggedError(error) });
  });
}

/** How functions are run. */
export interface FunctionHost {
  readonly runtime: LocalRuntime;
  /** @default createHandler */
  readonly create?: CreateHandler;
}

function contextOf(name: string, requestId: string, endsAt: number): Context {
  const ended = (): void => {};
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: name,
    functionVersion: "$LATEST",
    invokedFunctionArn: name,
    memoryLimitInMB: "1769",
    awsRequestId: requestId,
    logGroupName: name,
    logStreamName: name,
    getRemainingTimeInMillis: () => Math.max(0, endsAt - Date.now()),
    done: ended,
    fail: ended,
    succeed: ended,
  };
}

/** Imports a function. An error of an invocation is logged. */
export async function loadFunction(
  name: string,
  timeoutSeconds: number,
  { runtime, create = createHandler }: FunctionHost,
): Promise<Invoke> {
  const handle = await create(name, runtime);
  return async (event, requestId = randomUUID()) => {
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const late = new CommandError(`${name} timed out after ${timeoutSeconds} s`);
    const timer = setTimeout(reject, timeoutSeconds * 1000, late);
    try {
      const context = contextOf(name, requestId, Date.now() + timeoutSeconds * 1000);
      return await Promise.race([handle(event, context), timeout]);
    } catch (error) {
      runtime.log.error("invocation failed", {
        function: name,
        request_id: requestId,
        error: loggedError(error),
      });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}
