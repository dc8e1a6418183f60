import { Command, CommanderError } from "commander";

/** A command failed. The message is for the person who ran it. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** The command line is not valid. The message says in one line what to do. */
export class UsageError extends CommandError {
  override readonly name: string = "UsageError";
}

/** A command whose errors are thrown by `parseCommandLine`, as are those of the commands below it. */
export function createCommandLine(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
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
