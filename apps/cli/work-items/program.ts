import type { Client } from "work-items-client/client.ts";
import manifest from "work-items-client/package.json" with { type: "json" };
import { createCommandLine, parseCommandLine, UsageError } from "@work-items/terminal/command-line.ts";
import { batchCommand } from "./batch-command.ts";
import { changesCommand } from "./changes-command.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { type Command, EXIT } from "./command.ts";
import { importCommand } from "./import-command.ts";
import { itemCommands } from "./item-commands.ts";
import { explain, openService } from "./service-client.ts";
import { undoCommand, uploadsCommand } from "./uploads-command.ts";
import { webhooksCommand } from "./webhooks-command.ts";

export const commands: Readonly<Record<string, Command>> = {
  import: importCommand,
  batch: batchCommand,
  ...itemCommands,
  changes: changesCommand,
  uploads: uploadsCommand,
  undo: undoCommand,
  webhooks: webhooksCommand,
};

const PROGRAM = "work-items";
const OVERVIEW = `
${PROGRAM} <command> --help shows details. WORK_ITEMS_URL and WORK_ITEMS_KEY, or BASE_URL and API_KEY, are the service's
address and your API key.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 some rows or items failed, 4 the import was not confirmed.`;

async function runCommand(terminal: Terminal): Promise<void> {
  const program = createCommandLine(terminal, PROGRAM, "Import, read and change work items");
  program.version(manifest.version).addHelpText("after", OVERVIEW);
  for (const [name, { arguments: parameters, summary, options, examples, run }] of Object.entries(commands)) {
    const command = program.command(`${name} ${parameters}`.trim()).description(summary);
    for (const [flags, meaning] of Object.entries(options)) command.option(flags, meaning);
    const lines = examples.map((example) => `\n  ${PROGRAM} ${example}`);
    command.addHelpText("after", `\nExamples:${lines.join("")}`).action(() => {
      const client = (): Client => openService(terminal);
      return run({ terminal, client, options: command.opts(), positionals: command.args });
    });
  }
  await parseCommandLine(program, terminal.args);
}

/** Runs the program and reports errors. @returns the exit code */
export async function runProgram(terminal: Terminal): Promise<number> {
  try {
    await runCommand(terminal);
  } catch (error) {
    const message = explain(terminal, error);
    if (message === undefined) throw error;
    for (const line of `${PROGRAM}: ${message}`.split("\n")) terminal.note(line);
    terminal.exitCode = EXIT.failed;
    if (error instanceof UsageError) {
      const named = terminal.args.slice(0, 1).filter((name) => Object.hasOwn(commands, name));
      terminal.note(`Run ${[PROGRAM, ...named, "--help"].join(" ")} for details`);
      terminal.exitCode = EXIT.usage;
    }
  }
  return terminal.exitCode;
}
