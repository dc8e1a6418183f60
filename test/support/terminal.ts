import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { createTerminal, type Terminal } from "../../infra/terminal/terminal.ts";

interface TerminalOptions {
  /** @default that of this process */
  readonly env?: NodeJS.ProcessEnv;
  /** What the standard input holds. @default nothing */
  readonly input?: string;
  /** The streams at which a person sits. @default none */
  readonly people?: readonly ("stdin" | "stdout" | "stderr")[];
  /** Ends a command that never ends by itself, when it waits. @default none */
  readonly signal?: AbortSignal;
}

/** How long it waits for others instead. */
const PAUSE_MS = 20;

/** A terminal that keeps what is printed. It hardly waits: its clock goes ahead by the time for which it should. */
export const testTerminal = (
  args: readonly string[],
  { env = process.env, input = "", people = [], signal }: TerminalOptions = {},
) => {
  const printed = { stdout: "", stderr: "" };
  const output = (name: keyof typeof printed) => {
    const stream = new Writable({
      decodeStrings: false,
      write: (text: string, _, done) => {
        printed[name] += text;
        done();
      },
    });
    return Object.assign(stream, { isTTY: people.includes(name) });
  };
  let waited = 0;
  const terminal = createTerminal({
    args,
    env,
    stdin: Object.assign(Readable.from(input === "" ? [] : [Buffer.from(input)]), { isTTY: people.includes("stdin") }),
    stdout: output("stdout"),
    stderr: output("stderr"),
    clock: () => Date.now() + waited,
    sleep: (milliseconds) => {
      waited += milliseconds;
      return pause(PAUSE_MS, undefined, signal && { signal });
    },
  });
  return { terminal, printed };
};

/** Runs a command in this process. */
export const runCommand = async (
  command: (terminal: Terminal) => Promise<number>,
  args: readonly string[],
  options: TerminalOptions = {},
) => {
  const { terminal, printed } = testTerminal(args, options);
  const status = await command(terminal);
  return { status, out: printed.stdout, error: printed.stderr.trim() };
};
