import { AsyncLocalStorage } from "node:async_hooks";
import type { BatchStatementRequest, BatchStatementResponse } from "@aws-sdk/client-dynamodb";
import type { Clock } from "../../../lib/clock.ts";
import type { TestRuntime } from "../runtime.ts";

/** A random number generator that the seed determines (mulberry32). @returns numbers from 0 to below 1 */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/**
 * What befalls one request of a worker. `kill` and `stall` stop the worker before the request is sent or after it was
 * carried out: for ever, or until it is woken. `deep` faults stand under the SDK's retries, the others above them.
 */
export type RequestFault =
  | "none"
  | "throttle"
  | "lose"
  | "deep throttle"
  | "deep lose"
  | "kill before"
  | "kill after"
  | "stall before"
  | "stall after";

/** What befalls one statement of a batch, where the request itself is spared. */
export type StatementFault = "none" | "throttle" | "lose";

/** One run of a worker, and how its requests fare. */
export interface FaultyRun {
  readonly clock: Clock;
  /** Asked once a request. @param command name of the SDK's command, `PutObjectCommand` for example */
  readonly faultOf: (command: string) => RequestFault;
  readonly statementFault: () => StatementFault;
  /** Waits for ever, or until the worker is woken. */
  readonly stop: (kind: "kill" | "stall") => Promise<void>;
  /** Bodies of the messages that reached a queue. */
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
export const isWrite = (command: string): boolean => WRITES.has(command);

const busy = (): BatchStatementResponse => ({ Error: { Code: "ThrottlingError", Message: "injected" } });

const errorOf = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });

/** Statements that fail for themselves: some are not carried out, of some only the answer is lost. */
const withStatementFaults = async (
  run: FaultyRun,
  input: { Statements?: BatchStatementRequest[] },
  send: () => Promise<{ output: { Responses?: BatchStatementResponse[] } }>,
) => {
  const statements = input.Statements ?? [];
  const faults = statements.map(() => run.statementFault());
  const sent = statements.filter((_, index) => faults[index] !== "throttle");
  if (sent.length === 0) return { output: { Responses: statements.map(busy) } };
  input.Statements = sent;
  const answer = await send();
  input.Statements = statements;
  let next = 0;
  const responses = faults.map((fault) => {
    const response = fault === "throttle" ? busy() : (answer.output.Responses?.[next++] ?? {});
    return fault === "lose" ? busy() : response;
  });
  return { ...answer, output: { ...answer.output, Responses: responses } };
};

/** Makes the clients of a runtime faulty in runs started with `during`; elsewhere they are as they were. */
export const injectFaults = (base: TestRuntime) => {
  const runs = new AsyncLocalStorage<FaultyRun>();
  const clock: Clock = () => (runs.getStore()?.clock ?? base.clock)();
  const deep = new WeakMap<object, RequestFault>();

  for (const client of [base.dynamodb, base.s3, base.sqs]) {
    const stack = client.middlewareStack as typeof base.s3.middlewareStack;
    stack.add(
      (next, context) => async (parameters) => {
        const run = runs.getStore();
        if (!run) return next(parameters);
        const command = String(context.commandName);
        const fault = run.faultOf(command);
        if (fault === "kill before") await run.stop("kill");
        if (fault === "stall before") await run.stop("stall");
        if (fault === "throttle") throw errorOf("ThrottlingException");
        if (fault.startsWith("deep")) deep.set(context, fault);
        const send = () => next(parameters);
        const answer =
          command === "BatchExecuteStatementCommand"
            ? await withStatementFaults(run, parameters.input as never, send as never)
            : await send();
        if (command === "SendMessageCommand") {
          run.onMessages([(parameters.input as unknown as { MessageBody: string }).MessageBody]);
        }
        if (command === "SendMessageBatchCommand") {
          const { Entries } = parameters.input as unknown as { Entries: { MessageBody: string }[] };
          run.onMessages(Entries.map(({ MessageBody }) => MessageBody));
        }
        if (fault === "kill after") await run.stop("kill");
        if (fault === "stall after") await run.stop("stall");
        if (fault === "lose") throw errorOf("TimeoutError");
        return answer as never;
      },
      { step: "initialize", name: "faults" },
    );
    stack.add(
      (next, context) => async (parameters) => {
        const fault = deep.get(context);
        deep.delete(context);
        if (fault === "deep throttle") throw errorOf("ThrottlingException");
        const answer = await next(parameters);
        if (fault === "deep lose") throw errorOf("TimeoutError");
        return answer;
      },
      // A whole answer has been read there: a lower place would leave its body open.
      { step: "deserialize", priority: "high", name: "deepFaults" },
    );
  }
  return {
    runtime: { ...base, clock } satisfies TestRuntime,
    during: <T>(run: FaultyRun, work: () => Promise<T>): Promise<T> => runs.run(run, work),
  };
};
