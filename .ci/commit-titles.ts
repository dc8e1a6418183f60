import { spawnSync } from "node:child_process";
import { createCommandLine, runCommand } from "../infra/terminal/command-line.ts";
import { runAsProgram, type Terminal } from "../infra/terminal/terminal.ts";

/**
 * Commits after this one follow the rule; some older ones don't. From the merge base with main, nothing would be checked on
 * main itself.
 */
const RULE_STARTS_AFTER = "0a8395248b0a9f688a14466492285538375c699b";
const COLUMNS_MAX = 72;
const CONVENTIONAL = /^(build|chore|ci|docs|feat|fix|perf|refactor|revert|test)(\([\w/-]+\))?!?: \S/;

/** The commits after `start`; undefined without its history, for example in a tarball or a shallow clone. */
function commitsSince(env: Terminal["env"], start: string): string[] | undefined {
  const args = ["log", "--no-merges", "--format=%h %s", `${start}..HEAD`];
  const { status, stdout } = spawnSync("git", args, { env, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter(Boolean) : undefined;
}

/** Sets the exit status 1 if the title of a new commit isn't conventional or is too long. */
function checkTitles(terminal: Terminal, start: string): void {
  const commits = commitsSince(terminal.env, start);
  if (commits === undefined) {
    terminal.note("Commit titles aren't checked: this checkout has no history since the rule started.");
  }
  for (const line of commits ?? []) {
    const title = line.slice(line.indexOf(" ") + 1);
    if (CONVENTIONAL.test(title) && title.length <= COLUMNS_MAX) continue;
    const problem = CONVENTIONAL.test(title)
      ? `has ${title.length} columns; at most ${COLUMNS_MAX} are allowed`
      : 'isn\'t conventional, such as "fix: return 404 for deleted items"';
    terminal.noteLines(
      `${line}\n  The title ${problem}. Change it with git commit --amend or git rebase --interactive.`,
    );
    terminal.exitCode = 1;
  }
}

/** Part of `npm run check`. @returns the exit status */
export function commitTitlesCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "commit-titles",
    "Check the titles of new commits; part of npm run check",
  );
  program
    .argument("[start]", "commit before the first that is checked", RULE_STARTS_AFTER)
    .action((start: string) => checkTitles(terminal, start));
  return runCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(commitTitlesCommand);
