import * as fc from "fast-check";
import { expect, it } from "vitest";
import { problemsOfMapping } from "../../../lib/uploads/mapping/check-mapping.ts";
import { mappedReader } from "../../../lib/uploads/mapping/mapped-columns.ts";
import { mappingSchema } from "../../../lib/uploads/mapping/mapping.ts";
import { proposeMapping } from "../../../apps/importer/proposals/propose-mapping.ts";

/** Headers that are alike, that are fields in other cases, or that objects and attributes can't have. */
const header = fc.constantFrom(
  "Ticket ID",
  "ID",
  "id",
  " ID",
  "ID (2)",
  "external_id",
  "External_ID",
  "Status",
  "status",
  "State",
  "Closed",
  "closed",

  "Closed at",
  "Resolved at",
  "Solved at",
  "Completed_At",
  "Assignee",
  "Agent email",
  "Subject",
  "short_description",
  "Short description",
  "custom_attributes.Team",
  "Custom_Attributes.Team",
  "Team",
  "TEAM",
  "Team (2)",
  "__proto__",

  "custom_attributes.__proto__",
  "constructor",
  "",
  " ",
  "_row",
  "_error",
  "Type",
  "type",
  "Kind",
  "custom_attributes",
);
const cell = fc.constantFrom(
  "",
  " ",
  "Closed",
  "closed",
  "CLOSED ",
  "Open",
  "open",
  "Geschlossen",
  "__proto__",
  "constructor",
  "?",
  "-",
  "None",
  "none",

  "N/A",
  "NaN",
  "Nan",
  "02/03/2024",
  "13/02/2024",
  "02/13/2024",
  "2/3/24",
  "2024-03-02 10:00",
  "1700000000",
  "4 Mar 2024",
  "a@example.com",
  "1",
  "2",
  "S-3",
  "Total",
  "{}",
);
const table = fc.array(header, { minLength: 1, maxLength: 9 }).chain((names) =>
  fc.record({
    names: fc.constant(names),
    rows: fc.array(fc.array(cell, { minLength: names.length, maxLength: names.length }), { maxLength: 8 }),
  }),
);

/** What keeps a file from being imported by its proposal, but for IDs that no column has. */
function problemsOf(names: readonly string[], rows: readonly (readonly string[])[]): unknown[] {
  const { mapping } = proposeMapping({ names, rows, delimiter: ",", timeZone: "Europe/Berlin", now: Date.now() });
  const withId = { ...mapping, fields: { external_id: { value: "any" }, ...mapping.fields } };
  const problems = [...(mappingSchema.safeParse(withId).error?.issues ?? []), ...problemsOfMapping(withId)];
  if (problems.length === 0) mappedReader(withId, names);
  return problems;
}

it("a proposal is a valid mapping, whatever the file", () => {
  fc.assert(
    fc.property(table, ({ names, rows }) => {
      expect(problemsOf(names, rows)).toEqual([]);
    }),
    { numRuns: 400, examples: [[{ names: ["Team", "Team (2)", "Custom_Attributes.Team"], rows: [] }]] },
  );
});

it("a proposal for a file of very many columns is one too", () => {
  const long = Array.from({ length: 1500 }, (_, index) => `${"column ".repeat(5)}${index}`);
  expect(problemsOf(["Ticket ID", "Team", "Team", "Team (2)", ...long], [])).toEqual([]);
});
