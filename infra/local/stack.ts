import { setTimeout as sleep } from "node:timers/promises";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createAwsTerms, type Service } from "./aws-terms/aws-terms.ts";
import { type DataDirectory, openDataDirectory } from "./data-directory.ts";
import { prepareDemoOrganization } from "./demo-organization.ts";
import { type DynamoDbEngine, startDynamoDbEngine } from "./engines/dynamodb.ts";
import { readEnvironmentFile, type Variables, writeEnvironmentFile } from "../environment-file.ts";
import { openCheckpoints } from "./lambda/checkpoint-file.ts";
import { pollEventSource, type Poller } from "./lambda/event-source.ts";
import { type FauxqsEngine, startFauxqsEngine } from "./engines/fauxqs.ts";
import { startGateway } from "./gateway/gateway.ts";
import type { FunctionDefinition } from "./lambda/instance.ts";
import { createLambdaFunction, type LambdaFunction } from "./lambda/lambda-function.ts";
import { LocalStackError } from "./local-stack-error.ts";
import { reasonOf } from "../plain-reason.ts";
import { type Clients, clientsOf, CREDENTIALS, platformVariables } from "./platform.ts";
import { provision } from "./engines/provision.ts";
import { s3Cors } from "./s3/cors.ts";
import { startS3Proxy } from "./s3/proxy.ts";
import { s3Notifications } from "./s3/notification.ts";
import { startSchedule } from "./lambda/schedule.ts";
import { createStreamApi } from "./lambda/stream-api.ts";
import { pollStream } from "./lambda/stream-source.ts";
import { type Synthesis, synthesize } from "./synthesis.ts";
import { ACCOUNT, ResolvedTemplate } from "./template.ts";
import { functionsOf, mappingsOf, schedulesOf, streamMappingsOf } from "./lambda/template-functions.ts";

type Endpoints = Readonly<Record<Service, string>>;
type Engine = Pick<DynamoDbEngine | FauxqsEngine, "endpoint" | "ended">;

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

function failureOf(engines: Readonly<Record<string, Engine>>) {
  return Promise.race(
    Object.entries(engines).map(async ([name, { ended }]) => {
      await ended;
      return new LocalStackError(`the ${name} engine has stopped unexpectedly`);
    }),
  );
}

/**
 * Starts the pollers of the tables' streams.
 * @param checkpointFile where they keep the record after which they continue
 */
function startStreams(
  template: ResolvedTemplate,
  functionNamed: (name: string) => LambdaFunction,
  { dynamodb }: Clients,
  dynamodbEndpoint: string,
  checkpointFile: string,
): Promise<Poller[]> {
  return Promise.all(
    streamMappingsOf(template).map(async ({ tableName, functionName, ...mapping }) => {
      const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: tableName }));
      const source = { ...mapping, streamArn: Table?.LatestStreamArn ?? "", region: template.region };
      const checkpoints = openCheckpoints(checkpointFile);
      return pollStream(source, functionNamed(functionName), createStreamApi(dynamodbEndpoint), checkpoints);
    }),
  );
}

/**
 * Starts the engines beside the synthesis, which takes as long.
 * @param started gets what is to be stopped
 */
async function startEngines(
  options: LocalStackOptions,
  data: DataDirectory,
  started: AsyncDisposableStack,
): Promise<{ synthesis: Synthesis; dynamodb: Engine; fauxqs: Engine }> {
  const { dynamodbEndpoint, allowedOrigins } = options;
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
  const [synthesis, dynamodb, fauxqs] = await Promise.all(starting);
  return { synthesis, dynamodb, fauxqs };
}

async function provisionEngines(template: ResolvedTemplate, clients: Clients, dynamodbEndpoint: string | undefined) {
  try {
    await provision(template, clients);
  } catch (error) {
    if (error instanceof LocalStackError) throw error;
    const which = dynamodbEndpoint === undefined ? "the engines" : `DynamoDB at ${dynamodbEndpoint}`;
    throw new LocalStackError(`${which} cannot be used: ${reasonOf(error)}`);
  }
}

/**
 * Starts what functions and pollers use instead of the engines: the S3 proxy, and AWS's terms if there is a seed.
 * @param localOrigins origins of the gateway, which starts last
 */
async function serveEngines(
  { template, engines, clients }: { template: ResolvedTemplate; engines: Endpoints; clients: Clients },
  awsTermsSeed: number | undefined,
  localOrigins: () => readonly string[],
  started: AsyncDisposableStack,
): Promise<{ endpoints: Endpoints; sqs: SQSClient }> {
  const terms = awsTermsSeed === undefined ? undefined : createAwsTerms({ seed: awsTermsSeed });
  if (terms) started.defer(() => terms.stop());
  const serve = async (service: Service, endpoint: string): Promise<string> =>
    terms ? terms.inFrontOf(service, endpoint) : endpoint;
  const sqsEndpoint = await serve("sqs", engines.sqs);
  const { sqs } = clientsOf(template.region, { ...engines, sqs: sqsEndpoint });
  started.defer(() => sqs.destroy());
  const proxy = await startS3Proxy({
    engineEndpoint: engines.s3,
    s3: clients.s3,
    signer: CREDENTIALS,
    clock: Date.now,
    allowOrigin: s3Cors(template, localOrigins),
    notify: s3Notifications(template, { s3: clients.s3, sqs, sqsEndpoint }),
  });
  started.defer(() => proxy.stop());
  const endpoints = {
    dynamodb: await serve("dynamodb", engines.dynamodb),
    s3: await serve("s3", proxy.endpoint),
    sqs: sqsEndpoint,
  };
  return { endpoints, sqs };
}

/** Starts the pollers and schedules that invoke the workers. @returns a function that stops them */
function startWorkers(
  template: ResolvedTemplate,
  functionNamed: (name: string) => LambdaFunction,
  sqs: SQSClient,
  sqsEndpoint: string,
  streams: readonly Poller[],
): () => Promise<void> {
  const queues = mappingsOf(template).map((mapping) => {
    const queueUrl = `${sqsEndpoint}/${ACCOUNT}/${mapping.queueArn.split(":").at(-1)}`;
    return pollEventSource({ ...mapping, queueUrl, region: template.region }, functionNamed(mapping.functionName), sqs);
  });
  const endSchedules = schedulesOf(template).map(({ functionName, rule }) =>
    startSchedule(rule, functionNamed(functionName)),
  );
  return async () => {
    for (const end of endSchedules) end();
    const finished = Promise.all([...queues, ...streams].map((poller) => poller.stop()));
    await Promise.race([finished, sleep(WORKERS_STOP_WITHIN_MS, undefined, { ref: false })]);
  };
}

/** Variables that name this stack's tables, bucket, queues and engines. */
function sharedVariables(definitions: readonly FunctionDefinition[]): Variables {
  const { NODE_OPTIONS: _, ...shared }: Variables = Object.assign(
    {},
    ...definitions.map(({ environment }) => environment),
  );
  return shared;
}

/**
 * Runs the synthesized stack on this machine: the template that is also deployed, on embedded engines.
 * @throws LocalStackError if the port or the data directory is in use, or an engine or the synthesis fails
 */
export async function startLocalStack(options: LocalStackOptions = {}): Promise<LocalStack> {
  const { port = 3000, dataDirectory = ".local", verbose = false, functionOf = createLambdaFunction } = options;
  await using started = new AsyncDisposableStack();
  const data = await openDataDirectory(dataDirectory);
  started.defer(() => data.close());

  const { synthesis, dynamodb, fauxqs } = await startEngines(options, data, started);
  const { stackName, regionCode, region, directory } = synthesis;
  const template = new ResolvedTemplate({ ...synthesis, sqsEndpoint: fauxqs.endpoint });
  const engines = { dynamodb: dynamodb.endpoint, s3: fauxqs.endpoint, sqs: fauxqs.endpoint };
  const clients = clientsOf(region, engines);
  started.defer(() => {
    for (const client of Object.values(clients)) client.destroy();
  });
  await provisionEngines(template, clients, options.dynamodbEndpoint);
  let localOrigins: readonly string[] = [];
  const { endpoints, sqs } = await serveEngines(
    { template, engines, clients },
    options.awsTermsSeed,
    () => localOrigins,
    started,
  );

  const terminal = verbose ? undefined : process.stderr.fd;
  const log = verbose ? [data.log, process.stderr.fd] : [data.log];
  const platform = platformVariables(region, endpoints);
  const definitions = functionsOf(template, directory, platform).map((each) => ({ ...each, terminal }));
  const functions = new Map(definitions.map((definition) => [definition.name, functionOf(definition, log)]));
  started.defer(async () => {
    await Promise.all([...functions.values()].map((one) => one.stop()));
  });
  const functionNamed = (name: string): LambdaFunction => {
    const found = functions.get(name);
    if (found === undefined) throw new LocalStackError(`the template has no function ${name}`);
    return found;
  };

  const shared = sharedVariables(definitions);
  const apiKey = await prepareDemoOrganization(
    DynamoDBDocumentClient.from(clients.dynamodb),
    regionCode,
    shared["ACCESS_TABLE"] ?? "",
    readEnvironmentFile(data.files.service)["API_KEY"],
  );
  const streams = await startStreams(template, functionNamed, clients, engines.dynamodb, data.streamCheckpoints);
  started.defer(startWorkers(template, functionNamed, sqs, endpoints.sqs, streams));
  const gateway = await startGateway({ template, functions, port });
  started.defer(() => gateway.stop());

  const baseUrl = `http://localhost:${gateway.port}`;
  localOrigins = [baseUrl, `http://127.0.0.1:${gateway.port}`];
  const service = { BASE_URL: baseUrl, API_KEY: apiKey };
  writeEnvironmentFile(data.files.service, service);
  writeEnvironmentFile(data.files.stack, shared);

  const running = started.move();
  return {
    baseUrl,
    apiKey,
    environment: { ...service, ...shared },
    dataDirectory: data.path,
    stackName,
    failed: failureOf({ DynamoDB: dynamodb, "S3 and SQS": fauxqs }),
    stop: () => running.disposeAsync(),
  };
}
