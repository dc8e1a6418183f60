import { runUndos } from "./undo/run-undos.ts";
import { type WritersRule, WRITERS_RULES } from "./undo/undo-model.ts";
import { loadMutant, MUTANTS } from "./undo/undo-mutants.ts";

/** Runs for `npm run prove -- undo`. */
const FIRST = Number(process.env["UNDO_FIRST_SEED"] ?? 1);
const SEEDS = Number(process.env["UNDO_SEEDS"] ?? 40_000);
/** In some simulations of these something goes wrong without any one of the rules. */
const SEEDS_OF_MUTANTS = Number(process.env["UNDO_SEEDS_OF_MUTANTS"] ?? 5000);

const { wrong, undone, deaths, dropped } = runUndos(FIRST, SEEDS);
console.log(`seeds ${SEEDS}, wrong ${wrong.length}, undone ${undone}, deaths ${deaths}, dropped ${dropped}`);
for (const each of wrong.slice(0, 20)) console.log(`  ${each}`);

let missed = 0;
const report = (name: string, found: readonly string[]): void => {
  if (found.length === 0) missed += 1;
  console.log(
    `without ${name}: ${found.length === 0 ? "nothing wrong" : `${found.length} wrong, such as ${found[0]}`}`,
  );
};
for (const rule of Object.keys(WRITERS_RULES) as WritersRule[]) {
  report(rule, runUndos(1, SEEDS_OF_MUTANTS, undefined, rule).wrong);
}
for (const [name, mutant] of Object.entries(MUTANTS)) {
  report(name, runUndos(1, SEEDS_OF_MUTANTS, await loadMutant(mutant)).wrong);
}
process.exitCode = wrong.length === 0 && missed === 0 ? 0 : 1;
