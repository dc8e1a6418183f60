import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";

const SCRIPT = fileURLToPath(new URL("../../../infra/cli/commit-titles.ts", import.meta.url));
/** Only the variables that git needs: a hook's variables would point it at the hook's repository. */
const env = {
  PATH: process.env["PATH"],
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Ann",
  GIT_AUTHOR_EMAIL: "ann@example.com",
  GIT_COMMITTER_NAME: "Ann",
  GIT_COMMITTER_EMAIL: "ann@example.com",
};

let cwd: string;
let start: string;

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd, env, encoding: "utf8" }).trim();
}

function commit(title: string): void {
  git("commit", "--quiet", "--allow-empty", "--message", title);
}

function check(since = start) {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, since], { cwd, env, encoding: "utf8" });
  return { status, stderr };
}

describe.skipIf(spawnSync("git", ["--version"]).status !== 0)("commit titles", () => {
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "commit-titles-"));
    git("init", "--quiet", "--initial-branch=main");
    commit("A title from before the rule");
    start = git("rev-parse", "HEAD");
  });

  test("accepts conventional titles of up to 72 columns and ignores older commits", () => {
    commit("feat(lists)!: sort by completion time");
    commit(`fix: ${"x".repeat(67)}`);
    expect(check()).toEqual({ status: 0, stderr: "" });
  });

  test("accepts the title that git gives a merge commit", () => {
    git("checkout", "--quiet", "-b", "branch");
    commit("fix: retry a conflict");
    git("checkout", "--quiet", "main");
    git("merge", "--quiet", "--no-ff", "--no-edit", "branch");
    expect(check()).toEqual({ status: 0, stderr: "" });
  });

  test.each(["Retry a conflict", "fixes: retry a conflict", "fix:retry a conflict", "fix: "])(
    "rejects the title %j",
    (title) => {
      commit(title);
      commit("docs: describe retries");
      const { status, stderr } = check();
      expect(status).toBe(1);
      expect(stderr).toContain("isn't conventional");
      expect(stderr).not.toContain("describe retries");
    },
  );

  test("rejects a title with 73 columns", () => {
    commit(`fix: ${"x".repeat(68)}`);
    const { status, stderr } = check();
    expect(status).toBe(1);
    expect(stderr).toContain("has 73 columns");
  });

  test("checks nothing where the history doesn't reach back to the rule's start", () => {
    commit("Retry a conflict");
    const { status, stderr } = check("0".repeat(40));
    expect(status).toBe(0);
    expect(stderr).toContain("aren't checked");
  });
});
