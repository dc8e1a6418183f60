import type { Client } from "work-items-client/client.ts";
import type { Terminal } from "../../../infra/terminal.ts";

export { UsageError } from "../../../infra/command-line.ts";

/** Exit codes of the process; 0 if all is done. */
export const EXIT = { failed: 1, usage: 2, someFailed: 3, notConfirmed: 4 } as const;

/** What is given, by the option's name in camel case. */
export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface CommandCall {
  readonly terminal: Terminal;
  readonly client: () => Client;
  readonly options: Options;
  readonly positionals: readonly string[];
}

/** One command of the program. */
export interface Command {
  /** Its arguments, as commander writes them. */
  readonly arguments: string;
  readonly summary: string;
  /** What each option means, by its flags as commander writes them. */
  readonly options: Readonly<Record<string, string>>;
  /** Arguments of calls that are shown. */
  readonly examples: readonly string[];
  /** Sets the exit code of the terminal unless all is done. */
  readonly run: (call: CommandCall) => Promise<void>;
}

/** An option with a text; undefined if it is not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
