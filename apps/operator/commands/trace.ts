import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { Argument } from "commander";
import { buildFunctions, buildWithSourceMaps, functionNames } from "../../../infra/build.ts";
import { createCommandLine, UsageError } from "@work-items/terminal/command-line.ts";
import { stackNameOf } from "../../../infra/settings/settings.ts";
import { runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import type { StackAddress } from "./deployed-stack.ts";
import { templateResources } from "./stack-parts.ts";
import { awsRegionIn, regionCode, runOperatorCommand, type Target } from "./target-tables.ts";

/** The bundle where Lambda runs it. */
const BUNDLE = "/var/task/index.js";

/**
 * Replaces positions in a bundle (`<file>:<line>:<column>`) with those in the source, relative to the current directory. A
 * position that the map doesn't have stays.
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

/** The hash by which a function's code is deployed. */
async function deployedHash(address: StackAddress, name: string): Promise<string> {
  const resources = Object.values(await templateResources(address));
  const found = resources.find((each) => each.Properties?.["FunctionName"] === `${address.stackName}-${name}`);
  const { S3Key: key = "" } = (found?.Properties?.["Code"] ?? {}) as { readonly S3Key?: string };
  return key.replace(/\.zip$/, "");
}

/** Checks that a function is deployed as this checkout builds it. @throws UsageError */
async function assertDeployed({ stage = "", region }: Target, name: string, directory: string): Promise<void> {
  const code = regionCode(region);
  const stackName = stackNameOf(code, stage);
  // The CDK takes a second to load.
  const { codeHashOf } = await import("../../../infra/service-app.ts");
  await buildFunctions(directory, [name]);
  const deployed = await deployedHash({ stackName, region: awsRegionIn(stage, code), profile: undefined }, name);
  if (codeHashOf(join(directory, name)) === deployed) return;
  throw new UsageError(
    `${stackName} has other code of ${name} than this checkout, so lines would be wrong: check out the deployed commit`,
  );
}

/**
 * Translates the stack of a deployed function by source maps of this checkout.
 * @param stack lines of a stack, or a log line that holds one
 */
async function trace(name: string, stack: string, target: Target): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "work-items-trace-"));
  try {
    if (target.stage !== undefined) await assertDeployed(target, name, join(directory, "code"));
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
    .option("--stage <stage>", "check first that this stage runs the code of the checkout")
    .option("--region <region>", "its region")
    .addHelpText("after", "\nExample: npm run trace -- get-work-item --stage prod --region us < stack.txt")
    .action(async (name: string, target: Target) =>
      terminal.printLines((await trace(name, await text(terminal.stdin), target)).trimEnd()),
    );
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(traceCommand);
