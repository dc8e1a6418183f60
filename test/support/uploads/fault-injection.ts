import { AsyncLocalStorage } from "node:async_hooks";
import type { BatchStatementRequest, BatchStatementResponse } from "@aws-sdk/client-dynamodb";
import type { Clock } from "../../../lib/clock.ts";
import { type Fault, injectFaults } from "../faults.ts";
import type { TestRuntime } from "../runtime.ts";

/**
 * A fault of one request of a worker. `kill` and `stall` stop the worker before the request is sent or after it was
 * carried out: for ever, or until it is resumed. They occur above the SDK's retries: the SDK does not know of them.
 */
export type RequestFault =
  | "none"
  | "throttle"
  /** Another transaction is writing to one of the items. */
  | "conflict"
  /** The role may not do it, as after a change of its policy. */
  | "refuse"
  /** Some keys of a BatchGetItem are left for another request. */
  | "leave unprocessed"
  | "lose response"
  /** Time passes until the response comes. */
  | "slow"
  | "kill before"
  | "kill after"
  | "stall before"
  | "stall after";

/** A fault of one statement in a batch that is sent. */
export type StatementFault = "none" | "throttle" | "lose response";

/** One run of a worker, and the faults of its requests. */
export interface FaultyRun {
  readonly clock: Clock;
  /**
   * Called once for each request.
   * @param command name of the SDK's command, for example `PutObjectCommand`
   * @param input the command's input
   */
  readonly faultOf: (command: string, input: Readonly<Record<string, unknown>>) => RequestFault;
  readonly statementFault: () => StatementFault;
  /** Called once for each attempt of the SDK, below its retries. @default none */
  readonly attemptFault?: (command: string, input: Readonly<Record<string, unknown>>) => Fault;
  /** Called once for each request, and sends it. @default it is sent at once */
  readonly around?: (
    command: string,
    input: Readonly<Record<string, unknown>>,
    send: () => Promise<unknown>,
  ) => Promise<unknown>;
  /** Lets time pass while a request is slow. */
  readonly pass?: () => void;
  /** Waits for ever, or until the worker is resumed. */
  readonly stop: (kind: "kill" | "stall") => Promise<void>;
  /** Called with the bodies of messages that were sent to a queue. */
  readonly onMessages: (bodies: readonly string[]) => void;
}

const WRITES = new Set([
  "PutCommand",
  "UpdateCommand",
  "UpdateItemCommand",
  "PutItemCommand",
  "TransactWriteItemsCommand",
  "BatchExecuteStatementCommand",
  "PutObjectCommand",
  "SendMessageCommand",
  "SendMessageBatchCommand",
]);
/** Whether a command writes data or sends messages. */
export const isWrite = (command: string): boolean => WRITES.has(command);

const failedStatement = (Code: "ThrottlingError" | "InternalServerError"): BatchStatementResponse => ({
  Error: { Code, Message: "injected" },
});

const errorOf = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });
/** An error that the client got as the response to its only attempt. */
const responseOf = (name: string): Error =>
  Object.assign(errorOf(name), { $metadata: { httpStatusCode: 400, attempts: 1 } });

/** The error of a request that is not sent; undefined if it is sent. */
const errorBefore = (fault: RequestFault, command: string): Error | undefined => {
  if (fault === "throttle") return errorOf("ThrottlingException");
  if (fault === "refuse") return responseOf("AccessDeniedException");
  if (fault !== "conflict") return undefined;
  if (command !== "TransactWriteItemsCommand") return responseOf("TransactionConflictException");
  const CancellationReasons = [{ Code: "TransactionConflict" }, { Code: "None" }];
  return Object.assign(responseOf("TransactionCanceledException"), { CancellationReasons });
};

type Keys = readonly Readonly<Record<string, unknown>>[];

/** Leaves every second key of a BatchGetItem for another request. */
const withUnprocessedKeys = async (
  { RequestItems }: { readonly RequestItems: Readonly<Record<string, { readonly Keys: Keys }>> },
  send: () => Promise<{ output: { Responses?: Record<string, Keys>; UnprocessedKeys?: object } }>,
) => {
  const response = await send();
  const { Responses = {}, UnprocessedKeys = {} } = response.output;
  if (Object.keys(UnprocessedKeys).length > 0) return response;
  const nameOf = ({ pk, sk }: Keys[number]): string => JSON.stringify([pk, sk]);
  const left = Object.entries(RequestItems).map(
    ([table, request]) => [table, { ...request, Keys: request.Keys.filter((_, index) => index % 2 === 0) }] as const,
  );
  const names = new Set(left.flatMap(([table, { Keys }]) => Keys.map((key) => `${table} ${nameOf(key)}`)));
  const found = Object.entries(Responses).map(
    ([table, items]) => [table, items.filter((item) => !names.has(`${table} ${nameOf(item)}`))] as const,
  );
  const output = { Responses: Object.fromEntries(found), UnprocessedKeys: Object.fromEntries(left) };
  return { ...response, output: { ...response.output, ...output } };
};

/** Sends a batch in which single statements fail: some are not carried out, of others only the response is lost. */
const withStatementFaults = async (
  run: FaultyRun,
  input: { Statements?: BatchStatementRequest[] },
  send: () => Promise<{ output: { Responses?: BatchStatementResponse[] } }>,
) => {
  const statements = input.Statements ?? [];
  const faults = statements.map(() => run.statementFault());
  const sent = statements.filter((_, index) => faults[index] !== "throttle");
  if (sent.length === 0) return { output: { Responses: statements.map(() => failedStatement("ThrottlingError")) } };
  input.Statements = sent;
  const response = await send();
  input.Statements = statements;
  let next = 0;
  const responses = faults.map((fault) => {
    if (fault === "throttle") return failedStatement("ThrottlingError");
    const received = response.output.Responses?.[next++] ?? {};
    return fault === "lose response" ? failedStatement("InternalServerError") : received;
  });
  return { ...response, output: { ...response.output, Responses: responses } };
};

const sendWithPartialFaults = (
  run: FaultyRun,
  fault: RequestFault,
  command: string,
  input: unknown,
  send: () => Promise<unknown>,
): Promise<unknown> => {
  if (command === "BatchExecuteStatementCommand") return withStatementFaults(run, input as never, send as never);
  return fault === "leave unprocessed" ? withUnprocessedKeys(input as never, send as never) : send();
};

/** Sends a request of a run with the fault that is chosen for it. */
async function sendWithFaults(
  run: FaultyRun,
  command: string,
  parameters: { readonly input: unknown },
  send: () => Promise<unknown>,
): Promise<unknown> {
  const fault = run.faultOf(command, parameters.input as never);
  if (fault === "kill before") await run.stop("kill");
  if (fault === "stall before") await run.stop("stall");
  const error = errorBefore(fault, command);
  if (error) throw error;
  const response = await sendWithPartialFaults(run, fault, command, parameters.input, send);
  if (command === "SendMessageCommand") run.onMessages([(parameters.input as { MessageBody: string }).MessageBody]);
  if (command === "SendMessageBatchCommand") {
    const { Entries } = parameters.input as { Entries: { MessageBody: string }[] };
    run.onMessages(Entries.map(({ MessageBody }) => MessageBody));
  }
  if (fault === "slow") run.pass?.();
  if (fault === "kill after") await run.stop("kill");
  if (fault === "stall after") await run.stop("stall");
  if (fault === "lose response") throw errorOf("TimeoutError");
  return response;
}

/** A runtime whose clients' requests have faults, in runs that `during` starts. */
export const createFaultyRuntime = (base: TestRuntime) => {
  const runs = new AsyncLocalStorage<FaultyRun>();
  const clock: Clock = () => (runs.getStore()?.clock ?? base.clock)();

  for (const client of [base.dynamodb, base.s3, base.sqs]) {
    const stack = client.middlewareStack as typeof base.s3.middlewareStack;
    stack.add(
      (next, context) => async (parameters) => {
        const run = runs.getStore();
        if (!run) return next(parameters);
        const command = String(context.commandName);
        const send = () => sendWithFaults(run, command, parameters, () => next(parameters));
        return (await (run.around?.(command, parameters.input as never, send) ?? send())) as never;
      },
      { step: "initialize", name: "faults" },
    );
    injectFaults(client, (command, input) => runs.getStore()?.attemptFault?.(command, input) ?? "none");
  }
  return {
    runtime: { ...base, clock } satisfies TestRuntime,
    during: <T>(run: FaultyRun, work: () => Promise<T>): Promise<T> => runs.run(run, work),
  };
};
