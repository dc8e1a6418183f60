import type { Client } from "work-items-client/client.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";

/** Exit codes; 0 if everything succeeded. */
export const EXIT = { failed: 1, usage: 2, someFailed: 3, notConfirmed: 4 } as const;

/** The given options, by name in camel case. */
export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface CommandCall {
  readonly terminal: Terminal;
  readonly client: () => Client;
  readonly options: Options;
  readonly positionals: readonly string[];
}

export interface Command {
  /** Its arguments, in commander's notation. */
  readonly arguments: string;
  readonly summary: string;
  /** What each option means, by its flags in commander's notation. */
  readonly options: Readonly<Record<string, string>>;
  /** Arguments of example calls. */
  readonly examples: readonly string[];
  /** Sets the terminal's exit code unless everything succeeded. */
  readonly run: (call: CommandCall) => Promise<void>;
}

/** The text of an option; undefined if it isn't given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** The texts of an option with several; none if it isn't given. */
export function textsOption(options: Options, name: string): readonly string[] {
  const values = options[name];
  return typeof values === "object" ? values : [];
}
