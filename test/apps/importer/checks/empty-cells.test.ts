import { describe, expect, it } from "vitest";
import { shownEmptyCells, undecidedEmptyCells } from "../../../../apps/importer/checks/empty-cells.ts";
import { surveyOf } from "../../../../apps/importer/proposals/survey.ts";
import { mappedReader } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";

const NAMES = ["ID", "Owner", "State", "Closed", "Solved", "Team", ""];
const ROWS = [
  ["1", "Ann", "Open", "", "2026-01-02T00:00:00Z", "red", ""],
  ["2", "NOBODY ", "Open", "?", "", " ", ""],
  ["3", " ", "", "", "", "-", ""],
  ["4", "-", "Open", "2026-01-01T00:00:00Z", "", "blue", ""],
];
const FIELDS: Mapping["fields"] = {
  external_id: { column: "ID" },
  type: { value: "call" },
  agent_name: { column: "owner", values: { nobody: "" } },
  status: { column: "State", values: { open: "pending" } },
  completed_at: { first_of: [{ column: "Closed" }, { column: "Solved" }] },
};
const found = (mapping: Mapping): string =>
  shownEmptyCells(undecidedEmptyCells(mapping, NAMES, surveyOf(NAMES, ROWS, 2)));

describe("the columns with empty cells", () => {
  it("are those whose fields can be cleared, with what the mapping reads as empty", () => {
    expect(found({ fields: FIELDS, others: "custom_attributes" })).toBe(
      "owner (2), Closed or Solved (at most 2), Team (1)",
    );
    const mapping: Mapping = { fields: FIELDS, empty: ["-", "?"], others: "custom_attributes" };
    expect(found(mapping)).toBe("owner (3), Closed or Solved (at most 3), Team (2)");
    // The service clears as many.
    const reader = mappedReader({ ...mapping, blank: "clear" }, NAMES);
    const inputs = ROWS.map((row) => reader.read(row)).map((reading) =>
      "input" in reading ? reading.input : undefined,
    );
    expect(inputs.filter((input) => input?.agent_name === null)).toHaveLength(3);
    expect(inputs.filter((input) => input?.remove_attributes?.includes("Team"))).toHaveLength(2);
    expect(inputs.filter((input) => input?.completed_at === null)).toHaveLength(2);
  });

  it("are none once the mapping says what they do, and not those of other or constant sources", () => {
    expect(found({ fields: FIELDS, others: "custom_attributes", blank: "keep" })).toBe("");
    expect(found({ fields: { ...FIELDS, agent_name: { column: "Owner", blank: "clear" } }, others: "ignore" })).toBe(
      "Closed or Solved (at most 2)",
    );
    const twice = { ...FIELDS, agent_email: FIELDS["agent_name"]! };
    expect(found({ fields: twice, others: "ignore" })).toBe("owner (2), Closed or Solved (at most 2)");
    const constant = { first_of: [{ column: "Team" }, { value: "none" }] };
    expect(found({ fields: { external_id: { column: "ID" }, agent_name: constant }, others: "ignore" })).toBe("");
  });

  it("are named up to eight", () => {
    const names = ["ID", ...Array.from({ length: 10 }, (_, index) => `C${index}`)];
    const survey = surveyOf(names, [["1", ...names.slice(1).map(() => "")], names.map(() => "x")], 2);
    const mapping: Mapping = { fields: { external_id: { column: "ID" } }, others: "custom_attributes" };
    expect(shownEmptyCells(undecidedEmptyCells(mapping, names, survey))).toMatch(/, C7 \(1\) and 2 more$/);
  });
});
