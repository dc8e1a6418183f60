import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A longer log starts over. */
export const LOG_MAX_BYTES = 64 * 1024 * 1024;
/** The size is looked at again after so many characters. */
const LOOK_AGAIN_AFTER = 1024 * 1024;
/** The most characters of an error's message in the line for the terminal. */
const MESSAGE_MAX = 200;
const ERROR_LINE = '"level":"ERROR"';
/** How paths of the project begin in stacks. */
const ROOT = new URL("../..", import.meta.url).href;
const ROOT_PATH = fileURLToPath(ROOT);

/** What the lines about errors of a request, of a message and of a whole invocation have. */
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

/** @returns the line if it is about an error that nothing in the code expects: no 503, for example */
function faultIn(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line;
    return line.level === "ERROR" && (line.status === undefined || line.status === 500) ? line : undefined;
  } catch {
    return undefined;
  }
}

/** The first line of a stack in the project's own code; otherwise the first one in any source. */
function placeIn(stack: string): string | undefined {
  const places = [...stack.matchAll(/([^\s()]+\.(?:ts|js|mjs):\d+):\d+/g)].map(([, place = ""]) => place);
  return places.find((place) => /^(?:functions|lib)\//.test(place)) ?? places[0];
}

/** Only what says where to look: time, function, error, source line and request. */
function summaryOf({ message = "", ...line }: Line): string {
  const error: Exclude<Line["error"], string | undefined> =
    typeof line.error === "object" ? line.error : { message: line.error ?? message };
  // A control character would end the line or change the terminal.
  const shown = (error.message ?? "").replace(/\p{Cc}.*$/su, "").slice(0, MESSAGE_MAX);
  const place = placeIn(error.stack ?? "");
  const request = line.request_id ?? line.messageId;
  return [
    new Date().toTimeString().slice(0, 8),
    line.route ?? line.function ?? message,
    ...(line.status === undefined ? [] : [line.status]),
    `${error.name ?? "Error"}: ${shown}`,
    ...(place === undefined ? [] : [`at ${place}`]),
    ...(request === undefined ? [] : [`(request ${request})`]),
  ].join(" ");
}

/** Where a process writes. */
export interface LogTargets {
  /** File descriptor of the functions' log. */
  readonly log: number;
  /** Whether the terminal gets all of it, not just one line for each unexpected error. */
  readonly verbose: boolean;
}

/**
 * Makes the function that writes what functions print to their log, before it returns, as in Lambda. An unexpected error
 * is also summed up in one line.
 * @param complain writes to the terminal
 */
export function createLogWriter({ log, verbose }: LogTargets, complain: (text: string) => void) {
  let written = LOOK_AGAIN_AFTER;
  const cutIfLong = (next: string): void => {
    if (written >= LOOK_AGAIN_AFTER) {
      written = 0;
      // Other processes write to it, too: all of them append.
      if (fstatSync(log).size > LOG_MAX_BYTES) ftruncateSync(log);
    }
    written += next.length;
  };
  return (chunk: string | Uint8Array): void => {
    const given = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    const isError = given.includes(ERROR_LINE);
    const text = isError ? given.replaceAll(ROOT, "").replaceAll(ROOT_PATH, "") : given;
    try {
      cutIfLong(text);
      writeSync(log, text);
    } catch {
      // The disk is full: lines are lost and the service continues.
    }
    if (verbose) complain(text);
    const fault = isError && !verbose ? faultIn(text) : undefined;
    if (fault !== undefined) complain(`${summaryOf(fault)}\n`);
  };
}

/**
 * Makes everything that is printed in this process part of the functions' log, until `end` is called.
 * @returns functions that write to the terminal instead
 */
export function printToLog(to: LogTargets) {
  const streams = [process.stdout, process.stderr] as const;
  const writes = streams.map((stream) => stream.write.bind(stream));
  const [print, complain] = streams.map((stream, place) => {
    const write = writes[place]!;
    // If a reader is gone, its lines are lost and the service continues.
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
    for (const [place, stream] of streams.entries()) stream.write = writes[place]!;
  };
  return { print, complain, end };
}
