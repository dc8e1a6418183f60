import { expect, test } from "vitest";
import { loadCode, MUTANTS } from "./erasure-code.ts";
import { playErasures, simulate } from "./erasure-model.ts";

test("what was erased stays erased in restored tables, and nothing else is gone, in 150 histories", async () => {
  const { wrong, restores, deaths, erasures } = await playErasures(1, 150, await loadCode());
  expect(wrong).toEqual([]);
  expect(restores).toBeGreaterThan(500);
  expect(deaths).toBeGreaterThan(200);
  expect(erasures).toBeGreaterThan(500);
});

test.each(Object.keys(MUTANTS))("something goes wrong unless %s", async (name) => {
  const mutant = MUTANTS[name]!;
  const [, , seed] = mutant;
  expect((await simulate(seed, await loadCode(mutant))).wrong).not.toEqual([]);
});
