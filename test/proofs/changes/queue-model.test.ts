import { expect, test } from "vitest";
import { type Rule, RULES, simulate } from "./queue-model.ts";

const SEEDS = Number(process.env["QUEUE_MODEL_SEEDS"] ?? 25);
/** A seed for each rule in which changes are lost, or numbers given twice, without it. */
const NEEDED_IN: Readonly<Record<Rule, number>> = {
  sendFirst: 4,
  deduplication: 1,
  held: 5,
  chain: 1,
  heartbeats: 83,
  age: 7,
};

test(`no change is lost between the stream and the log in ${SEEDS} simulations`, () => {
  let faults = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = simulate(seed);
    expect([seed, run.wrong]).toEqual([seed, []]);
    faults += run.faults;
  }
  expect(faults).toBeGreaterThan(10 * SEEDS);
});

test.each(Object.keys(RULES) as Rule[])("without the rule %s changes are lost", (rule) => {
  expect(simulate(NEEDED_IN[rule]).wrong).toEqual([]);
  expect(simulate(NEEDED_IN[rule], rule).wrong).not.toEqual([]);
});
