import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type TestRuntime } from "../support/runtime.ts";
import type { RowWritesMessage } from "./row-writes-server.ts";

/** What AWS takes for a request, in milliseconds, beside the time of the engine. */
const LATENCY_MS = { read: 5, write: 12, object: 20 } as const;
const READS: readonly unknown[] = ["GetItemCommand", "BatchGetItemCommand", "QueryCommand"];
const ROW_WRITES = "BatchExecuteStatementCommand";
const ROW_WRITES_SERVER = fileURLToPath(new URL("row-writes-server.ts", import.meta.url));

const messageFrom = async (child: ChildProcess): Promise<RowWritesMessage> => {
  const [message] = (await once(child, "message")) as [RowWritesMessage];
  return message;
};

/** Sends the writes of rows to a server of their own, but for single ones. @returns a function that counts all */
export const redirectRowWrites = async ({ dynamodb }: TestRuntime): Promise<() => Promise<number>> => {
  const server = fork(ROW_WRITES_SERVER, [String(LATENCY_MS.write)], { execArgv: [] });
  const ready = await messageFrom(server);
  let single = 0;
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === ROW_WRITES && "port" in ready) Object.assign(args.request as object, ready);
        if (commandName === "PutCommand" || commandName === "PutItemCommand") single++;
        return next(args);
      },
    { step: "build", name: "server of row writes" },
  );
  return async () => {
    server.send("count");
    const message = await messageFrom(server);
    return "statements" in message ? message.statements + single : 0;
  };
};

/** Lets requests take as long as AWS takes for them. */
export const addLatencies = ({ dynamodb, s3 }: TestRuntime): void => {
  const options = { step: "initialize", name: "latency of AWS" } as const;
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        if (commandName !== ROW_WRITES) await sleep(READS.includes(commandName) ? LATENCY_MS.read : LATENCY_MS.write);
        return next(request);
      },
    options,
  );
  s3.middlewareStack.add(
    (next) => async (request) => {
      await sleep(LATENCY_MS.object);
      return next(request);
    },
    options,
  );
};
