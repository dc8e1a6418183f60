import { expect, test } from "vitest";
import { runScript } from "./support/run-script.ts";

test("npm test with parts of paths runs no proofs that have them, and says how to run those", async () => {
  const { status, out } = await runScript("test/run-suite.ts", ["test-logger", "local/programs"]);
  expect({ status, last: out.trimEnd().split("\n").slice(-2) }).toEqual({
    status: 0,
    last: [
      "Proofs take minutes and were not run. To run them: npm test -- test/proofs/local/programs.test.ts",
      "1 passed, 0 failed",
    ],
  });
});

test("npm run prove --help lists the proofs and how long they take, and a wrong option is named in a line", async () => {
  const { status, out } = await runScript("test/proofs/prove.ts", ["--help"]);
  expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(/^ {2}undo +\d+ min {2}an undo/m) });
  for (const [args, line] of [
    [["--sedes", "3"], "unknown option '--sedes'"],
    [["undoo"], "undoo"],
  ] as const) {
    const { status: failed, error } = await runScript("test/proofs/prove.ts", args);
    expect({ failed, lines: error.split("\n") }).toEqual({ failed: 1, lines: [expect.stringContaining(line)] });
  }
});
