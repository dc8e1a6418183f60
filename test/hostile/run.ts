import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { load, MUTANTS } from "./mutants.ts";

/** Seeds of worlds in this process for each of a service that is killed, which takes a minute or two. */
const SEEDS_PER_KILLED = 25;
const FINDINGS_SHOWN_MAX = 20;

const SEEDS_PER_MUTANT = 36;
/** What `npm run prove` calls the world of all hostilities. */
const WORLD = "hostile";

const OWN_PATH = fileURLToPath(import.meta.url);

/** Lets the world look for each mutant. @param names only these, if there are any @returns whether all were found */
function runMutants(names: readonly string[]): boolean {
  const missed: string[] = [];
  const unknown = names.filter((name) => !Object.hasOwn(MUTANTS, name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: not a mutant`);
  const mutants = Object.entries(MUTANTS).filter(([name]) => names.length === 0 || names.includes(name));
  for (const [name, { defect, foundBy, story }] of mutants) {
    const storyArgs = story === undefined ? [] : ["--story", story];
    const args = [OWN_PATH, ...foundBy, ...storyArgs, "--seeds", String(SEEDS_PER_MUTANT), "--mutant", name];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 28 });
    const ran = /^seeds \d+/m.exec(stdout)?.[0];
    if (status === null || ran === undefined) throw new Error(`${name}: ${stderr.slice(-2000)}`);
    if (status === 0) missed.push(name);
    console.log(`${status === 0 ? "NOT FOUND" : "found"}: ${name}, ${defect} (${ran})`);
  }
  console.log(`mutants ${mutants.length}, not found ${missed.length}`);
  return missed.length === 0;
}

/** Runs for `npm run prove -- hostile`, or with the names of hostilities. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** How many: 320, or 1 with `--seed`, which names the first. */
    seeds: { type: "string" },
    seed: { type: "string" },
    mutants: { type: "boolean" },
    /** What happens in every world: undos, erasures or imports. */
    story: { type: "string" },
    /** Changes the service, and ends with the first finding. */
    mutant: { type: "string" },
  },
});
if (values.mutants) process.exit(runMutants(positionals.filter((name) => name !== WORLD)) ? 0 : 1);
if (values.mutant !== undefined) load(values.mutant);
// Only from here on: a module of the service that was loaded before the mutant would stay as it is.
const { startEngines } = await import("../support/engines.ts");
const { ALL_HOSTILITIES } = await import("./world/hostilities.ts");
const { runWorlds, summaryOf } = await import("./run-worlds.ts");
const { ALL_STORIES } = await import("./run-world.ts");
const only = ALL_HOSTILITIES.filter((name) => positionals.includes(name));
const story = ALL_STORIES.find((name) => name === values.story);
const firstSeed = Number(values.seed ?? 20_261_125);
const count = Number(values.seeds ?? (values.seed === undefined ? 320 : 1));
const isKilled = positionals.includes("kills");

// A service that is a process of its own doesn't load the mutant.
const isBoth = values.mutant === undefined && (positionals.length === 0 || positionals.includes(WORLD));
const inProcess = isKilled
  ? 0
  : Math.ceil(isBoth && count > 1 ? (count * SEEDS_PER_KILLED) / (SEEDS_PER_KILLED + 1) : count);
let shown = 0;
const stop = await startEngines();
try {
  const worlds = {
    firstSeed,
    seeds: inProcess,
    killed: count - inProcess,
    only,
    story,
    endsAtFirst: values.mutant !== undefined,
  };
  const run = await runWorlds(worlds, (sofar) => {
    for (const { kind, seed, details } of sofar.findings.slice(shown, FINDINGS_SHOWN_MAX)) {
      const names = positionals.length > 0 ? positionals : [sofar.seeds <= worlds.killed ? "kills" : "hostile"];
      console.log(`${kind}: npm run prove -- ${names.join(" ")} --seed ${seed}\n    ${details}`);
    }
    shown = sofar.findings.length;
    if (sofar.seeds % 40 === 0) console.log(`… ${summaryOf(sofar)}`);
  });
  process.exitCode = run.findings.length === 0 ? 0 : 1;
  const counts = [...run.hostilities].toSorted(([a], [b]) => a.localeCompare(b));
  for (const [name, each] of counts) console.log(`${String(each).padStart(8)}  ${name}`);
  if (run.unfollowed > 0) console.log(`${run.unfollowed} items were not followed to the end`);
  console.log(summaryOf(run));
} finally {
  await stop();
}
process.exit();
