import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { printSlowest, runTests, type TestRun } from "../support/test-run.ts";
import { SKIPPED } from "./skip.ts";

/** Each is a program in this directory that exits with 0, 1, or `SKIPPED`. */
const PROOFS: readonly string[] = [
  "changes",
  "dynamodb-local",
  "exactly-once",
  "faults",
  "fuzz",
  "isolation",
  "kills",
  "model",
  "recipes",
  "rolling",
  "undo",
  "warehouse",
];

/** Runs proofs at full size, one after the other, since each needs the whole machine. */
async function runProofs(names: readonly string[]): Promise<TestRun> {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const files = [];
  for (const name of names) {
    console.log(`\n${name}`);
    const start = performance.now();
    const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`)], { stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number | null];
    count[code === 0 ? "passed" : code === SKIPPED ? "skipped" : "failed"] += 1;
    if (code !== 0 && code !== SKIPPED) console.log(`${name} failed`);
    files.push({ name, ms: performance.now() - start });
  }
  return { ...count, files };
}

/**
 * `npm run prove -- [name …] [--short]` runs all proofs or those named, at full size, or only the slices of them and the
 * other long tests, which together take about five minutes. The last line of the output is `N passed, N failed`, and how
 * many can't run here.
 */
const { values, positionals } = parseArgs({ allowPositionals: true, options: { short: { type: "boolean" } } });
const unknown = positionals.filter((name) => !PROOFS.includes(name));
if (unknown.length > 0) {
  console.error(`there is no proof ${unknown.join(", ")}: proofs are ${PROOFS.join(", ")}`);
  process.exit(2);
}
const { passed, failed, skipped, files } = await (values.short
  ? runTests(
      positionals.map((name) => `test/proofs/${name}/`),
      "proofs",
    )
  : runProofs(positionals.length > 0 ? positionals : PROOFS));
printSlowest(files);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failed === 0 ? 0 : 1);
