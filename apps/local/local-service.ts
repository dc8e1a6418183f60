import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Logger } from "@aws-lambda-powertools/logger";
import manifest from "../../package.json" with { type: "json" };
import { allRoutes } from "../../functions/routes.ts";
import { type Administration, putOrganization } from "@work-items/operator/data/administration.ts";
import { createKey, isLive } from "@work-items/operator/data/key-management.ts";
import { createAccessStore } from "@work-items/lib/organizations/access-store.ts";
import { hashApiKey } from "@work-items/lib/organizations/api-key.ts";
import { checkDataVersion, DataVersionError, writeDataVersion } from "@work-items/lib/store/data-version.ts";
import { readEnvironmentFile, type Variables, writeEnvironmentFile } from "@work-items/terminal/environment-file.ts";
import { reasonOf } from "@work-items/terminal/plain-reason.ts";
import { buildPages, startApi } from "./api-server.ts";
import { type DataDirectory, openDataDirectory } from "./data-directory.ts";
import { startDynamoDbEngine } from "./engines/dynamodb.ts";
import { startFauxqsEngine } from "./engines/fauxqs.ts";
import { openBuckets, provision, variablesOf } from "./engines/provision.ts";
import {
  type CreateHandler,
  createLocalRuntime,
  importFunction,
  type LocalRuntime,
  surviveUncaught,
} from "./functions.ts";
import { printToLog } from "./function-log.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import { type Endpoints, platformVariables, REGION_CODE } from "./platform.ts";
import { openCheckpoints } from "./workers/stream.ts";
import { startWorkers } from "./workers/start-workers.ts";

export interface LocalServiceOptions {
  /** 0 selects any free port. */
  readonly port: number;
  readonly dataDirectory: string;
  /** Endpoint of a DynamoDB that is running already. @default the embedded engine is started */
  readonly dynamodbEndpoint?: string | undefined;
  /** Origins of the pages that may call the API. @default none but its own */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Also prints the functions' log. @default one line for each unexpected error; the log is in functions.log */
  readonly verbose?: boolean;
  /** Makes the functions, with the workers in this process. @default those of this checkout, workers in another process */
  readonly create?: CreateHandler;
}

/** The engines, with all tables, buckets and queues and the organization `demo`. */
export interface Stores {
  readonly data: DataDirectory;
  /** Variables that name tables, bucket, queues and engines. They are in this process's environment too. */
  readonly variables: Variables;
  readonly runtime: LocalRuntime;
  /** Resolves with the reason when an engine ends unexpectedly. */
  readonly failed: Promise<CommandError>;
}

/** The whole service, running on this machine. */
export interface LocalService {
  readonly baseUrl: string;
  /** API key of the organization `demo`. */
  readonly apiKey: string;
  /** Variables that name this service's tables, bucket and queues; also written to `stack.env` in the data directory. */
  readonly environment: Variables;
  readonly dataDirectory: string;
  /** Resolves with the reason when an engine or the workers end unexpectedly. */
  readonly failed: Promise<CommandError>;
  /** Writes to the terminal. Everything else that this process prints goes to the log. */
  readonly terminal: ReturnType<typeof printToLog>;
  /** Finishes the requests in flight, then ends everything. */
  stop(): Promise<void>;
}

async function failureOf(name: string, ended: Promise<void>): Promise<CommandError> {
  await ended;
  return new CommandError(`the ${name} stopped unexpectedly`);
}

/** Replaces this process's AWS settings, so that neither clients nor functions use the developer's own. */
export function setEnvironment(variables: Variables): void {
  for (const name of Object.keys(process.env)) if (/^(AWS|POWERTOOLS)_/.test(name)) delete process.env[name];
  Object.assign(process.env, variables);
}

/** Starts the engines. @param started collects what must be stopped */
async function startEngines(
  { dynamodbEndpoint }: Pick<LocalServiceOptions, "dynamodbEndpoint">,
  data: DataDirectory,
  started: AsyncDisposableStack,
) {
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
  const starting = [startDynamoDb(), startFauxqs()] as const;
  // If one fails, the other must have started before it can be stopped.
  await Promise.allSettled(starting);
  const [dynamodb, fauxqs] = await Promise.all(starting);
  const endpoints: Endpoints = { dynamodb: dynamodb.endpoint, s3: fauxqs.endpoint, sqs: fauxqs.endpoint };
  const failed = Promise.race([
    failureOf("DynamoDB engine has", dynamodb.ended),
    failureOf("S3 and SQS engine has", fauxqs.ended),
  ]);
  return { endpoints, failed };
}

const ORGANIZATION = "demo";
/** Requests a second and at once: more than this machine can serve. `organizations -- set demo` sets a lower one. */
const LIMIT = 10_000;

/**
 * Creates the organization `demo` with its limits if it doesn't exist. Limits that were set later stay.
 * @returns its API key from the last start, or a new one if that is no longer live
 */
export async function prepareOrganization({ data, runtime }: Pick<Stores, "data" | "runtime">): Promise<string> {
  const administration: Administration = { ...runtime, region: REGION_CODE };
  const { API_KEY: previousKey } = readEnvironmentFile(data.files.service);
  const { findKey, findOrganization } = createAccessStore(administration);
  if ((await findOrganization(ORGANIZATION)) === undefined) {
    await putOrganization(administration, ORGANIZATION, { rate: LIMIT, burst: LIMIT });
  }
  const record = previousKey === undefined ? undefined : await findKey(hashApiKey(previousKey));
  if (previousKey !== undefined && record !== undefined && isLive(record, Date.now())) return previousKey;
  return (await createKey(administration, ORGANIZATION, { name: "local" })).key;
}

/**
 * Opens the data directory and starts the engines on it.
 * @param started collects what must be stopped
 * @throws CommandError if the data directory is in use or has another version, or an engine fails
 */
export async function openStores(
  options: Pick<LocalServiceOptions, "dataDirectory" | "dynamodbEndpoint" | "allowedOrigins">,
  started: AsyncDisposableStack,
): Promise<Stores> {
  const { dataDirectory, dynamodbEndpoint, allowedOrigins = [] } = options;
  const data = await openDataDirectory(dataDirectory);
  started.defer(() => data.close());
  const { endpoints: engines, failed } = await startEngines(options, data, started);

  const variables: Variables = {
    ...platformVariables(engines),
    ...variablesOf(engines.sqs),
    REGION_CODE,
    VERSION: manifest.version,
    LAMBDA_TASK_ROOT: data.path,
    WEBHOOKS_TO_LOCALHOST: "true",
    ...(allowedOrigins.length > 0 && { ALLOWED_ORIGINS: allowedOrigins.join(",") }),
    POWERTOOLS_SERVICE_NAME: "WorkItems-local",
    POWERTOOLS_METRICS_NAMESPACE: "WorkItems",
  };
  setEnvironment(variables);
  const runtime = createLocalRuntime(variables, new Logger());
  started.defer(() => {
    for (const client of [runtime.dynamodb, runtime.s3, runtime.sqs]) client.destroy();
  });
  try {
    await provision(runtime);
    if ((await checkDataVersion(runtime, "check out a commit that does")) === undefined)
      await writeDataVersion(runtime);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const which = dynamodbEndpoint === undefined ? "the engines" : `DynamoDB at ${dynamodbEndpoint}`;
    if (error instanceof DataVersionError) throw new CommandError(`${which}: ${error.message}`);
    throw new CommandError(`${which} cannot be used: ${reasonOf(error)}`);
  }
  return { data, variables, runtime, failed };
}

/** Starts the workers in a process of their own, so that a big file doesn't block the API. It ends with this one. */
async function forkWorkers({ data }: Stores, verbose: boolean, started: AsyncDisposableStack) {
  const script = fileURLToPath(new URL("workers/workers-process.ts", import.meta.url));
  const given = [data.logFile, data.streamCheckpoints, ...(verbose ? ["verbose"] : [])];
  // In its own process group, so that Ctrl-C doesn't end it before the requests in flight are finished.
  const child: ChildProcess = fork(script, given, { detached: true, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const ended = new Promise<void>((resolve) => child.once("error", () => resolve()).once("exit", () => resolve()));
  started.defer(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  const failed = failureOf("workers have", ended);
  const ready = new Promise<undefined>((resolve) => child.once("message", () => resolve(undefined)));
  const failure = await Promise.race([ready, failed]);
  if (failure !== undefined) throw failure;
  return { failed };
}

/**
 * Runs the service on this machine: the functions of this checkout on embedded engines. Changes this process's environment and
 * output.
 * @throws CommandError if the port or the data directory is in use, or an engine fails
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { port, allowedOrigins = [], verbose = false, create } = options;
  await using started = new AsyncDisposableStack();
  // Imports functions while the engines start. An import that fails does so again when the function is loaded.
  if (create === undefined) for (const { name } of allRoutes()) void importFunction(name).catch(() => {});
  const stores = await openStores(options, started);
  const { data, variables, runtime } = stores;
  // Before the API starts, since requests may come before the service is ready.
  const terminal = printToLog({ log: data.log, verbose, leavesFullDisk: create === undefined });
  started.defer(() => terminal.end());
  const startOwnWorkers = async (): Promise<{ readonly failed?: Promise<CommandError> }> => {
    if (create === undefined) return forkWorkers(stores, verbose, started);
    const workers = await startWorkers({ runtime, create, checkpoints: openCheckpoints(data.streamCheckpoints) });
    started.defer(() => workers.stop());
    return {};
  };
  const [ownWorkers, api] = await Promise.all([
    startOwnWorkers(),
    startApi({ runtime, ...(create && { create }), allowedOrigins, port, preparePages: () => buildPages(data.pages) }),
  ]);
  started.defer(() => api.stop());

  const baseUrl = `http://localhost:${api.port}`;
  await openBuckets(variables, [baseUrl, `http://127.0.0.1:${api.port}`, ...allowedOrigins]);
  const apiKey = await prepareOrganization(stores);
  const service = { BASE_URL: baseUrl, API_KEY: apiKey };
  await writeDataVersion(runtime);
  data.writeVersion();
  writeEnvironmentFile(data.files.stack, variables);
  // Last, so that the service responds as soon as this file exists.
  writeEnvironmentFile(data.files.service, service);

  const running = started.move();
  surviveUncaught("api", runtime.log);
  return {
    terminal,
    baseUrl,
    apiKey,
    environment: { ...service, ...variables },
    dataDirectory: data.path,
    failed: Promise.race([stores.failed, ...(ownWorkers.failed ? [ownWorkers.failed] : [])]),
    stop: () => running.disposeAsync(),
  };
}
