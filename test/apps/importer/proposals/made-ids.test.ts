import { expect, it } from "vitest";
import { distinguishingColumns } from "../../../../apps/importer/proposals/made-ids.ts";

const ROWS = Array.from({ length: 24 }, (_, index) => [
  "same",
  `agent ${index % 4}`,
  `day ${Math.floor(index / 4) % 3}`,
  index < 12 ? "in" : "out",
  "long ".repeat(20) + String(index),
]);

it("takes the fewest columns that tell all rows apart, without long texts", () => {
  expect(distinguishingColumns(ROWS, [0, 1, 2, 3, 4])).toEqual([1, 2, 3]);
  expect(distinguishingColumns(ROWS.slice(0, 4), [0, 1, 2, 3, 4])).toEqual([1]);
});

it("takes none if rows are the same", () => {
  expect(distinguishingColumns([...ROWS, ROWS[0]!], [0, 1, 2, 3])).toBeUndefined();
});
