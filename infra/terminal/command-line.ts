import { Command, CommanderError } from "commander";
import type { Terminal } from "./terminal.ts";

/** A command failed. The message is for the person who ran it. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** The command line isn't valid. The message says in one line what to do. */
export class UsageError extends CommandError {
  override readonly name: string = "UsageError";
}

const COLUMNS_OF_A_PIPE = 80;

/** Makes a command. `parseCommandLine` throws its errors and those of its subcommands. */
export function createCommandLine(terminal: Terminal, name: string, description: string): Command {
  const { stdout, stderr } = terminal;
  return new Command(name)
    .description(description)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? COLUMNS_OF_A_PIPE,
      getErrHelpWidth: () => stderr.columns ?? COLUMNS_OF_A_PIPE,
      outputError: () => undefined,
    });
}

/** Runs the action that a command line names, or prints the help. @throws UsageError */
export async function parseCommandLine(command: Command, args: readonly string[]): Promise<void> {
  try {
    await command.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const message = error.code === "commander.help" ? "name a command" : error.message;
    throw new UsageError(message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " "));
  }
}

/** The message of an expected error; undefined for a fault of the program. */
function messageOf(error: unknown): string | undefined {
  return error instanceof CommandError ? error.message : undefined;
}

/**
 * Runs a command's work. An expected error is printed in one line, with exit status 1.
 * @param describe returns the line for an error; undefined if the error isn't expected
 */
export async function reportErrors(terminal: Terminal, run: () => unknown, describe = messageOf): Promise<void> {
  try {
    await run();
  } catch (error) {
    const message = describe(error);
    if (message === undefined) throw error;
    terminal.noteLines(message);
    terminal.exitCode = 1;
  }
}

/** Runs a terminal's command line and reports errors. @returns the exit status */
export async function runCommand(
  terminal: Terminal,
  command: Command,
  describe?: (error: unknown) => string | undefined,
): Promise<number> {
  await reportErrors(terminal, () => parseCommandLine(command, terminal.args), describe);
  return terminal.exitCode;
}
