import { expect, it } from "vitest";
import { distinctColumns } from "../../../../apps/importer/proposals/made-ids.ts";
import { RowSurvey, surveyOf } from "../../../../apps/importer/proposals/survey.ts";

const ROWS = Array.from({ length: 24 }, (_, index) => [
  "same",
  `agent ${index % 4}`,
  `day ${Math.floor(index / 4) % 3}`,
  index < 12 ? "in" : "out",
  "long ".repeat(20) + String(index),
]);
const NAMES = ["Site", "Agent", "Day", "Direction", "Text"];

it("takes the fewest columns that tell all rows apart, without long texts", () => {
  expect(distinctColumns(ROWS, [0, 1, 2, 3, 4])).toEqual([1, 2, 3]);
  expect(distinctColumns(ROWS.slice(0, 4), [0, 1, 2, 3, 4])).toEqual([1]);
  expect(distinctColumns([...ROWS, ROWS[0]!], [0, 1, 2, 3])).toBeUndefined();
  expect(distinctColumns(ROWS, [4])).toBeUndefined();
});

it("proposes columns that differ in the whole file, not only in its first rows", () => {
  const rows = ROWS.slice(0, 8);
  const madeIdOf = (isWhole: boolean, ...further: readonly (readonly string[])[]) => {
    const survey = new RowSurvey(NAMES, rows);
    for (const [index, cells] of [...rows, ...further].entries()) survey.observe({ row: index + 2, cells });
    return survey.result(isWhole).madeId;
  };
  expect(madeIdOf(true, ["same", "agent 0", "day 2", "in", ""])).toEqual([1, 2]);
  expect(madeIdOf(true, ["other", "agent 0", "day 1", "in", ""])).toBeUndefined();
  expect(madeIdOf(false)).toBeUndefined();
});

it("compares the values of a column named after an ID in all rows", () => {
  const rows = Array.from({ length: 700 }, (_, row) => [`T-${row}`, "Ann"]);
  const survey = surveyOf(["Ticket ID", "Agent"], [...rows, ["T-7", "Bob"]], 2);
  expect(survey.ids.get(0)).toMatchObject({
    repeatedRows: 1,
    repeated: [{ externalId: "T-7", firstRow: 9, row: 702 }],
  });
});
