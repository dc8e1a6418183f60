import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { buildFunctions, functionNames } from "../../build.ts";
import { toSourceLines } from "../../source-lines.mjs";
import { createCommandLine } from "../../command-line.ts";
import { runOperatorCommand } from "./administration.ts";
import { Argument } from "commander";

/** The bundle where Lambda runs it. */
const BUNDLE = "/var/task/index.js";

/**
 * Translates the stack of a deployed function by source maps of this checkout.
 * @param stack lines of a stack, or a log line that holds one
 */
async function trace(name: string, stack: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "work-items-trace-"));
  try {
    await buildFunctions(directory, { sourceMaps: true });
    const mapFile = join(directory, `${name}/index.js.map`);
    return toSourceLines(stack, BUNDLE, () => mapFile).replaceAll(String.raw`\n`, "\n");
  } finally {
    await rm(directory, { recursive: true });
  }
}

const program = createCommandLine("npm run trace --", "Translate a deployed function's stack from the standard input");
program
  .addArgument(new Argument("<function>", "such as get-work-item").choices(functionNames))
  .addHelpText("after", "\nExample: npm run trace -- get-work-item < stack.txt")
  .action(async (name: string) => console.log((await trace(name, await text(process.stdin))).trimEnd()));
await runOperatorCommand(program);
