import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { Client } from "../../../lib/client/client.ts";
import { CommandError } from "./service-client.ts";

/** Exit codes of the process. */
export const EXIT = { done: 0, failed: 1, usage: 2, someFailed: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The arguments cannot be understood. */
export class UsageError extends CommandError {
  override readonly name: string = "UsageError";
}

export type Options = Readonly<Record<string, string | boolean | undefined>>;

export interface CommandCall {
  readonly client: () => Client;
  readonly options: Options;
  readonly positionals: readonly string[];
}

/** One command of the program. */
export interface Command {
  readonly usage: string;
  readonly summary: string;
  readonly options: ParseArgsOptionsConfig;
  /** What the options mean, in their order. */
  readonly help: Readonly<Record<string, string>>;
  /** Arguments of calls that are shown. */
  readonly examples: readonly string[];
  readonly run: (call: CommandCall) => Promise<ExitCode>;
}

/** An option with a text; undefined if it is not given. */
export const textOption = (options: Options, name: string): string | undefined => {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
};

/** The only argument. @throws UsageError */
export const onlyArgument = (positionals: readonly string[], what: string): string => {
  const [argument, ...others] = positionals;
  if (argument === undefined || others.length > 0) throw new UsageError(`one ${what} is required`);
  return argument;
};

/** Parses the arguments of a command. @throws UsageError */
export const parseCommand = (command: Command, args: readonly string[]): Omit<CommandCall, "client"> => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: command.options,
      allowPositionals: true,
      strict: true,
    });
    return { options: values as Options, positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

/** Writes a line to the standard output. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);
/** Writes a line for the person at the terminal, beside the output. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`);
