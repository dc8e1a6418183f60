import { expect, test } from "vitest";
import { type Rule, RULES, simulate } from "./queue-model.ts";

const SEEDS = Number(process.env["QUEUE_MODEL_SEEDS"] ?? 150);

test(`no change is lost between the stream and the log in ${SEEDS} simulations`, () => {
  let faults = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = simulate(seed);
    expect([seed, run.wrong]).toEqual([seed, []]);
    faults += run.faults;
  }
  expect(faults).toBeGreaterThan(10 * SEEDS);
});

test.each(Object.entries(RULES))("without the rule %s (%s) some lose changes", (rule) => {
  const isWrong = (seed: number): boolean => simulate(seed, rule as Rule).wrong.length > 0;
  expect(Array.from({ length: 500 }, (_, index) => index + 1).some(isWrong)).toBe(true);
});
