import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { buildWithSourceMaps, functionNames } from "../../build.ts";
import { createCommandLine } from "../../command-line.ts";
import { runAsProgram, type Terminal } from "../../terminal.ts";
import { runOperatorCommand } from "./administration.ts";
import { Argument } from "commander";

/** The bundle where Lambda runs it. */
const BUNDLE = "/var/task/index.js";

/**
 * Replaces positions in a bundle (`<file>:<line>:<column>`) by those in the source, relative to the current directory. A
 * position stays as it is if the map does not have it.
 * @param stack lines of a stack, or a log line that holds one
 */
function toSourceLines(stack: string, mapFile: string): string {
  const parsed = JSON.parse(readFileSync(mapFile, "utf8")) as SourceMapPayload;
  const map = new SourceMap(parsed);
  const positions = new RegExp(String.raw`(?:file://)?${BUNDLE.replaceAll(".", String.raw`\.`)}:(\d+):(\d+)`, "g");
  return stack.replaceAll(positions, (position, line, column) => {
    const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry)) return position;
    const source = relative(process.cwd(), resolve(parsed.sourceRoot, entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

/**
 * Translates the stack of a deployed function by source maps of this checkout.
 * @param stack lines of a stack, or a log line that holds one
 */
async function trace(name: string, stack: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "work-items-trace-"));
  try {
    await buildWithSourceMaps(directory, [name]);
    const mapFile = join(directory, `${name}/index.js.map`);
    return toSourceLines(stack, mapFile).replaceAll(String.raw`\n`, "\n");
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** `npm run trace`. @returns the exit status */
export function traceCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "npm run trace --",
    "Translate a deployed function's stack from the standard input",
  );
  program
    .addArgument(new Argument("<function>", "such as get-work-item").choices(functionNames))
    .addHelpText("after", "\nExample: npm run trace -- get-work-item < stack.txt")
    .action(async (name: string) => terminal.printLines((await trace(name, await text(terminal.stdin))).trimEnd()));
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(traceCommand);
