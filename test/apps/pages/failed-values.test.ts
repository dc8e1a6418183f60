import { expect, it } from "vitest";
import { withReplacement } from "../../../apps/pages/browser/upload/file/sources.ts";
import { readFailedValues } from "../../../apps/pages/browser/upload/jobs/failed-values.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import { createUploadService } from "../../support/uploads/upload-service.ts";

const MAPPING: Mapping = {
  fields: {
    external_id: { column: "ID" },
    status: { column: "State", values: { Open: "pending" } },
    completed_at: { first_of: [{ column: "Closed" }, { column: "Solved" }] },
  },
  others: "ignore",
};

it("groups failed rows by their values, and one correction of the mapping corrects all rows of a value", async () => {
  const uploads = await createUploadService();
  const rows = ["1,Hold,,", "2,hold ,,", "3,Open,soon,", "4,Open,,soon", "5,Gone,,", ",Open,,"];
  const file = `ID,State,Closed,Solved\n${rows.join("\n")}\n`;
  const trial = await uploads.runMapped(file, MAPPING, { dry_run: "true" });
  const report = new Blob([(await uploads.report(trial.id)).join("\n")]).stream();
  const found = await readFailedValues(report, MAPPING);
  expect(found.values.map(({ column, value, rows: count, first }) => [column, value, count, first.row])).toEqual([
    ["State", "Hold", 2, 2],
    ["Closed", "soon", 1, 4],
    ["Solved", "soon", 1, 5],
    ["State", "Gone", 1, 6],
  ]);
  expect(found.names).toEqual(["ID", "State", "Closed", "Solved"]);
  expect([found.count, found.isWhole, found.rows.at(-1)?.cells]).toEqual([6, true, ["", "Open", "", ""]]);
  let mapping = MAPPING;
  for (const { column, value } of found.values) {
    mapping = withReplacement(mapping, column, value, column === "State" ? "cancelled" : "")!;
  }
  expect(mapping.fields?.["status"]?.values).toEqual({ Open: "pending", Hold: "cancelled", Gone: "cancelled" });
  const job = await uploads.runMapped(file, mapping);
  expect([job.created_rows, job.failed_rows]).toEqual([5, 1]);
});

it("corrects no value of a column that is only part of a source", () => {
  const mapping: Mapping = { fields: { external_id: { columns: ["A", "B"] } } };
  expect(withReplacement(mapping, "A", "x", "y")).toBeUndefined();
});
