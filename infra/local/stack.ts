import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createAwsTerms, type Service } from "./aws-terms/aws-terms.ts";
import { openDataDirectory } from "./data-directory.ts";
import { prepareDemoOrganization } from "./demo-organization.ts";
import { type DynamoDbEngine, startDynamoDbEngine } from "./engines/dynamodb.ts";
import { readEnvironmentFile, type Variables, writeEnvironmentFile } from "../environment-file.ts";
import { pollEventSource } from "./lambda/event-source.ts";
import { type FauxqsEngine, startFauxqsEngine } from "./engines/fauxqs.ts";
import { startGateway } from "./gateway/gateway.ts";
import { createLambdaFunction, type FunctionDefinition, type LambdaFunction } from "./lambda/lambda-function.ts";
import { LocalStackError, reasonOf } from "./local-stack-error.ts";
import { provision } from "./engines/provision.ts";
import { s3Cors } from "./s3/cors.ts";
import { startS3Proxy } from "./s3/proxy.ts";
import { s3Notifications } from "./s3/notification.ts";
import { startSchedule } from "./lambda/schedule.ts";
import { type Synthesis, synthesize } from "./synthesis.ts";
import { ACCOUNT, type ResolvedTemplate, resolveTemplate } from "./template.ts";
import { functionsOf, mappingsOf, schedulesOf } from "./lambda/template-functions.ts";

/** Only the S3 proxy checks them. */
const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" } as const;
/** Workers that run longer are interrupted; their messages are delivered again after the next start. */
const WORKERS_STOP_WITHIN_MS = 5000;

/** Options of the local stack. */
export interface LocalStackOptions {
  /** 0 selects any free port. @default 3000 */
  readonly port?: number;
  /** @default ".local" */
  readonly dataDirectory?: string;
  /** Endpoint of a DynamoDB that is running already. @default the embedded engine is started */
  readonly dynamodbEndpoint?: string | undefined;
  /** Origins of the pages that may call the API. @default those of the stage dev */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Serves as AWS does: with throttling, conflicts, lag and lost responses, by this seed.
   * @default the engines' own kind of service
   */
  readonly awsTermsSeed?: number | undefined;
  /** What is run. @default this checkout, synthesized with `allowedOrigins` */
  readonly synthesis?: Synthesis;
  /** Makes a function of the template. @default createLambdaFunction */
  readonly functionOf?: (definition: FunctionDefinition, log: readonly number[]) => LambdaFunction;
  /** Also prints the functions' log. @default one line for each unexpected error; the log is in functions.log */
  readonly verbose?: boolean;
}

/** The whole service, running on this machine. */
export interface LocalStack {
  readonly baseUrl: string;
  /** API key of the organization `demo`. */
  readonly apiKey: string;
  /** Variables that name this stack's tables, bucket and queues; also written to `env` in the data directory. */
  readonly environment: Variables;
  readonly dataDirectory: string;
  /** Starts the names of its functions. */
  readonly stackName: string;
  /** Resolves with the reason when an engine ends unexpectedly. */
  readonly failed: Promise<LocalStackError>;
  /** Finishes the requests in flight, then ends everything. */
  stop(): Promise<void>;
}

/** Variables that every function gets in addition to its own: Lambda's, and the engines' endpoints. */
export function platformVariables(region: string, endpoints: Record<Service, string>): Variables {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    S3_FORCE_PATH_STYLE: "true",
  };
}

function clientsOf(region: string, endpoints: Record<Service, string>) {
  const options = { region, credentials: CREDENTIALS } as const;
  return {
    dynamodb: new DynamoDBClient({ ...options, endpoint: endpoints.dynamodb }),
    s3: new S3Client({
      ...options,
      endpoint: endpoints.s3,
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED",
    }),
    sqs: new SQSClient({ ...options, endpoint: endpoints.sqs }),
  };
}

function failureOf(engines: Readonly<Record<string, Pick<DynamoDbEngine | FauxqsEngine, "ended">>>) {
  return Promise.race(
    Object.entries(engines).map(async ([name, { ended }]) => {
      await ended;
      return new LocalStackError(`the ${name} engine has ended by itself`);
    }),
  );
}

/** Starts the pollers and schedules that invoke the workers. @returns a function that stops them */
function startWorkers(
  template: ResolvedTemplate,
  functionNamed: (name: string) => LambdaFunction,
  sqs: SQSClient,
  sqsEndpoint: string,
): () => Promise<void> {
  const pollers = mappingsOf(template).map((mapping) => {
    const queueUrl = `${sqsEndpoint}/${ACCOUNT}/${mapping.queueArn.split(":").at(-1)}`;
    return pollEventSource({ ...mapping, queueUrl, region: template.region }, functionNamed(mapping.functionName), sqs);
  });
  const endSchedules = schedulesOf(template).map(({ functionName, rule }) =>
    startSchedule(rule, functionNamed(functionName)),
  );
  return async () => {
    for (const end of endSchedules) end();
    const finished = Promise.all(pollers.map((poller) => poller.stop()));
    await Promise.race([finished, sleep(WORKERS_STOP_WITHIN_MS, undefined, { ref: false })]);
  };
}

/**
 * Runs the synthesized stack on this machine: the template that is also deployed, on embedded engines.
 * @throws LocalStackError if the port or the data directory is in use, or an engine or the synthesis fails
 */
export async function startLocalStack(options: LocalStackOptions = {}): Promise<LocalStack> {
  const {
    port = 3000,
    dataDirectory = ".local",
    dynamodbEndpoint,
    allowedOrigins,
    awsTermsSeed,
    verbose = false,
    functionOf = createLambdaFunction,
  } = options;
  await using started = new AsyncDisposableStack();
  const data = await openDataDirectory(dataDirectory);
  started.defer(() => data.close());

  const startDynamoDb = async () => {
    if (dynamodbEndpoint !== undefined) return { endpoint: dynamodbEndpoint, ended: new Promise<void>(() => {}) };
    const engine = await startDynamoDbEngine({ file: data.dynamodbFile });
    started.defer(() => engine.stop());
    return engine;
  };
  const startFauxqs = async () => {
    const engine = await startFauxqsEngine({ queues: data.queues, objects: data.objects });
    started.defer(() => engine.stop());
    return engine;
  };
  const starting = [
    Promise.resolve(options.synthesis ?? synthesize(allowedOrigins ? { allowedOrigins: [...allowedOrigins] } : {})),
    startDynamoDb(),
    startFauxqs(),
  ] as const;
  // If one fails, wait for the others, so that they are stopped too.
  await Promise.allSettled(starting);
  const [{ template: raw, stackName, regionCode, region, directory }, dynamodbEngine, fauxqs] =
    await Promise.all(starting);

  const template = resolveTemplate({ template: raw, stackName, region, sqsEndpoint: fauxqs.endpoint });
  const engines = { dynamodb: dynamodbEngine.endpoint, s3: fauxqs.endpoint, sqs: fauxqs.endpoint };
  const clients = clientsOf(region, engines);
  started.defer(() => {
    for (const client of Object.values(clients)) client.destroy();
  });
  try {
    await provision(template, clients);
  } catch (error) {
    if (error instanceof LocalStackError) throw error;
    const which = dynamodbEndpoint === undefined ? "the engines" : `DynamoDB at ${dynamodbEndpoint}`;
    throw new LocalStackError(`${which} cannot be used: ${reasonOf(error)}`);
  }

  const terms = awsTermsSeed === undefined ? undefined : createAwsTerms({ seed: awsTermsSeed });
  if (terms) started.defer(() => terms.stop());
  const serve = async (service: Service, engineEndpoint: string): Promise<string> =>
    terms ? terms.inFrontOf(service, engineEndpoint) : engineEndpoint;
  const sqsEndpoint = await serve("sqs", fauxqs.endpoint);
  const { sqs } = clientsOf(region, { ...engines, sqs: sqsEndpoint });
  started.defer(() => sqs.destroy());

  let localOrigins: readonly string[] = [];
  const proxy = await startS3Proxy({
    engineEndpoint: fauxqs.endpoint,
    s3: clients.s3,
    signer: CREDENTIALS,
    clock: Date.now,
    allowOrigin: s3Cors(template, () => localOrigins),
    notify: s3Notifications(template, { s3: clients.s3, sqs, sqsEndpoint }),
  });
  started.defer(() => proxy.stop());

  const platform = platformVariables(region, {
    dynamodb: await serve("dynamodb", dynamodbEngine.endpoint),
    s3: await serve("s3", proxy.endpoint),
    sqs: sqsEndpoint,
  });
  const terminal = verbose ? undefined : process.stderr.fd;
  const definitions = functionsOf(template, directory, platform).map((each) => ({ ...each, terminal }));
  const log = verbose ? [data.log, process.stderr.fd] : [data.log];
  const functions = new Map(definitions.map((definition) => [definition.name, functionOf(definition, log)]));
  started.defer(async () => {
    await Promise.all([...functions.values()].map((one) => one.stop()));
  });

  const functionNamed = (name: string): LambdaFunction => {
    const found = functions.get(name);
    if (found === undefined) throw new LocalStackError(`the template has no function ${name}`);
    return found;
  };

  const { NODE_OPTIONS: _, ...shared }: Variables = Object.assign(
    {},
    ...definitions.map(({ environment }) => environment),
  );
  const documents = DynamoDBDocumentClient.from(clients.dynamodb);
  const { ACCESS_TABLE = "" } = shared;
  const apiKey = await prepareDemoOrganization(
    documents,
    regionCode,
    ACCESS_TABLE,
    readEnvironmentFile(data.environmentFile)["API_KEY"],
  );
  started.defer(startWorkers(template, functionNamed, sqs, sqsEndpoint));
  const gateway = await startGateway({ template, functions, port });
  started.defer(() => gateway.stop());

  const baseUrl = `http://localhost:${gateway.port}`;
  localOrigins = [baseUrl, `http://127.0.0.1:${gateway.port}`];
  const environment = { BASE_URL: baseUrl, API_KEY: apiKey, ...shared };
  writeEnvironmentFile(data.environmentFile, environment);

  const running = started.move();
  return {
    baseUrl,
    apiKey,
    environment,
    dataDirectory: data.path,
    stackName,
    failed: failureOf({ DynamoDB: dynamodbEngine, "S3 and SQS": fauxqs }),
    stop: () => running.disposeAsync(),
  };
}
