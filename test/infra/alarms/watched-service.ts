import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { onTestFinished, vi } from "vitest";
import { routes } from "../../../functions/routes.ts";
import { workers } from "../../../functions/workers.ts";
import { deadLettersOf } from "../../../apps/local/engines/provision.ts";
import { resources, resourcesOfKind } from "../../../lib/resources.ts";
import { idOf, resourcesOf, synthesize } from "../synthesized.ts";
import { createQueueDelivery } from "../../support/changes-queue.ts";
import { createTestClock } from "../../support/clock.ts";
import { createHandlers, type RouteName } from "../../support/handlers.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { type ApiRequest, call, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";
import { openStreamReader, streamEvent } from "../../support/stream.ts";
import { createCloudWatch } from "./cloudwatch.ts";

/** Name of the stack and of its API, and the beginning of other literal names in the template. */
const STACK = "WorkItems-us";
const { us } = synthesize();
const functionIdOf = (name: string): string => {
  const found = resourcesOf(us, "AWS::Lambda::Function").find(([, one]) => one["FunctionName"] === `${STACK}-${name}`);
  return found?.[0] ?? "";
};
const queueNameOf = (path: string): string => `${idOf(us, path, "AWS::SQS::Queue")}.QueueName`;
const PERIOD_MS = 5 * 60_000;
/** SQS has no metrics of a queue that is empty and isn't asked for longer. */
const QUEUE_ACTIVE_MS = 6 * 60 * 60_000;
const shortName = (name: string): string => name.slice(STACK.length + 1);

/** How a request to DynamoDB fails. */
type Fault =
  | "ProvisionedThroughputExceededException"
  | "AccessDeniedException"
  | "TimeoutError"
  | "ValidationException";
interface Sent {
  readonly command: string;
  readonly table: string;
  /** Requests for writes in this one. */
  readonly statements: number;
}

/** Makes functions write their metrics, as they do in Lambda, in this test. @returns takes the lines that were written */
const captureLog = (): (() => readonly string[]) => {
  const lines: string[] = [];
  const variables = {
    POWERTOOLS_DEV: "true",
    POWERTOOLS_METRICS_DISABLED: "false",
    POWERTOOLS_METRICS_NAMESPACE: "WorkItems",
    POWERTOOLS_SERVICE_NAME: STACK,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const log = vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(String(line)));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    log.mockRestore();
  });
  return () => lines.splice(0);
};

/** The service with the metrics that AWS would have of it, and the alarms of its template. Time is a test's. */
export const createWatchedService = async () => {
  const takeLog = captureLog();
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock, variables: { WEBHOOKS_TO_LOCALHOST: "true" } });
  const { organization, key } = await createTestOrganization(runtime);
  const cloudwatch = createCloudWatch(us);
  const handlers = await createHandlers(runtime);
  const queues = resourcesOfKind("queue").flatMap(([, { id, variable, keepsAll }]) => {
    const url: string = runtime.environment[variable as "SPLIT_QUEUE_URL"];
    const own = { path: id, url, isDeadLetters: false };
    const dead = { path: `${id}DeadLetters`, url: deadLettersOf(url), isDeadLetters: true };
    return (keepsAll === true ? [own] : [own, dead]).map(({ path, ...queue }) => ({
      ...queue,
      name: queueNameOf(path),
      filledSince: undefined as number | undefined,
      activeAt: clock(),
    }));
  });

  let faultOf: (sent: Sent) => Fault | undefined = () => undefined;
  let slowness = 0;
  runtime.dynamodb.middlewareStack.add(
    (next, context) => async (request) => {
      const { TableName: table = "", Statements: statements = [] } = request.input as {
        TableName?: string;
        Statements?: readonly unknown[];
      };
      const sent = { command: String(context.commandName), table, statements: statements.length || 1 };
      const fault = faultOf(sent);
      clock.advance(slowness);
      if (fault === undefined) return next(request);
      if (fault === "ProvisionedThroughputExceededException") {
        const dimensions = { TableName: idOf(us, "TablesWorkItems", "AWS::DynamoDB::Table") };
        const kind = /^(?:BatchGet|Get|Query|Scan)/.test(sent.command) ? "Read" : "Write";
        cloudwatch.record("AWS/DynamoDB", `${kind}ThrottleEvents`, dimensions, sent.statements);
      }
      throw Object.assign(new Error("injected"), { name: fault, $metadata: { attempts: 1, httpStatusCode: 400 } });
    },
    { step: "deserialize", priority: "high" },
  );

  /** A queue and its dead letters hold as many messages until the next request to it, so that they are asked only then. */
  const countsOf = new Map<string, Partial<Record<string, string>>>();
  runtime.sqs.middlewareStack.add(
    (next, context) => (request) => {
      const { QueueUrl: url = "" } = request.input as { QueueUrl?: string };
      if (context.commandName !== "GetQueueAttributesCommand") {
        for (const changed of [url, deadLettersOf(url)]) countsOf.delete(changed);
      }
      return next(request);
    },
    { step: "initialize" },
  );
  const measureQueue = async (queue: (typeof queues)[number]): Promise<void> => {
    if (!countsOf.has(queue.url)) {
      const asked = { QueueUrl: queue.url, AttributeNames: ["All" as const] };
      const { Attributes: found = {} } = await runtime.sqs.send(new GetQueueAttributesCommand(asked));
      countsOf.set(queue.url, found);
    }
    const counts = countsOf.get(queue.url)!;
    const dimensions = { QueueName: queue.name };
    const visible = Number(counts["ApproximateNumberOfMessages"]);
    const taken = Number(counts["ApproximateNumberOfMessagesNotVisible"]);
    // Nothing is sent to a queue between its filling and the end of a test.
    queue.filledSince = visible + taken === 0 ? undefined : (queue.filledSince ?? clock());
    if (queue.filledSince !== undefined) queue.activeAt = clock();
    if (clock() - queue.activeAt > QUEUE_ACTIVE_MS) return;
    cloudwatch.record("AWS/SQS", "ApproximateNumberOfMessagesVisible", dimensions, visible);
    cloudwatch.record("AWS/SQS", "ApproximateNumberOfMessagesNotVisible", dimensions, taken);
    const age = queue.filledSince === undefined ? 0 : (clock() - queue.filledSince) / 1000;
    cloudwatch.record("AWS/SQS", "ApproximateAgeOfOldestMessage", dimensions, age);
  };

  let throttled: readonly (keyof typeof workers)[] = [];
  const start = async (worker: keyof typeof workers, event: unknown): Promise<unknown> => {
    const { name } = workers[worker];
    const dimensions = { FunctionName: functionIdOf(name) };
    if (throttled.includes(worker)) {
      // Lambda counts neither an invocation nor an error then.
      cloudwatch.record("AWS/Lambda", "Throttles", dimensions, 1);
      return undefined;
    }
    const { create } = (await import(`../../../functions/${name}.ts`)) as {
      create: (from: typeof runtime) => (event: unknown, context: Context) => Promise<unknown>;
    };
    cloudwatch.record("AWS/Lambda", "Invocations", dimensions, 1);
    try {
      const result = await create(runtime)(event, lambdaContext(120_000));
      cloudwatch.record("AWS/Lambda", "Errors", dimensions, 0);
      return result;
    } catch {
      cloudwatch.record("AWS/Lambda", "Errors", dimensions, 1);
      return undefined;
    }
  };
  /** Invokes a worker. @returns its result; undefined if it failed or was throttled */
  const invoke = async (worker: keyof typeof workers, event: unknown): Promise<unknown> => {
    const result = await start(worker, event);
    const { trigger } = workers[worker];
    if (trigger.kind === "queue") {
      const { Records } = event as SQSEvent;
      const failed = result === undefined ? Records : (result as SQSBatchResponse).batchItemFailures;
      const dimensions = { QueueName: queueNameOf(resources[trigger.queue].id) };
      cloudwatch.record("AWS/SQS", "NumberOfMessagesReceived", dimensions, Records.length);
      cloudwatch.record("AWS/SQS", "NumberOfMessagesDeleted", dimensions, Records.length - failed.length);
    }
    return result;
  };

  const changes = createQueueDelivery(runtime);
  let readRecords: Awaited<ReturnType<typeof openStreamReader>> | undefined;

  return {
    organization,
    runtime,
    clock,
    /** Names of the alarms. */
    alarms: cloudwatch.names.map(shortName),
    /** Takes what was written to the table to the queue of the change logs, as Lambda does while its mapping is on. */
    readStream: async (): Promise<void> => {
      readRecords ??= await openStreamReader(runtime);
      const records = await readRecords();
      if (records.length > 0) await invoke("recordChanges", streamEvent(...records));
    },
    /** Takes what waits in the queue into the change logs. */
    appendChanges: () => changes.drain(),
    /** Lets requests to DynamoDB fail. */
    breakDynamoDb: (decide: typeof faultOf) => {
      faultOf = decide;
    },
    /** Lets each request to DynamoDB take this many milliseconds. */
    slowDynamoDb: (milliseconds: number) => {
      slowness = milliseconds;
    },
    /** Lets Lambda start no instance of these workers, as when all concurrent executions of the account are taken. */
    throttleLambda: (names: readonly (keyof typeof workers)[]) => {
      throttled = names;
    },
    invoke,
    request: async (route: RouteName, request: ApiRequest) => {
      const { method, path: resource } = routes[route];
      const began = clock();
      const response = await call(handlers[route], { method, resource, key, ...request });
      const dimensions = { ApiName: STACK };
      cloudwatch.record("AWS/ApiGateway", "Count", dimensions, 1);
      cloudwatch.record("AWS/ApiGateway", "5XXError", dimensions, Number(response.status >= 500));
      cloudwatch.recordAccess({ status: String(response.status) });
      cloudwatch.record("AWS/ApiGateway", "Latency", dimensions, clock() - began);
      return response;
    },
    /** Sends a message to all dead-letter queues. */
    sendDeadLetters: async (message: object): Promise<void> => {
      for (const { url } of queues.filter(({ isDeadLetters }) => isDeadLetters))
        await runtime.sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: JSON.stringify(message) }));
    },
    /** The state of an alarm at the end of the last period. */
    stateOf: (name: string) => cloudwatch.stateOf(`${STACK}-${name}`),
    /** Lets five minutes pass. @returns names of the alarms that send a message now */
    endPeriod: async (): Promise<string[]> => {
      clock.advance(PERIOD_MS);
      for (const queue of queues) await measureQueue(queue);
      for (const line of takeLog()) cloudwatch.recordLogLine(line);
      return cloudwatch.endPeriod().map(shortName);
    },
  };
};

/** A service whose alarms are watched. */
export type Service = Awaited<ReturnType<typeof createWatchedService>>;

/** Repeats something in each of some periods. @returns the alarms that send a message, by period */
export const periodsOf = async (service: Service, count: number, act: (period: number) => Promise<unknown>) => {
  const rung: string[][] = [];
  for (let period = 0; period < count; period++) {
    await act(period);
    rung.push(await service.endPeriod());
  }
  return rung;
};
/** What a period without events does. */
export const nothing = () => Promise.resolve();
