import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { CommandError } from "@work-items/terminal/command-line.ts";

/** A running engine. */
export interface Engine {
  readonly endpoint: string;
  /** Resolves when the engine has ended, whether it was stopped or failed. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

const BINARY = fileURLToPath(
  new URL(`../../../node_modules/@dynoxide/${process.platform}-${process.arch}/dynoxide`, import.meta.url),
);
const VERSION_ELSEWHERE = "dynoxide@1.2.1";
const READY_WITHIN_MS = 60_000;

/**
 * Shell script that runs the engine and kills its process group when this process closes the pipe. That works after a
 * kill -9 too, which no signal handler sees. The pipe is duplicated because a shell gives background commands no input.
 */
const SUPERVISOR = `exec 3<&0; "$@" </dev/null 3<&- & engine=$!
{ cat <&3 >/dev/null; kill -9 0; } & exec 3<&-; wait $engine`;

const LOOPBACK = "127.0.0.1";

/**
 * Unprivileged ports to which browsers never connect (https://fetch.spec.whatwg.org/#port-blocking). The engine always sends
 * `Access-Control-Allow-Origin: *`. At these ports web pages can't reach it.
 */
const PORTS_WITHOUT_BROWSERS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/** @param port 0 selects any free port @returns undefined if the port is taken */
export async function portIfFree(host: string, port: number): Promise<number | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
  const { port: listening } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return listening;
}

/** Finds a free port of a loopback address, if possible one to which browsers don't connect. */
async function freePort(host: string): Promise<number> {
  const start = randomInt(PORTS_WITHOUT_BROWSERS.length);
  for (const port of [...PORTS_WITHOUT_BROWSERS.slice(start), ...PORTS_WITHOUT_BROWSERS.slice(0, start), 0]) {
    const free = await portIfFree(host, port);
    if (free !== undefined) return free;
  }
  throw new CommandError("no port is free");
}

/** A random one of Linux's 16 million loopback addresses, where all ports are free; 127.0.0.1 on other systems. */
async function ownAddress(): Promise<string> {
  const host = `127.${[1, 2, 3].map(() => randomInt(1, 255)).join(".")}`;
  return portIfFree(host, 0).then(
    () => host,
    () => LOOPBACK,
  );
}

function accepts(port: number, host: string): Promise<boolean> {
  const socket = connect(port, host);
  const connected = once(socket, "connect").then(
    () => true,
    () => false,
  );
  return connected.finally(() => socket.destroy());
}

/** In its own process group, so that Ctrl-C doesn't end the engine before the requests in flight are finished. */
function launch(command: readonly string[]): ChildProcess {
  return spawn("sh", ["-c", SUPERVISOR, "dynamodb-engine", ...command], {
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
}

/**
 * Starts a DynamoDB engine as a child process, which ends with this one.
 * @param commandFor program and arguments that serve DynamoDB at a port
 * @param host its address
 * @param chosen its port; a free one by default
 * @throws CommandError with the engine's output if it accepts no connection within a minute
 */
export async function startDynamoDbProcess(
  commandFor: (port: number) => readonly string[],
  host = LOOPBACK,
  chosen?: number,
): Promise<Engine> {
  const port = chosen ?? (await freePort(host));
  const child = launch(commandFor(port));
  let printed = "";
  child.stderr?.on("data", (chunk) => (printed = `${printed}${chunk}`.slice(-2000)));
  const ended = new Promise<void>((resolve) => child.once("error", () => resolve()).once("close", () => resolve()));
  let running = true;
  void ended.then(() => (running = false));
  const stop = async (): Promise<void> => {
    child.stdin?.end();
    await ended;
  };
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await accepts(port, host))) {
    const why = running ? `it didn't respond within ${READY_WITHIN_MS / 1000} s` : printed.trim();
    if (!running || Date.now() > deadline) {
      await stop();
      throw new CommandError(`the DynamoDB engine did not start: ${why}`);
    }
    await sleep(10);
  }
  return { endpoint: `http://${host}:${port}`, ended, stop };
}

/**
 * Gives the engine's own table of stream records the indexes that its queries need: it searches all records of all
 * streams at each write to a table with a stream, so that 20,000 records made a write ten times slower.
 */
function indexStreamRecords(file: string): void {
  using database = new DatabaseSync(file, { timeout: READY_WITHIN_MS });
  database.exec(`
    CREATE INDEX IF NOT EXISTS stream_records_by_number
      ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
    CREATE INDEX IF NOT EXISTS stream_records_by_shard ON _stream_records (table_name, shard_id, sequence_number);
  `);
}

/**
 * Starts the embedded DynamoDB engine.
 * @param options.file SQLite file that keeps the tables
 * @throws CommandError if it doesn't start
 */
export async function startDynamoDbEngine({ file }: { readonly file: string }): Promise<Engine> {
  const program = existsSync(BINARY) ? [BINARY] : ["npx", "--yes", VERSION_ELSEWHERE];
  const host = await ownAddress();
  const engine = await startDynamoDbProcess(
    (port) => [...program, "--host", host, "--port", String(port), "--db-path", file],
    host,
  );
  indexStreamRecords(file);
  return engine;
}
