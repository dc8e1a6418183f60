import { Logger } from "@aws-lambda-powertools/logger";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Clock } from "../clock.ts";
import { type Environment, parseEnvironment } from "./environment.ts";
import type { Touches } from "./touches.ts";

/** All that a function gets from outside. Made once per function instance; tests make their own. */
export interface Runtime<T extends Touches = Touches> {
  readonly environment: Environment<T>;
  readonly clock: Clock;
  readonly dynamodb: DynamoDBDocumentClient;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
  readonly log: Logger;
}

/** Three attempts a request: a caller of an API waits at most a few seconds before it hears 503. */
const retries = { maxAttempts: 3, retryMode: "standard" } as const;
const timeouts = { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true } as const;

/** The SDK copies every input and output for a logger that we do not give it. */
const createDynamoDbClient = (): DynamoDBClient => {
  const client = new DynamoDBClient({ ...retries, requestHandler: timeouts });
  client.middlewareStack.remove("loggerMiddleware");
  return client;
};

/** Clients as every function uses them. Endpoints, region and credentials come from the SDK's own environment variables. */
export const createClients = (options: { readonly s3ForcePathStyle: boolean }) => ({
  dynamodb: DynamoDBDocumentClient.from(createDynamoDbClient(), { marshallOptions: { removeUndefinedValues: true } }),
  s3: new S3Client({
    ...retries,
    requestHandler: { ...timeouts, requestTimeout: 30_000 },
    forcePathStyle: options.s3ForcePathStyle,
  }),
  // A queue's URL names its host as the queue's own engine knows it, which embedded engines cannot be reached by.
  sqs: new SQSClient({ ...retries, requestHandler: timeouts, useQueueUrlAsEndpoint: false }),
});

/** @throws Error naming every missing variable. */
export const createRuntime = <const T extends Touches>(touches: T): Runtime<T> => {
  const environment = parseEnvironment(touches, process.env);
  const { S3_FORCE_PATH_STYLE: s3ForcePathStyle } = parseEnvironment({}, process.env);
  return { environment, clock: Date.now, log: new Logger(), ...createClients({ s3ForcePathStyle }) };
};

/**
 * The exported handler of a function. In Lambda its runtime is made at import, while start-up CPU is free;
 * elsewhere at the first call, so that importing a function needs no environment.
 */
export const lambda = <const T extends Touches, E, C, R>(
  touches: T,
  create: (runtime: Runtime<T>) => (event: E, context: C) => Promise<R>,
): ((event: E, context: C) => Promise<R>) => {
  let instance = process.env["AWS_LAMBDA_FUNCTION_NAME"] === undefined ? undefined : create(createRuntime(touches));
  return (event, context) => (instance ??= create(createRuntime(touches)))(event, context);
};
