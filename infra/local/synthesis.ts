import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { REGIONS, type RegionCode, stackIdOf } from "../../lib/regions.ts";
import type { LocalSettings } from "./synthesize.ts";
import { LocalStackError } from "./local-stack-error.ts";
import { readTemplate, type Template } from "./template.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** In node_modules, where no package.json declares the CommonJS bundles as ES modules; `npm ci` removes it. */
const CACHE = join(ROOT, "node_modules/.cache/local-stack");
const INPUTS = [
  "functions/**/*",
  "lib/**/*",
  "infra/**/*.ts",
  "infra/pages/**/*",
  "docs/guides/*.md",
  "cdk.json",
  "docs/openapi.json",
  "package*.json",
];
/** Age after which a synthesis is removed. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const REGION = "us" satisfies RegionCode;

/** The template and code that `npx cdk deploy` would deploy. */
export interface Synthesis {
  readonly template: Template;
  readonly stackName: string;
  readonly regionCode: RegionCode;
  /** The AWS region. */
  readonly region: string;
  /** Directory of the cloud assembly, which holds the functions' code at their asset paths. */
  readonly directory: string;
}

/** A hash of the settings and of all files that the template and the bundles depend on. */
const fingerprint = (settings: string): string => {
  const hash = createHash("sha256").update(settings).update("\0");
  const files = globSync(INPUTS, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).toSorted()) {
    hash.update(path).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex").slice(0, 16);
};

const synthesizeInto = async (directory: string, settings: string): Promise<void> => {
  const script = fileURLToPath(new URL("synthesize.ts", import.meta.url));
  const child = spawn(process.execPath, [script, directory, REGION, settings], { stdio: ["ignore", "ignore", "pipe"] });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const printed = await text(child.stderr);
  if ((await exit) !== 0) throw new LocalStackError(`the stack does not synthesize: ${printed.trim()}`);
};

/** Removes old syntheses. Recent ones stay, because a running local stack starts instances from its own. */
const removeOld = async (): Promise<void> => {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    // Another process may have removed it meanwhile.
    const modifiedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity;
    if (Date.now() - modifiedAt > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
};

/**
 * Bundles the functions and synthesizes the stack, without credentials or network. The result is cached until an input
 * changes.
 * @param settings override those of the stage dev
 * @throws LocalStackError with the CDK's output if the synthesis fails
 */
export const synthesize = async (settings: LocalSettings = {}): Promise<Synthesis> => {
  const given = JSON.stringify(settings);
  const name = fingerprint(given);
  const directory = join(CACHE, name);
  if (!existsSync(directory)) {
    await mkdir(CACHE, { recursive: true });
    const temporary = await mkdtemp(join(CACHE, "making-"));
    try {
      await synthesizeInto(temporary, given);
      // If another process has made the same synthesis meanwhile, use that one.
      await rename(temporary, directory).catch(() => rm(temporary, { recursive: true }));
    } catch (error) {
      await rm(temporary, { recursive: true });
      throw error;
    }
    await removeOld();
  }
  const stackName = stackIdOf(REGION);
  return {
    template: readTemplate(join(directory, `${stackName}.template.json`)),
    stackName,
    regionCode: REGION,
    region: REGIONS[REGION].awsRegion,
    directory,
  };
};
