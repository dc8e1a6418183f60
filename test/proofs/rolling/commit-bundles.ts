import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../../infra/build.ts";
import { type Synthesis, synthesize } from "../../../infra/local/synthesis.ts";
import { readTemplate } from "../../../infra/local/template.ts";

/** What a commit deploys: its template and its bundles. */
export interface CommitBundles extends AsyncDisposable {
  readonly synthesis: Synthesis;
}

const LOCK = "package-lock.json";

const run = (directory: string, command: string, ...parameters: string[]): string => {
  const variables = { ...process.env, CDK_OUTDIR: join(directory, "..", "assembly") };
  // What npm has set for this run would win over the commit's own package.json.
  const env = Object.fromEntries(Object.entries(variables).filter(([name]) => !name.startsWith("npm_")));
  return execFileSync(command, parameters, {
    cwd: directory,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
};

/** Installs the commit's dependencies, or shares those of this checkout if they are the same. */
const provideDependencies = (checkout: string): void => {
  const isSame = readFileSync(join(checkout, LOCK)).equals(readFileSync(join(PROJECT_ROOT, LOCK)));
  if (isSame) symlinkSync(join(PROJECT_ROOT, "node_modules"), join(checkout, "node_modules"));
  else run(checkout, "npm", "ci");
};

/** Bundles and synthesizes this checkout as it is, uncommitted changes included. */
export async function bundlesOfCheckout(): Promise<CommitBundles> {
  return { synthesis: await synthesize(), [Symbol.asyncDispose]: () => Promise.resolve() };
}

/**
 * Checks a commit out into a temporary directory, and bundles and synthesizes it by its own `npm run synth`.
 * @throws Error if git does not know the commit, or it does not synthesize
 */
export async function bundlesOfCommit(commit: string): Promise<CommitBundles> {
  const { stackName, regionCode, region } = await synthesize();
  const directory = mkdtempSync(join(tmpdir(), "rolling-"));
  const checkout = join(directory, "checkout");
  const assembly = join(directory, "assembly");
  const remove = (): void => {
    if (existsSync(checkout)) run(PROJECT_ROOT, "git", "worktree", "remove", "--force", checkout);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    run(PROJECT_ROOT, "git", "worktree", "add", "--detach", checkout, commit);
    provideDependencies(checkout);
    run(checkout, "npm", "run", "--ignore-scripts", "synth");
    const template = readTemplate(join(assembly, `${stackName}.template.json`));
    return {
      // The assembly lies outside the checkout, whose package.json would declare the bundles as ES modules.
      synthesis: { template, stackName, regionCode, region, directory: assembly },
      [Symbol.asyncDispose]: () => Promise.resolve(remove()),
    };
  } catch (error) {
    remove();
    throw error;
  }
}
