import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { saysDiskFull } from "./engines/full-disk.ts";

/** A longer log starts over. */
export const LOG_MAX_BYTES = 64 * 1024 * 1024;
/** The size is checked again after so many characters. */
const CHECK_AGAIN_AFTER = 1024 * 1024;
/** The most characters of an error's message in the line for the terminal. */
const MESSAGE_MAX = 200;
const ERROR_LINE = '"level":"ERROR"';
/** A full disk is named once, and again only after so long without an error of it. */
const FULL_AGAIN_MS = 60_000;
/** How paths of the project begin in stacks. */
const ROOT = new URL("../..", import.meta.url).href;
const ROOT_PATH = fileURLToPath(ROOT);

/** A log line about an error of a request, a message or a whole invocation. */
interface Line {
  readonly level: string;
  readonly message?: string;
  readonly function?: string;
  readonly route?: string;
  readonly status?: number;
  readonly error?: { readonly name?: string; readonly message?: string; readonly stack?: string } | string;
  readonly request_id?: string;
  readonly messageId?: string;
}

/** @returns the line if it is about an unexpected error, which a 503 isn't, for example */
function faultIn(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line;
    return line.level === "ERROR" && (line.status === undefined || line.status === 500) ? line : undefined;
  } catch {
    return undefined;
  }
}

/** The first line of a stack that is in the project's own code; otherwise the first one in any source. */
function sourceLineIn(stack: string): string | undefined {
  const lines = [...stack.matchAll(/([^\s()]+\.(?:ts|js|mjs):\d+):\d+/g)].map(([, line = ""]) => line);
  return lines.find((line) => /^(?:functions|lib)\//.test(line)) ?? lines[0];
}

/** What one needs to know where to look: time, function, error, source line and request. */
function summaryOf({ message = "", ...line }: Line): string {
  const error: Exclude<Line["error"], string | undefined> =
    typeof line.error === "object" ? line.error : { message: line.error ?? message };
  // A control character would end the line or change the terminal.
  const shown = (error.message ?? "").replace(/\p{Cc}.*$/su, "").slice(0, MESSAGE_MAX);
  const sourceLine = sourceLineIn(error.stack ?? "");
  const request = line.request_id ?? line.messageId;
  return [
    new Date().toTimeString().slice(0, 8),
    line.route ?? line.function ?? message,
    ...(line.status === undefined ? [] : [line.status]),
    `${error.name ?? "Error"}: ${shown}`,
    ...(sourceLine === undefined ? [] : [`at ${sourceLine}`]),
    ...(request === undefined ? [] : [`(request ${request})`]),
  ].join(" ");
}

/** Where a process writes. */
export interface LogTargets {
  /** File descriptor of the functions' log. */
  readonly log: number;
  /** Whether the terminal gets everything, not just one line for each unexpected error. */
  readonly verbose: boolean;
  /** Whether another process names a full disk: the workers find it within a second. @default false */
  readonly leavesFullDisk?: boolean;
}

/**
 * Makes the function that appends what functions print to their log before it returns, as in Lambda. An unexpected error
 * also gets one line in the terminal.
 * @param complain writes to the terminal
 */
export function createLogWriter(
  { log, verbose, leavesFullDisk = false }: LogTargets,
  complain: (text: string) => void,
) {
  let written = CHECK_AGAIN_AFTER;
  let fullAt = -Infinity;
  const cutIfLong = (next: string): void => {
    if (written >= CHECK_AGAIN_AFTER) {
      written = 0;
      // Other processes append to it too.
      if (fstatSync(log).size > LOG_MAX_BYTES) ftruncateSync(log);
    }
    written += next.length;
  };
  const nameFullDisk = (): void => {
    const now = Date.now();
    if (!leavesFullDisk && now - fullAt > FULL_AGAIN_MS)
      complain("the disk of the data directory is full: writes fail until it has space\n");
    fullAt = now;
  };
  return (chunk: string | Uint8Array): void => {
    const given = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    const isError = given.includes(ERROR_LINE);
    const text = isError ? given.replaceAll(ROOT, "").replaceAll(ROOT_PATH, "") : given;
    try {
      cutIfLong(text);
      writeSync(log, text);
    } catch (error) {
      // Lines are lost and the service continues.
      if (saysDiskFull((error as Error).message)) nameFullDisk();
    }
    if (verbose) complain(text);
    const fault = isError && !verbose ? faultIn(text) : undefined;
    if (fault !== undefined && saysDiskFull(text)) nameFullDisk();
    else if (fault !== undefined) complain(`${summaryOf(fault)}\n`);
  };
}

/**
 * Sends everything that this process prints to the functions' log, until `end` is called.
 * @returns functions that write to the terminal instead
 */
export function printToLog(to: LogTargets) {
  const streams = [process.stdout, process.stderr] as const;
  const writes = streams.map((stream) => stream.write.bind(stream));
  const [print, complain] = streams.map((stream, index) => {
    const write = writes[index]!;
    // If the reader is gone, lines are lost and the service continues.
    stream.on("error", () => {});
    return (text: string): void => void write(text);
  }) as [(text: string) => void, (text: string) => void];
  const record = createLogWriter(to, complain);
  for (const stream of streams) {
    stream.write = (chunk: string | Uint8Array, ...options: unknown[]): boolean => {
      record(chunk);
      const written = options.find((option) => typeof option === "function");
      if (written !== undefined) process.nextTick(written);
      return true;
    };
  }
  const end = (): void => {
    for (const [index, stream] of streams.entries()) stream.write = writes[index]!;
  };
  return { print, complain, end };
}
