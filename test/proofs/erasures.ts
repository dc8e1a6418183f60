import { loadCode, MUTANTS } from "./erasures/erasure-code.ts";
import { playErasures } from "./erasures/erasure-model.ts";

/** Runs for `npm run prove -- erasures`. */
const FIRST = Number(process.env["ERASURES_FIRST_SEED"] ?? 1);
const SEEDS = Number(process.env["ERASURES_SEEDS"] ?? 10_000);
const SEEDS_OF_MUTANTS = 500;

const { wrong, ...tried } = await playErasures(FIRST, SEEDS, await loadCode());
console.log(`seeds ${SEEDS}, wrong ${wrong.length}, ${JSON.stringify(tried)}`);
for (const each of wrong.slice(0, 20)) console.log(`  ${each}`);
let missed = 0;
for (const [name, mutant] of Object.entries(MUTANTS)) {
  const found = (await playErasures(1, SEEDS_OF_MUTANTS, await loadCode(mutant))).wrong;
  if (found.length === 0) missed += 1;
  console.log(`unless ${name}: ${found.length} wrong, such as ${found[0] ?? "nothing"}`);
}
process.exitCode = wrong.length === 0 && missed === 0 ? 0 : 1;
