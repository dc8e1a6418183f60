import * as fc from "fast-check";
import { expect, test } from "vitest";
import { proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";
import { surveyOf } from "../../../../apps/importer/proposals/survey.ts";
import { targetStates } from "../../../../apps/importer/proposals/target-states.ts";

/** What is proposed for the ID of a file: its state, the candidates and the reason. */
function idOf(names: readonly string[], rows: readonly (readonly string[])[]) {
  const survey = surveyOf(names, rows, 2);
  const sample = { names, rows: rows.slice(0, 500), survey, delimiter: ",", timeZone: "UTC", now: Date.now() } as const;
  const { state, candidates, reason } = targetStates({ ...sample, ...proposeMapping(sample) })[0]!;
  return [state, candidates.map(({ column }) => column), reason];
}

/** IDs of two systems, and in which rows the second is missing. */
const files = fc
  .uniqueArray(fc.integer({ min: 1000, max: 999_999 }), { minLength: 3, maxLength: 700 })
  .chain((ids) => fc.record({ ids: fc.constant(ids), missing: fc.uniqueArray(fc.nat(ids.length - 1)) }));

test.each(["external_id", "External ID", "Ticket number"])("%s with empty cells is no ID beside a full one", (name) => {
  fc.assert(
    fc.property(files, ({ ids, missing }) => {
      const other = (index: number): string => (missing.includes(index) ? "" : `ORD-${ids[index]! + 7}`);
      const rows = ids.map((id, index) => [other(index), String(id), "open"]);
      const isWhole = missing.length === 0;
      const isFound = isWhole ? name === "Ticket number" : missing.length === ids.length;
      const candidates = isWhole ? [name, "id"] : ["id", name];
      expect(idOf([name, "id", "Status"], rows).slice(0, 2)).toEqual(isFound ? ["found", []] : ["asked", candidates]);
    }),
    { numRuns: 30 },
  );
});

test("an ID without a value in some rows is asked about, however late they stand", () => {
  const rows = Array.from({ length: 700 }, (_, row) => [row === 650 ? "" : `T-${row + 1000}`, "open"]);
  expect(idOf(["Ticket ID", "Status"], rows)).toEqual(["asked", ["Ticket ID"], "by name, but 1 row has no ID"]);
});
