import { nearestTo } from "../../../lib/nearest.ts";
import { batchCommand } from "./batch-command.ts";
import { type Command, EXIT, type ExitCode, note, parseCommand, print, UsageError } from "./command.ts";
import { importCommand } from "./import-command.ts";
import { itemCommands } from "./item-commands.ts";
import { explain, openService } from "./service-client.ts";
import { uploadsCommand } from "./uploads-command.ts";

export const commands: Readonly<Record<string, Command>> = {
  import: importCommand,
  batch: batchCommand,
  ...itemCommands,
  uploads: uploadsCommand,
};

const PROGRAM = "work-items";
const COLUMN = 44;

const helpOf = ({ usage, summary, help, options, examples }: Command): string =>
  [
    `${PROGRAM} ${usage}`,
    `  ${summary}`,
    ...(Object.keys(help).length > 0 ? ["", "options:"] : []),
    ...Object.entries(help).map(
      ([name, text]) => `  --${name}${options[name]?.type === "string" ? " <…>" : ""}`.padEnd(30) + text,
    ),
    "",
    "examples:",
    ...examples.map((example) => `  ${PROGRAM} ${example}`),
  ].join("\n");

const overview = (): string =>
  [
    `usage: ${PROGRAM} <command> …`,
    "",
    ...Object.values(commands).map(({ usage, summary }) => `  ${usage}`.padEnd(COLUMN) + summary),
    "",
    `${PROGRAM} <command> --help shows details. WORK_ITEMS_URL and WORK_ITEMS_KEY select the service (default: local).`,
    "Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 some rows or items failed.",
  ].join("\n");

const runCommand = async ([name, ...args]: readonly string[]): Promise<ExitCode> => {
  if (name === undefined) {
    note(overview());
    return EXIT.usage;
  }
  if (name === "--help" || name === "help" || name === "-h") {
    print(overview());
    return EXIT.done;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new UsageError(`unknown command ${name}; did you mean ${nearestTo(name, Object.keys(commands)) ?? ""}?`);
  }
  if (args.includes("--help") || args.includes("-h")) {
    print(helpOf(command));
    return EXIT.done;
  }
  const call = parseCommand(command, args);
  return command.run({ ...call, client: openService });
};

/** Runs the program and reports errors in one line. @returns the exit code */
export const runProgram = async (args: readonly string[]): Promise<ExitCode> => {
  try {
    return await runCommand(args);
  } catch (error) {
    const message = explain(error);
    if (message === undefined) throw error;
    note(`${PROGRAM}: ${message}`);
    if (!(error instanceof UsageError)) return EXIT.failed;
    note(`Run ${[PROGRAM, ...args.slice(0, 1), "--help"].join(" ")} for details`);
    return EXIT.usage;
  }
};
