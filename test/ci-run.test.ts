import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_ROOT } from "../infra/build.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

/** Runs `.ci/run` with an npm that prints this and exits so for `npm test` and for `npm run prove -- --short`. */
const runWith = (tests: readonly [string, number], proofs: readonly [string, number]) => {
  const directory = temporaryDirectory();
  const npm = `#!/bin/sh
case "$*" in
  test) echo "${tests[0]}"; exit ${tests[1]};;
  "run prove -- --short") echo "${proofs[0]}"; exit ${proofs[1]};;
esac
exit 2
`;
  writeFileSync(join(directory, "npm"), npm, { mode: 0o755 });
  const { status, stdout } = spawnSync("bash", [join(PROJECT_ROOT, ".ci/run")], {
    encoding: "utf8",
    env: { PATH: `${directory}:${process.env["PATH"]}` },
  });
  return { status, last: stdout.trimEnd().split("\n").at(-1) };
};

test.each([
  ["both succeed", ["3 passed, 0 failed", 0], ["4 passed, 0 failed, 2 skipped", 0], 0, "7 passed, 0 failed"],
  ["a test fails", ["3 passed, 1 failed", 1], ["4 passed, 0 failed", 0], 1, "7 passed, 1 failed"],
  ["a proof fails", ["3 passed, 0 failed", 0], ["4 passed, 2 failed", 1], 1, "7 passed, 2 failed"],
  ["the tests crash", ["out of memory", 137], ["4 passed, 0 failed", 0], 1, "4 passed, 1 failed"],
  ["the tests crash at their end", ["3 passed, 0 failed", 1], ["4 passed, 0 failed", 0], 1, "7 passed, 1 failed"],
  ["neither says how it ended", ["", 0], ["", 0], 1, "0 passed, 2 failed"],
] as const)("the last line of the CI's run adds up tests and proofs if %s", (_, tests, proofs, status, last) => {
  expect(runWith(tests, proofs)).toEqual({ status, last });
});
