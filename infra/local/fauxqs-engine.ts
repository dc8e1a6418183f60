import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LocalStackError } from "./local-stack-error.ts";

/** S3 and SQS behind one address. */
export interface FauxqsEngine {
  readonly endpoint: string;
  /** Settles when the engine has ended, wanted or not. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Where the engine keeps queues and objects. */
export interface FauxqsStorage {
  /** Directory of the queues' database. */
  readonly queues: string;
  /** Directory of the objects. */
  readonly objects: string;
}

/** What the engine's process says once. */
export type FauxqsMessage = { readonly port: number } | { readonly failure: string };

const PROCESS = fileURLToPath(new URL("fauxqs-process.ts", import.meta.url));
const STOP_WITHIN_MS = 5000;

/**
 * Starts S3 and SQS in a process of their own, since they hold whole bodies in memory. It ends with this one.
 * @param storage in memory where omitted
 * @throws LocalStackError where it cannot read what it kept
 */
export const startFauxqsEngine = async (storage?: FauxqsStorage): Promise<FauxqsEngine> => {
  // A process group of its own: Ctrl-C ends the requests in flight first, and then we end the engine.
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
  if ("failure" in message) throw new LocalStackError(`the S3 and SQS engine did not start: ${message.failure}`);
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
};
