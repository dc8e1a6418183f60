import { expect, test } from "vitest";
import { loadCode, MUTANTS } from "./erasure-code.ts";
import { playErasures, simulate } from "./erasure-model.ts";

/** For each rule a history in which something goes wrong without it. */
const NEEDED_IN = [16, 79, 2, 19];

test("what was erased stays erased in restored tables, and nothing else is gone, in 150 histories", async () => {
  const { wrong, restores, deaths, erasures } = await playErasures(1, 150, await loadCode());
  expect(wrong).toEqual([]);
  expect(restores).toBeGreaterThan(500);
  expect(deaths).toBeGreaterThan(200);
  expect(erasures).toBeGreaterThan(500);
});

test.each(Object.keys(MUTANTS))("something goes wrong unless %s", async (name) => {
  const code = await loadCode(MUTANTS[name]);
  expect((await simulate(NEEDED_IN[Object.keys(MUTANTS).indexOf(name)]!, code)).wrong).not.toEqual([]);
});
