import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";

type Input = Readable & { readonly isTTY?: boolean };
type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What the process, or a test, gives a command. */
export interface Surroundings {
  readonly args: readonly string[];
  /** Environment variables. */
  readonly env: Readonly<NodeJS.Dict<string>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** Waits. */
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** Where a command runs. Programs get exact data, people get text without control characters. */
export function createTerminal(surroundings: Surroundings) {
  const { args, env, stdout, stderr, clock } = surroundings;
  /** Lines that were typed or pasted before they were asked for. */
  const typed: string[] = [];
  /** A terminal would obey control characters, so it gets them escaped, as in `\u001b`. */
  const forOutput = (data: string): string => (stdout.isTTY === true ? printableLines(data) : data);
  return {
    /** The status with which the command ends. */
    exitCode: 0,
    args,
    env,
    // Opened only by commands that read it.
    get stdin() {
      return surroundings.stdin;
    },
    stdout,
    stderr,
    clock,
    sleep: surroundings.sleep,

    /** Writes a line for people to the standard output. */
    print: (line: string): void => void stdout.write(`${printable(line)}\n`),
    /** Writes text of several lines for people to the standard output. */
    printLines: (text: string): void => void stdout.write(`${printableLines(text)}\n`),
    /** Writes JSON or CSV, with a line end, to the standard output. */
    printData: (data: string): void => void stdout.write(`${forOutput(data)}\n`),
    /** Writes data to the standard output, and waits until its reader has taken everything. */
    writeData: (data: string): Promise<void> =>
      new Promise((resolve, reject) => {
        stdout.write(forOutput(data), (error) => (error ? reject(error) : resolve()));
      }),
    /** Writes a line for the person at the terminal, to the standard error. */
    note: (line: string): void => void stderr.write(`${printable(line)}\n`),
    /** Writes text of several lines for the person at the terminal. */
    noteLines: (text: string): void => void stderr.write(`${printableLines(text)}\n`),
    /** Asks the person at the terminal. @returns the answer without space around it; empty if the input ends */
    ask: async (question: string): Promise<string> => {
      const early = typed.shift();
      if (early !== undefined) {
        stderr.write(`${printable(question)}\n`);
        return early.trim();
      }
      const reader = createInterface({ input: surroundings.stdin, output: stderr });
      reader.on("line", (line) => typed.push(line));
      const closed = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
      const answer = await Promise.race([reader.question(printable(question)), closed]);
      reader.close();
      return answer.trim();
    },
  };
}
export type Terminal = ReturnType<typeof createTerminal>;

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return createTerminal({
    args: process.argv.slice(2),
    env: process.env,
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    clock: Date.now,
    sleep,
  });
}

/** How long a command tries each address of a host but the last. Node's default is too short for a far host. */
const ADDRESS_MS = 5000;

/** Runs a command as the program of this process. */
export async function runAsProgram(command: (terminal: Terminal) => Promise<number>): Promise<void> {
  // A reader such as `head` may stop before the end of the output.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_MS);
  process.exitCode = await command(processTerminal());
}

/**
 * Characters that a terminal obeys instead of showing them: control characters (C0, DEL, C1), which move the cursor or set
 * colours or the window's title, and those that reverse the order of the text
 * (https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters).
 */
const CONTROLS = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;
/** The same, except line ends and tabs. */
const CONTROLS_IN_LINES = /(?!\r\n)(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** A character as JSON writes it, so that JSON stays the same data. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Makes a text safe to show to people in one line: ESC becomes `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, escaped);
}

/** Makes a text of several lines safe to show. */
function printableLines(text: string): string {
  return text.replaceAll(CONTROLS_IN_LINES, escaped);
}

/** A number of things, such as "1 row" or "2 rows". */
export function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
