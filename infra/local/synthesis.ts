import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { REGIONS, type RegionCode, stackNameOf } from "../../lib/regions.ts";
import { LocalStackError } from "./local-stack-error.ts";
import { readTemplate, type Template } from "./template.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Inside node_modules, where no package.json makes modules of the CommonJS bundles; goes with every `npm ci`. */
const CACHE = join(ROOT, "node_modules/.cache/local-stack");
const INPUTS = ["functions/**/*", "lib/**/*", "infra/**/*.ts", "cdk.json", "package-lock.json"];
const KEPT_MS = 24 * 60 * 60 * 1000;
const REGION = "us" satisfies RegionCode;

/** What `npx cdk deploy` would deploy, as files here. */
export interface Synthesis {
  readonly template: Template;
  readonly stackName: string;
  readonly regionCode: RegionCode;
  /** The AWS region. */
  readonly region: string;
  /** Cloud assembly: the code of functions is at their asset paths in it. */
  readonly directory: string;
}

/** Changes with anything that could change the template or a bundle. */
const fingerprint = (): string => {
  const hash = createHash("sha256");
  const files = globSync(INPUTS, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).toSorted()) {
    hash.update(path).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex").slice(0, 16);
};

const synthesizeInto = async (directory: string): Promise<void> => {
  const child = spawn(process.execPath, [fileURLToPath(new URL("synthesize.ts", import.meta.url)), directory, REGION], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const printed = await text(child.stderr);
  if ((await exit) !== 0) throw new LocalStackError(`the stack does not synthesize:\n${printed.trim()}`);
};

/** A running local stack starts instances from its own synthesis, so that younger ones stay. */
const forgetOld = async (): Promise<void> => {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    // Another start may have taken it away meanwhile.
    const made = (await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity;
    if (Date.now() - made > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
};

/**
 * Bundles the functions and synthesizes the stack, without credentials or network; what has not changed since the
 * last time is not made again.
 * @throws LocalStackError with what the CDK printed, where it does not synthesize
 */
export const synthesize = async (): Promise<Synthesis> => {
  const name = fingerprint();
  const directory = join(CACHE, name);
  if (!existsSync(directory)) {
    await mkdir(CACHE, { recursive: true });
    const made = await mkdtemp(join(CACHE, "making-"));
    try {
      await synthesizeInto(made);
      // Whoever else made the same meanwhile has made the same.
      await rename(made, directory).catch(() => rm(made, { recursive: true }));
    } catch (error) {
      await rm(made, { recursive: true });
      throw error;
    }
    await forgetOld();
  }
  const stackName = stackNameOf(REGION);
  return {
    template: readTemplate(join(directory, `${stackName}.template.json`)),
    stackName,
    regionCode: REGION,
    region: REGIONS[REGION].awsRegion,
    directory,
  };
};
