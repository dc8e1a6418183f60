import { expect, test } from "vitest";
import { type Rule, RULES, simulate } from "./chain-model.ts";

const SEEDS = Number(process.env["CHAIN_MODEL_SEEDS"] ?? 400);
/** A seed for each rule in which something goes wrong without it. */
const NEEDED_IN: Readonly<Record<Rule, number>> = {
  publish: 2,
  cut: 14,
  claim: 4,
  next: 4,
  marks: 15,
  live: 70,
  clock: 82,
  close: 53,
  lines: 1,
  refused: 22,
  alive: 50,
  erased: 33,
};

test(`imports are exact in ${SEEDS} simulations`, () => {
  let faults = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = simulate(seed);
    expect([seed, run.wrong]).toEqual([seed, []]);
    faults += run.faults;
  }
  expect(faults).toBeGreaterThan(10 * SEEDS);
});

test.each(Object.keys(RULES) as Rule[])("without the rule %s something goes wrong", (rule) => {
  expect(simulate(NEEDED_IN[rule]).wrong).toEqual([]);
  expect(simulate(NEEDED_IN[rule], rule).wrong).not.toEqual([]);
});
