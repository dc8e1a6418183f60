import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { buildFunctions, functionNames } from "../../build.ts";
import { toSourceLines } from "../../source-lines.mjs";
import { runCommand, UsageError } from "./administration.ts";

const USAGE = "usage: npm run trace -- <function> < stack.txt, for example get-work-item";
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

await runCommand(async () => {
  const [, , name = ""] = process.argv;
  if (name === "") throw new UsageError(USAGE);
  if (!functionNames.includes(name)) throw new UsageError(`${name}: name one of ${functionNames.join(", ")}`);
  return (await trace(name, await text(process.stdin))).trimEnd();
});
