import { expect, test } from "vitest";
import { simulate, type WritersRule, WRITERS_RULES } from "./undo-model.ts";
import { loadMutant, MUTANTS } from "./undo-mutants.ts";
import { runUndos } from "./run-undos.ts";

/** A seed for each rule in which something goes wrong without it. */
const NEEDED_IN: Readonly<Record<WritersRule, number>> = {
  touch: 23,
  check: 3879,
  first: 834,
  chunks: 6,
  quiet: 47,
  cond: 1,
};

test("undos leave what the oracle demands in 2,000 simulations", () => {
  const { wrong, undone, deaths, dropped } = runUndos(1, 2000);
  expect(wrong).toEqual([]);
  expect(undone).toBeGreaterThan(10_000);
  expect(deaths).toBeGreaterThan(2000);
  expect(dropped).toBeGreaterThan(100);
});

test.each(Object.keys(WRITERS_RULES) as WritersRule[])("without the writers' rule %s something goes wrong", (rule) => {
  expect(simulate(NEEDED_IN[rule]).wrong).toEqual([]);
  expect(simulate(NEEDED_IN[rule], undefined, rule).wrong).not.toEqual([]);
});

test.each(Object.keys(MUTANTS))("something goes wrong unless %s", async (name) => {
  const mutant = MUTANTS[name]!;
  const [, , seed] = mutant;
  expect(simulate(seed).wrong).toEqual([]);
  expect(simulate(seed, await loadMutant(mutant)).wrong).not.toEqual([]);
});
