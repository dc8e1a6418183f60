import { execFileSync } from "node:child_process";
import { createCommandLine, runCommand } from "../command-line.ts";
import { runAsProgram, type Terminal } from "../terminal.ts";

/** Commits after this one follow the rule. */
const RULE_STARTS_AFTER = "0a8395248b0a9f688a14466492285538375c699b";
const COLUMNS_MAX = 72;
const CONVENTIONAL = /^(build|chore|ci|docs|feat|fix|perf|refactor|revert|test)(\([\w/-]+\))?!?: \S/;

function git(env: Terminal["env"], ...args: string[]): string {
  return execFileSync("git", args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** Whether the history since a commit is here: it isn't in a tarball or a shallow clone. */
function hasHistorySince(env: Terminal["env"], commit: string): boolean {
  try {
    git(env, "merge-base", "--is-ancestor", commit, "HEAD");
    return true;
  } catch {
    return false;
  }
}

/** Sets the exit status 1 if the title of a new commit isn't conventional or is too long. */
function checkTitles(terminal: Terminal, start: string): void {
  const { env } = terminal;
  if (hasHistorySince(env, start)) {
    for (const line of git(env, "log", "--no-merges", "--format=%h %s", `${start}..HEAD`).split("\n").filter(Boolean)) {
      const title = line.slice(line.indexOf(" ") + 1);
      const problem = !CONVENTIONAL.test(title)
        ? 'isn\'t conventional, such as "fix: return 404 for deleted items"'
        : title.length > COLUMNS_MAX
          ? `has ${title.length} columns; at most ${COLUMNS_MAX} are allowed`
          : undefined;
      if (problem !== undefined) {
        terminal.noteLines(
          `${line}\n  The title ${problem}. Change it with git commit --amend or git rebase --interactive.`,
        );
        terminal.exitCode = 1;
      }
    }
  } else {
    terminal.note("Commit titles aren't checked: this checkout has no history since the rule started.");
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
