import { describe, expect, it } from "vitest";
import { problemsOfMapping } from "../../../../lib/uploads/mapping/check-mapping.ts";
import { assertColumns } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import { aliasesOf, delimiterIn, proposeMapping } from "../../../../lib/uploads/mapping/propose-mapping.ts";

const propose = (names: readonly string[], ...rows: readonly (readonly string[])[]) => {
  const mapping = proposeMapping({ names, rows, delimiter: ",", timeZone: "Europe/Berlin" });
  expect(problemsOfMapping(mapping)).toEqual([]);
  assertColumns(mapping, names);
  return mapping;
};

describe("a proposed mapping", () => {
  it("knows what other systems call the fields, and what the cells hold", () => {
    const names = ["Ticket ID", "E-Mail", "Ticket Status", "Closed", "Subject", "Price"];
    const mapping = propose(
      names,
      ["1", "ada@example.com", "Open", "?", "Printer", "1"],
      ["2", "ben@example.com", "Closed", "31.05.2023 10:00", "Paper", "2"],
      ["3", "nobody", "Waiting for vendor", "31.02.2023 10:00", "?", "3"],
      ["4", "?", "Closed", "01.06.2023 09:30", "", "4"],
    );
    expect(mapping).toEqual({
      fields: {
        external_id: { column: "Ticket ID" },
        agent_email: { column: "E-Mail" },
        status: {
          column: "Ticket Status",
          values: { Open: "pending", Closed: "completed" },
          otherwise: "in_progress",
        },
        completed_at: { column: "Closed", format: "dd.MM.yyyy HH:mm", time_zone: "Europe/Berlin" },
        "custom_attributes.short_description": { column: "Subject" },
      },
      others: "custom_attributes",
      empty: ["?"],
    });
  });

  it("leaves files with our own columns as they are", () => {
    const names = ["external_id", "status", "completed_at", "custom_attributes.Team", "_row", "_error"];
    expect(propose(names, ["1", "in_progress", "2026-01-31T09:30:00Z", "x", "2", ""])).toEqual({
      fields: {
        external_id: { column: "external_id" },
        status: { column: "status" },
        completed_at: { column: "completed_at" },
        "custom_attributes.Team": { column: "custom_attributes.Team" },
      },
      others: "custom_attributes",
    });
  });

  it.each([
    ["2023-06-01 12:15:36", { time_zone: "Europe/Berlin" }],
    ["2023-06-01T12:15:36+02:00", {}],
    ["06/13/2023 8:15 PM", { format: "MM/dd/yyyy h:mm a", time_zone: "Europe/Berlin" }],
    ["13/06/2023", { format: "dd/MM/yyyy", time_zone: "Europe/Berlin" }],
    ["1685621736", { format: "unix" }],
    ["1685621736000", { format: "unix_ms" }],
  ])("reads %s", (time, expected) => {
    const { fields } = propose(["Number", "Resolved at"], ["1", time]);
    expect(fields?.["completed_at"]).toEqual({ column: "Resolved at", ...expected });
  });

  it("takes no column for a time, an address or a name if it holds something else or stands twice", () => {
    const mapping = propose(["Key", "Closed", "Email", "Agent", "agent "], ["1", "yes", "no", "a", "b"]);
    expect(mapping).toEqual({ fields: { external_id: { column: "Key" } }, others: "ignore" });
  });

  it("knows names with a slip, where no column has the right one", () => {
    const mapping = propose(["Ticket-IDs", "Ticket Statsu", "Agent Emial"], ["1", "Open", "a@example.com"]);
    expect(mapping.fields).toEqual({
      external_id: { column: "Ticket-IDs" },
      status: { column: "Ticket Statsu", values: { Open: "pending" } },
      agent_email: { column: "Agent Emial" },
    });
  });

  it.each([
    ['a;"b,c,d,e";f', ";"],
    ["a\tb", "\t"],
    ["a|b|c,d", "|"],
    ["a", ","],
  ])("finds the delimiter of %j", (header, delimiter) => {
    expect(delimiterIn(header)).toBe(delimiter);
  });
});

describe("aliases of statuses", () => {
  it("leave texts that are properties of every object to otherwise", () => {
    expect(aliasesOf(["Open", "constructor", "toString"])).toEqual({
      values: { Open: "pending" },
      otherwise: "in_progress",
    });
  });
});
