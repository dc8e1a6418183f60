import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { printSlowest, runTests, type TestRun } from "../support/test-run.ts";
import { ALL_HOSTILITIES } from "../hostile/world/hostilities.ts";
import { SKIPPED } from "./skip.ts";

/** Each is a program in this directory that exits with 0, 1, or `SKIPPED`. */
const PROOFS: readonly string[] = [
  "clients",
  "dynamodb-local",
  "fuzz",
  "isolation",
  "load",
  "recipes",
  "undo",
  "warehouse",
];
/** One world in which all of these go wrong (`test/hostile`). */
const WORLDS: readonly string[] = ["hostile", "kills", "older", ...ALL_HOSTILITIES];

/** A program, and how its run is called. */
interface Program {
  readonly name: string;
  readonly args: readonly string[];
}

/** Runs proofs at full size, one after the other, since each needs the whole machine. */
async function runProofs(programs: readonly Program[]): Promise<TestRun> {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const files = [];
  for (const { name, args } of programs) {
    console.log(`\n${name}`);
    const start = performance.now();
    const child = spawn(process.execPath, args, { stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number | null];
    count[code === 0 ? "passed" : code === SKIPPED ? "skipped" : "failed"] += 1;
    if (code !== 0 && code !== SKIPPED) console.log(`${name} failed`);
    files.push({ name, ms: performance.now() - start });
  }
  return { ...count, files };
}

/**
 * `npm run prove -- [hostility or proof …] [--seeds n] [--seed s] [--short] [--mutants]` runs the world and all proofs, or those named,
 * at full size, or only slices of them and the other long tests, which together take about five minutes. Hostilities that
 * are named are the only ones of their worlds. The last line of the output is `N passed, N failed`, and how many can't run
 * here.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: "boolean" },
    seeds: { type: "string" },
    seed: { type: "string" },
    mutants: { type: "boolean" },
  },
});
const unknown = positionals.filter((name) => !PROOFS.includes(name) && !WORLDS.includes(name));
if (unknown.length > 0) {
  console.error(`${unknown.join(", ")}: proofs are ${PROOFS.join(", ")}; hostilities are ${WORLDS.join(", ")}`);
  process.exit(2);
}
const hostile = positionals.filter((name) => WORLDS.includes(name));
const options = [
  values.mutants && "--mutants",
  values.seeds && `--seeds=${values.seeds}`,
  values.seed && `--seed=${values.seed}`,
].filter((each) => each);
const world: Program = {
  name: hostile.join(" ") || "hostile",
  args: [join(import.meta.dirname, "../hostile/run.ts"), ...hostile, ...(options as string[])],
};
const programs = PROOFS.filter((name) => positionals.length === 0 || positionals.includes(name)).map(
  (name): Program => {
    return { name, args: [join(import.meta.dirname, `${name}.ts`)] };
  },
);
const pathsOf = (name: string): string => (WORLDS.includes(name) ? "test/hostile/" : `test/proofs/${name}/`);
const { passed, failed, skipped, files } = await (values.short
  ? runTests([...new Set(positionals.map(pathsOf))], "proofs")
  : runProofs(positionals.length === 0 || hostile.length > 0 ? [world, ...programs] : programs));
printSlowest(files);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failed === 0 ? 0 : 1);
