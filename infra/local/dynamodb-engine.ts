import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, connect } from "node:net";
import { fileURLToPath } from "node:url";

export interface DynamoDbEngine {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const BINARY = fileURLToPath(
  new URL(`../../node_modules/@dynoxide/${process.platform}-${process.arch}/dynoxide`, import.meta.url),
);
const VERSION_ELSEWHERE = "dynoxide@1.2.1";
const READY_WITHIN_MS = 60_000;

/** A port that was free a moment ago on the loopback address. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("close", () => socket.destroy()).once("connect", () => socket.end());
  });

const launch = (arguments_: string[]): ChildProcess =>
  existsSync(BINARY)
    ? spawn(BINARY, arguments_, { stdio: ["ignore", "ignore", "pipe"] })
    : spawn("npx", ["--yes", VERSION_ELSEWHERE, ...arguments_], { stdio: ["ignore", "ignore", "pipe"] });

/**
 * Starts the DynamoDB engine as a child process.
 * @param options.file SQLite file that keeps the tables; in memory where omitted
 * @throws Error with what the engine printed, where it does not serve within a minute
 */
export const startDynamoDbEngine = async (options: { readonly file?: string } = {}): Promise<DynamoDbEngine> => {
  const port = await freePort();
  const child = launch(["--port", String(port), ...(options.file === undefined ? [] : ["--db-path", options.file])]);
  let printed = "";
  let ended: string | undefined;
  child.stderr?.on("data", (chunk) => (printed = `${printed}${chunk}`.slice(-2000)));
  child.once("error", (error) => (ended = error.message));
  child.once("exit", (code, signal) => (ended ??= `exit ${code ?? signal}`));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await exit;
  };
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await accepts(port))) {
    if (ended !== undefined) throw new Error(`the DynamoDB engine did not start (${ended}) ${printed.trim()}`);
    if (Date.now() > deadline) {
      await stop();
      throw new Error(`the DynamoDB engine did not answer within ${READY_WITHIN_MS / 1000} s ${printed.trim()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { endpoint: `http://127.0.0.1:${port}`, stop };
};
