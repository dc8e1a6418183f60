import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { CommandError } from "@work-items/terminal/command-line.ts";
import type { Engine } from "./dynamodb.ts";

/** Where the engine keeps queues and objects. */
export interface FauxqsStorage {
  /** Directory of the queues' database. */
  readonly queues: string;
  readonly objects: string;
}

/** The only message of the engine's process: its port, or why it didn't start. */
export type FauxqsMessage = { readonly port: number } | { readonly failure: string };

const PROCESS = fileURLToPath(new URL("fauxqs-process.ts", import.meta.url));
const STOP_WITHIN_MS = 5000;

/**
 * Starts S3 and SQS at one address in another process, since they hold whole bodies in memory. It ends with this one.
 * @param storage without it, everything is kept in memory
 * @throws CommandError if it doesn't start, for example because it can't read its stored data
 */
export async function startFauxqsEngine(storage?: FauxqsStorage): Promise<Engine> {
  // In its own process group, so that Ctrl-C doesn't end the engine before the requests in flight are finished.
  const child = fork(PROCESS, storage === undefined ? [] : [storage.queues, storage.objects], {
    detached: true,
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let printed = "";
  child.stderr?.on("data", (chunk) => (printed = `${printed}${chunk}`.slice(-2000)));
  const ended = new Promise<void>((resolve) => child.once("error", () => resolve()).once("exit", () => resolve()));
  const message = await Promise.race([
    new Promise<FauxqsMessage>((resolve) => child.once("message", (sent) => resolve(sent as FauxqsMessage))),
    ended.then(() => ({ failure: printed.trim() })),
  ]);
  if ("failure" in message) throw new CommandError(`the S3 and SQS engine did not start: ${message.failure}`);
  return {
    endpoint: `http://127.0.0.1:${message.port}`,
    ended,
    stop: async () => {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
