import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
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
/** So many syntheses are kept, those that were used last: an older one is of code that has changed since. */
const KEPT = 3;
/** In a synthesis: a file for each process that uses it, by its id. */
const USERS = "users";
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
function fingerprint(settings: string): string {
  const hash = createHash("sha256").update(settings).update("\0");
  const files = globSync(INPUTS, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile());
  // A copy of the checkout that shares its node_modules has the same synthesis.
  for (const path of files.map((entry) => relative(ROOT, join(entry.parentPath, entry.name))).toSorted()) {
    hash
      .update(path)
      .update("\0")
      .update(readFileSync(join(ROOT, path)))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

async function synthesizeInto(directory: string, settings: string): Promise<void> {
  const script = fileURLToPath(new URL("synthesize.ts", import.meta.url));
  const child = spawn(process.execPath, [script, directory, REGION, settings], { stdio: ["ignore", "ignore", "pipe"] });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const printed = await text(child.stderr);
  if ((await exit) !== 0) throw new LocalStackError(`the stack does not synthesize: ${printed.trim()}`);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // ESRCH: there is no such process. EPERM: it belongs to another user.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Records that this process uses a synthesis, for as long as it runs. @returns false if there is no such synthesis */
async function use(directory: string): Promise<boolean> {
  try {
    await writeFile(join(directory, USERS, String(process.pid)), "");
    await utimes(directory, new Date(), new Date());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Removes all syntheses but those that were used last and those that a running process uses: a local stack starts
 * instances from its own for as long as it runs.
 */
export async function removeOldSyntheses(cache: string): Promise<void> {
  const found = await Promise.all(
    // Another process may remove one meanwhile.
    (await readdir(cache)).map(async (name) => ({
      path: join(cache, name),
      usedAt: (await stat(join(cache, name)).catch(() => undefined))?.mtimeMs ?? 0,
    })),
  );
  for (const { path } of found.toSorted((a, b) => b.usedAt - a.usedAt).slice(KEPT)) {
    const users = await readdir(join(path, USERS)).catch(() => []);
    if (!users.some((pid) => isRunning(Number(pid)))) await rm(path, { recursive: true, force: true });
  }
}

/**
 * Bundles the functions and synthesizes the stack, without credentials or network. The result is cached until an input
 * changes.
 * @param settings override those of the stage dev
 * @throws LocalStackError with the CDK's output if the synthesis fails
 */
export async function synthesize(settings: LocalSettings = {}): Promise<Synthesis> {
  const given = JSON.stringify(settings);
  const name = fingerprint(given);
  const directory = join(CACHE, name);
  if (!(await use(directory))) {
    await mkdir(CACHE, { recursive: true });
    const temporary = await mkdtemp(join(CACHE, "making-"));
    try {
      await mkdir(join(temporary, USERS));
      await use(temporary);
      await synthesizeInto(temporary, given);
      // If another process has made the same synthesis meanwhile, use that one.
      await rename(temporary, directory).catch(() => rm(temporary, { recursive: true }));
      await use(directory);
    } catch (error) {
      await rm(temporary, { recursive: true });
      throw error;
    }
  }
  await removeOldSyntheses(CACHE);
  const stackName = stackIdOf(REGION);
  return {
    template: readTemplate(join(directory, `${stackName}.template.json`)),
    stackName,
    regionCode: REGION,
    region: REGIONS[REGION].awsRegion,
    directory,
  };
}
