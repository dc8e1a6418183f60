import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../infra/build.ts";

const WORKSPACES = "@work-items";

/** Gives another checkout the dependencies of this one. The workspaces among them are those of the other. */
function shareDependencies(checkout: string): void {
  const ours = join(PROJECT_ROOT, "node_modules");
  const theirs = join(checkout, "node_modules");
  mkdirSync(theirs);
  for (const entry of readdirSync(ours, { withFileTypes: true })) {
    const [from, to] = [join(ours, entry.name), join(theirs, entry.name)];
    // npm links to workspaces by relative paths.
    if (entry.isSymbolicLink() || entry.name === WORKSPACES) {
      cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    } else symlinkSync(from, to);
  }
}

/** Copies the checkout, without its dependencies, which it shares. @returns the directory of the copy */
export function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), "work-items-copy-"));
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: PROJECT_ROOT, encoding: "utf8" });
  for (const file of files.trim().split("\n")) cpSync(join(PROJECT_ROOT, file), join(copy, file));
  shareDependencies(copy);
  return copy;
}
