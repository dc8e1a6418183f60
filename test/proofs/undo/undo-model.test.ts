import { expect, test } from "vitest";
import { runUndos } from "./run-undos.ts";

test("undos leave what the oracle demands in 2,000 simulations", () => {
  const { wrong, undone, deaths, dropped } = runUndos(1, 2000);
  expect(wrong).toEqual([]);
  expect(undone).toBeGreaterThan(10_000);
  expect(deaths).toBeGreaterThan(2000);
  expect(dropped).toBeGreaterThan(100);
});
