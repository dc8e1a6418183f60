import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { commitTitlesCommand } from "../.ci/commit-titles.ts";
import { runCommand } from "./support/terminal.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

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
  return runCommand(commitTitlesCommand, [since], { env: { ...env, GIT_DIR: join(cwd, ".git") } });
}

describe.skipIf(spawnSync("git", ["--version"]).status !== 0)("commit titles", () => {
  beforeEach(() => {
    cwd = temporaryDirectory();
    git("init", "--quiet", "--initial-branch=main");
    commit("A title from before the rule");
    start = git("rev-parse", "HEAD");
  });

  test("accepts conventional titles of up to 72 columns and that of a merge, and ignores older commits", async () => {
    git("checkout", "--quiet", "-b", "branch");
    commit("feat(lists)!: sort by completion time");
    commit(`fix: ${"x".repeat(67)}`);
    git("checkout", "--quiet", "main");
    git("merge", "--quiet", "--no-ff", "--no-edit", "branch");
    expect(await check()).toMatchObject({ status: 0, error: "" });
  });

  test.each([
    ["Retry a conflict", "isn't conventional"],
    ["fixes: retry a conflict", "isn't conventional"],
    ["fix:retry a conflict", "isn't conventional"],
    ["fix: ", "isn't conventional"],
    [`fix: ${"x".repeat(68)}`, "has 73 columns"],
  ])("rejects the title %j: it %s", async (title, problem) => {
    commit(title);
    commit("docs: describe retries");
    const { status, error } = await check();
    expect([status, error]).toEqual([1, expect.stringContaining(problem)]);
    expect(error).not.toContain("describe retries");
  });

  test("checks nothing where the history doesn't reach back to the rule's start", async () => {
    commit("Retry a conflict");
    const { status, error } = await check("0".repeat(40));
    expect([status, error]).toEqual([0, expect.stringContaining("aren't checked")]);
  });
});
