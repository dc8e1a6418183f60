import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createCommandLine, runCommand, UsageError } from "../../infra/terminal/command-line.ts";
import { processTerminal } from "../../infra/terminal/terminal.ts";
import { ALL_HOSTILITIES } from "../hostile/world/hostilities.ts";
import { printSlowest, runTests, type TestRun } from "../support/test-run.ts";
import { SKIPPED } from "./skip.ts";

/** How long a proof takes on two quiet cores, and what it shows. */
type Proof = readonly [duration: string, shows: string];

/** Each is a program in this directory that exits with 0, 1, or `SKIPPED`. */
const PROOFS: Readonly<Record<string, Proof>> = {
  clients: ["5 min", "generated clients take new keys and values"],
  "dynamodb-local": ["1 h", "all tests, on Amazon's DynamoDB Local"],
  erasures: ["5 min", "what was erased stays erased in restored tables, and nothing else is gone"],
  fuzz: ["5 min", "malformed requests get the responses that are documented"],
  mutants: ["10 min", "tests notice changes of the rules (Stryker)"],
  "openapi-generator": ["5 min", "clients of openapi-generator compile"],
  recipes: ["10 min", "the recipes of CONTRIBUTING.md work"],
  undo: ["10 min", "an undo takes back what no one has changed since"],
  warehouse: ["10 min", "copies by the guide's recipes equal the list"],
};
/** One world in which all hostilities happen, or only those that are named (`test/hostile`). */
const WORLDS: Readonly<Record<string, Proof>> = {
  hostile: ["1 h", "nothing is lost or doubled in a world in which everything goes wrong"],
  kills: ["8 h", "the same, with services that are killed"],
};

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

interface Options {
  readonly short?: boolean;
  readonly mutants?: boolean;
  readonly seeds?: string;
  readonly seed?: string;
}

/** @throws UsageError if a name is unknown */
async function prove(names: readonly string[], { short, mutants, seeds, seed }: Options): Promise<void> {
  const isOfWorld = (name: string): boolean => name in WORLDS || ALL_HOSTILITIES.some((each) => each === name);
  const unknown = names.filter((name) => !(name in PROOFS) && !isOfWorld(name));
  if (unknown.length > 0) throw new UsageError(`${unknown.join(", ")}: not a proof or hostility; --help lists them`);
  const ofWorld = names.filter(isOfWorld);
  const options = [mutants && "--mutants", seeds && `--seeds=${seeds}`, seed && `--seed=${seed}`].filter(Boolean);
  const world: Program = {
    name: ofWorld.join(" ") || "hostile",
    args: [join(import.meta.dirname, "../hostile/run.ts"), ...ofWorld, ...(options as string[])],
  };
  const programs = Object.keys(PROOFS)
    .filter((name) => names.length === 0 || names.includes(name))
    .map((name): Program => ({ name, args: [join(import.meta.dirname, `${name}.ts`)] }));
  const pathOf = (name: string): string => (isOfWorld(name) ? "test/hostile/" : `test/proofs/${name}/`);
  const { passed, failed, skipped, files } = await (short
    ? runTests([...new Set(names.map(pathOf))], "proofs")
    : runProofs(names.length === 0 || ofWorld.length > 0 ? [world, ...programs] : programs));
  printSlowest(files);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exit(failed === 0 ? 0 : 1);
}

/** The proofs for `--help`, in columns. */
function listed(proofs: Readonly<Record<string, Proof>>): string {
  return Object.entries(proofs)
    .map(([name, [duration, shows]]) => `  ${name.padEnd(14)}  ${duration.padStart(6)}  ${shows}`)
    .join("\n");
}

/** Runs for `npm run prove`. The last line of the output is `N passed, N failed`, and how many can't run here. */
const terminal = processTerminal();
const program = createCommandLine(
  terminal,
  "npm run prove --",
  "Run proofs at full size, one after the other: all of them, or those named. Hostilities that are named are the only " +
    "ones in their worlds",
);
program
  .argument("[names...]", "proofs or hostilities")
  .option("--short", "only a slice of each; without names all long tests: minutes")
  .option("--seeds <n>", "number of worlds (default: 320; 1 with --seed)")
  .option("--seed <n>", "first world")
  .option("--mutants", "show that the worlds find defects")
  .addHelpText(
    "after",
    `\nProofs, and how long they take on two quiet cores:\n${listed(WORLDS)}\n${listed(PROOFS)}\n` +
      `\nHostilities: ${ALL_HOSTILITIES.join(", ")}\n`,
  )
  .action(prove);
process.exitCode = await runCommand(terminal, program);
