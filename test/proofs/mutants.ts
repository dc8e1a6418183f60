import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyCheckout } from "../support/checkout-copy.ts";

/** A file, the tests that must notice its changes, and the share of them that these notice, in percent. */
type Row = readonly [file: string, tests: string, score: number];

const PLAN_TESTS = "test/lib/work-items/plan-apply.test.ts test/lib/work-items/field-kinds.test.ts";
const LAYERS_TESTS = "test/lib/work-items/undo/layers.test.ts";
/** Pure rules, whose tests take milliseconds. docs/reliability.md says what the others of their changes are. */
const RULES: readonly Row[] = [
  ["lib/work-items/plan-apply.ts", PLAN_TESTS, 94],
  ["lib/work-items/field-kinds.ts", PLAN_TESTS, 88],
  // The merge: schemas and filters are tested through the endpoints.
  ["lib/work-items/field-definition.ts:190-202", PLAN_TESTS, 100],
  ["lib/work-items/applied-rows.ts", "test/lib/work-items/applied-rows.test.ts", 100],
  ["lib/work-items/write-targets.ts", "test/lib/work-items/write-targets.test.ts", 100],
  ["lib/work-items/undo/layers.ts", LAYERS_TESTS, 89],
  ["lib/work-items/undo/plan-undo.ts", LAYERS_TESTS, 92],
  // What counts as lost: the rest is tried on the engines.
  ["lib/uploads/chain/sweep.ts:42-63", "test/lib/uploads/chain/lost-messages.test.ts", 100],
];

/**
 * Runs for `npm run prove -- mutants`: Stryker changes the rules, one place after the other, and a test must fail each time.
 * `MUTANTS_OF` names another file, also with lines such as `:20-40`, and `MUTANTS_TESTS` its tests.
 */
const { MUTANTS_OF: file, MUTANTS_TESTS: testsOfFile = "" } = process.env;
const rows: readonly Row[] = file === undefined ? RULES : [[file, testsOfFile, 0]];

const STRYKER = fileURLToPath(new URL("bin/stryker.js", import.meta.resolve("@stryker-mutator/core/package.json")));

let failed = 0;
for (const [mutate, tests, score] of rows) {
  const options = {
    mutate: [mutate],
    testRunner: "vitest",
    plugins: [fileURLToPath(import.meta.resolve("@stryker-mutator/vitest-runner"))],
    vitest: { configFile: "test/proofs/mutants/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    // What a module does once as it is loaded would cost a run of all tests for each change.
    ignoreStatic: true,
    inPlace: true,
    // It would write a comment into all files, and no types are checked anyway.
    disableTypeChecks: false,
    concurrency: 2,
    reporters: ["clear-text"],
    clearTextReporter: { reportTests: false, logTests: false, allowColor: false },
    thresholds: { break: score },
  };
  const copy = copyCheckout();
  try {
    writeFileSync(join(copy, "stryker.config.json"), JSON.stringify(options));
    const env = { ...process.env, MUTANTS_TESTS: tests };
    const { status } = spawnSync(process.execPath, [STRYKER, "run"], { cwd: copy, env, stdio: "inherit" });
    if (status !== 0) failed += 1;
  } finally {
    rmSync(copy, { recursive: true });
  }
}
process.exitCode = failed === 0 ? 0 : 1;
