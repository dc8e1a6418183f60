import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../infra/build.ts";
import { shareDependencies } from "../support/checkout-copy.ts";

/** The sources of a version, with their dependencies. */
export interface Checkout extends AsyncDisposable {
  readonly directory: string;
}

const LOCK = "package-lock.json";

const run = (directory: string, command: string, ...parameters: string[]): void => {
  // What npm has set for this run would win over the commit's own package.json.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  execFileSync(command, parameters, { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
};

/** Installs the commit's dependencies, or shares those of this checkout if they are the same. */
const provideDependencies = (checkout: string): void => {
  const isSame = readFileSync(join(checkout, LOCK)).equals(readFileSync(join(PROJECT_ROOT, LOCK)));
  if (isSame) shareDependencies(checkout);
  else run(checkout, "npm", "ci");
};

/** Checks a commit out into a temporary directory. @throws Error if git does not know the commit */
export function checkoutOf(commit: string): Checkout {
  const parent = mkdtempSync(join(tmpdir(), "checkout-"));
  const directory = join(parent, "checkout");
  const remove = (): void => {
    if (existsSync(directory)) run(PROJECT_ROOT, "git", "worktree", "remove", "--force", directory);
    rmSync(parent, { recursive: true, force: true });
  };
  try {
    run(PROJECT_ROOT, "git", "worktree", "add", "--detach", directory, commit);
    provideDependencies(directory);
    return { directory, [Symbol.asyncDispose]: () => Promise.resolve(remove()) };
  } catch (error) {
    remove();
    throw error;
  }
}
