import { describe, expect, it } from "vitest";
import { resultsIn } from "../../../../apps/client/csv.ts";
import { readCells, resultingItems } from "../../../../apps/importer/checks/resulting-items.ts";
import { ResultingValues, VALUES_MAX } from "../../../../apps/importer/checks/resulting-values.ts";
import { readUndoRows } from "../../../../apps/importer/checks/undone-rows.ts";
import { readTrialRows, type TrialCounters } from "../../../../apps/importer/checks/trial-rows.ts";
import { observeRows } from "../../../../apps/importer/files/whole-file.ts";
import { mappedReader } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const NAMES = ["ID", "State", "Kind", "Who", "Mail", "Done", "Team"];
const MAPPING: Mapping = {
  fields: {
    external_id: { column: "ID" },
    status: { column: "State", values: { Open: "pending", Closed: "completed" } },
    type: { column: "Kind" },
    agent_name: { column: "Who" },
    agent_email: { column: "Mail" },
    completed_at: { column: "Done", time_zone: "UTC" },
  },
  others: "custom_attributes",
};
const reader = mappedReader(MAPPING, NAMES);

const findingsOf = (rows: readonly (readonly string[])[]) => {
  const values = new ResultingValues(reader, "2024-03-01T00:00:00.000Z");
  for (const cells of rows) values.observe({ cells });
  return values.findings;
};

describe("the values of a file", () => {
  it("are counted as new items would have them, with what the file doesn't say and what contradicts", () => {
    const findings = findingsOf([
      ["1", "Closed", "call", "Ann", "ann@example.com", "2024-03-04", ""],
      ["2", "Open", "call", "", "ben@example.com", "2024-01-31T23:00:00-02:00", ""],
      ["3", "Closed", "", "Ann", "", "", ""],
      ["4", "", "", "", "", "2023-12-01", ""],
      ["5", "", "", "", "", "", ""],
      ["6", "Lost", "call", "", "", "", ""],
      ["7", "cancelled", "call", "", "nobody", "", ""],
      ["", "", "", "", "", "", ""],
    ]);
    expect(findings).toMatchObject({
      rows: 5,
      failedRows: 2,
      status: {
        values: [
          ["completed", 3],
          ["pending", 2],
        ],
        otherRows: 0,
        different: 2,
        emptyRows: 2,
      },
      type: {
        values: [
          ["work_item", 3],
          ["call", 2],
        ],
        emptyRows: 3,
      },
      agent: {
        values: [
          ["Ann", 2],
          ["ben@example.com", 1],
        ],
        emptyRows: 2,
      },
      completion: {
        emptyRows: 2,
        earliest: "2023-12-01T00:00:00.000Z",
        latest: "2024-03-04T00:00:00.000Z",
        futureRows: 1,
      },
      undatedRows: 1,
      unfinishedRows: [["pending", 1]],
    });
  });

  it("are named if they are frequent, and counted without end if they are too many", () => {
    const rows = Array.from({ length: VALUES_MAX + 500 }, (_, index) => ["x", "", "", `agent ${index}`, "", "", ""]);
    const { agent } = findingsOf([...rows, ["x", "", "", "agent 7", "", "", ""]]);
    expect(agent.values[0]).toEqual(["agent 7", 2]);
    expect(agent).toMatchObject({ values: { length: 10 }, otherRows: VALUES_MAX + 490, different: undefined });
    const { agent: few } = findingsOf(rows.slice(0, 30));
    expect(few).toMatchObject({ values: { length: 10 }, otherRows: 20, different: 30 });
  });
});

/** A list of results as it arrives, line by line, which says how much of it was read. */
const listOf = (lines: readonly string[], last = "changes") => {
  const state = { read: 0 };
  const pieces = async function* () {
    for (const line of [`_row,external_id,id,outcome,${last}`, ...lines]) {
      state.read++;
      yield `${line}\n`;
    }
  };
  return { results: resultsIn(pieces()), state };
};
const counters = (counts: Partial<TrialCounters>): TrialCounters => ({
  created_rows: 0,
  updated_rows: 0,
  restored_rows: 0,
  unchanged_rows: 0,
  failed_rows: 0,
  ...counts,
});

describe("the results of a trial", () => {
  it("give one row of each outcome, and the rows that change items which the file doesn't create itself", async () => {
    const { results } = listOf([
      "2,a,1,created,",
      '3,b,2,updated,"{""status"":{""from"":""pending"",""to"":""completed""},""custom_attributes.n"":{""to"":1}}"',
      "4,a,1,updated,",
      "5,b,2,unchanged,",
      "6,,,error,",
      '7,"c,d",3,restored,',
      '8,e,4,updated,"[""status"",""custom_attributes""]"',
      "9,f,5,updated,{not JSON",
      "10,g,6,created,",
    ]);
    const { examples, changed, created, reopened } = await readTrialRows(
      results,
      counters({ created_rows: 2, updated_rows: 4, restored_rows: 1, unchanged_rows: 1, failed_rows: 1 }),
    );
    expect([created.map(({ externalId }) => externalId), reopened]).toEqual([["a", "g"], 0]);
    expect(examples.map(({ row, outcome }) => [row, outcome])).toEqual([
      [2, "created"],
      [3, "updated"],
      [5, "unchanged"],
      [6, "error"],
      [7, "restored"],
    ]);
    expect(changed.map(({ row, externalId, changes }) => ({ row, externalId, changes }))).toEqual([
      {
        row: 3,
        externalId: "b",
        changes: [
          { field: "status", values: { from: "pending", to: "completed" } },
          { field: "custom_attributes.n", values: { from: undefined, to: 1 } },
        ],
      },
      { row: 7, externalId: "c,d", changes: [] },
      { row: 8, externalId: "e", changes: [{ field: "status" }, { field: "custom_attributes" }] },
      { row: 9, externalId: "f", changes: [] },
    ]);
  });

  it("are read once, only as far as examples, new IDs and reopened items need", async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `${index + 2},n${index},${index},created,`);
    const { results, state } = listOf(lines);
    const { examples, created } = await readTrialRows(results, counters({ created_rows: 50_000 }));
    expect(examples.map(({ row }) => row)).toEqual([2, 3, 4, 5, 6]);
    expect([created.length, created.at(-1)]).toEqual([10_000, { row: 10_001, externalId: "n9999" }]);
    expect(state.read).toBeLessThan(10_010);

    const change = (to: object) => `"${JSON.stringify(to).replaceAll('"', '""')}"`;
    const status = { from: "completed", to: "pending" };
    const updates = [
      `9000,z,z,updated,${change({ type: { from: "a", to: "b" } })}`,
      `9001,d,d,updated,${change({ status, completed_at: { from: NOW, to: null } })}`,
      `9002,o,o,restored,${change({ status: { from: "pending", to: "completed" } })}`,
      ...Array.from({ length: 20 }, (_, index) => `${9003 + index},s${index},s${index},updated,${change({ status })}`),
    ];
    const counts = { created_rows: 62_000, updated_rows: 22, restored_rows: 1, changed_fields: { status: 22 } };
    for (const [isCompletion, reopened, read] of [
      [true, 20, 12_030],
      [false, 0, 10_020],
    ] as const) {
      const list = listOf([...updates.slice(0, 10), ...lines.slice(0, 12_000), ...updates.slice(10), ...lines]);
      const found = await readTrialRows(list.results, counters(counts), [{ isCompletion }]);
      expect([found.changed.map(({ row }) => row), found.reopened]).toEqual([[9000, 9001, 9002, 9003, 9004], reopened]);
      expect(list.state.read).toBeLessThan(read);
    }
  });

  it("count rows that reopen items to the end of the list, also those whose other values or all are left out", async () => {
    const cells = [
      { status: { from: "completed", to: "pending" }, agent_name: null },
      { status: { from: "pending", to: "in_progress" }, agent_name: null },
      { status: { from: "completed", to: "pending" }, completed_at: null },
      ["status", "type"],
      ["status", "completed_at"],
    ].map((changes) => `"${JSON.stringify(changes).replaceAll('"', '""')}"`);
    const long = Array.from({ length: 300 }, () => `"[""${"a".repeat(100_000)}""]"`);
    const lines = [...cells, ...long, cells[0]].map(
      (cell, index) => `${index + 2},i${index},i${index},updated,${cell}`,
    );
    const counts = counters({ updated_rows: lines.length, changed_fields: { status: 6 } });
    expect((await readTrialRows(listOf(lines).results, counts, [{ isCompletion: true }])).reopened).toBe(3);
  });
});

describe("items as they would be", () => {
  const row = { row: 2, externalId: "a", id: "1", outcome: "created", changes: [] } as const;
  const cellsOf = async (text: string) =>
    readCells(
      (observer) => observeRows(new Blob([text]).stream(), { delimiter: ",", headerRow: 1 }, () => [observer]),
      [2, 4],
    );

  it("are rows read by the mapping with defaults, stored items with a row's changes, or what is wrong", async () => {
    const cells = await cellsOf(
      `${NAMES.join(",")}\na,Closed,,Ann,,,north\nx\nb,Open,,,,,south\n${"later,,,,,,\n".repeat(10)}`,
    );
    expect([...cells.keys()]).toEqual([2, 4]);
    const stored = { external_id: "b", status: "completed", type: "call", agent_name: "Bob", completed_at: NOW };
    const changes = [
      { field: "status", values: { from: "completed", to: "in_progress" } },
      { field: "completed_at", values: { from: NOW, to: null } },
      { field: "custom_attributes" },
    ];
    const [created, updated, failed, unknown] = resultingItems(
      [
        row,
        { ...row, row: 4, id: "2", outcome: "updated", changes },
        { ...row, row: 3, outcome: "error", id: "" },
        { ...row, row: 9 },
      ],
      { reader, cells: new Map([...cells, [3, ["x"]]]) },
      new Map([["2", { ...stored, custom_attributes: { Team: "east", old: 1 } }]]),
      NOW,
    );
    expect(Object.fromEntries(created!.fields)).toEqual({
      agent_name: "Ann",
      type: "work_item",
      status: "completed",
      "custom_attributes.Team": "north",
    });
    expect(updated!.changes).toEqual([
      ...changes.slice(0, 2),
      { field: "custom_attributes.Team", values: { from: "east", to: "south" } },
    ]);
    expect(failed!.error?.message).toBe("the row has 1 value but the header has 7");
    expect(unknown!.fields.size).toBe(0);
  });
});

it("the results of an undo give five rows of each outcome, and why something stays", async () => {
  const inCell = (kept: object) => `"${JSON.stringify(kept).replaceAll('"', '""')}"`;
  const kept = (reason: string) => inCell({ reason, fields: { type: { imported: "a", now: "b" } } });
  const dated = (reason: string, completed_at: object) => inCell({ reason, fields: { completed_at } });
  const lines = [
    ...Array.from({ length: 7 }, (_, index) => `${index + 2},d${index},${index},deleted,`),
    `9,k1,9,kept,${kept("in_use")}`,
    `10,p1,10,partly,${kept("changed")}`,
    '11,k2,11,dropped,"{""reason"":""forgotten"",""fields"":{}}"',
    "12,k3,12,kept,{not JSON",
    "13,,,error,",
    `14,u1,14,undone,${dated("not_completed", { now: NOW, status: "pending" })}`,
    `15,u2,15,partly,${dated("changed", { imported: NOW, now: NOW, status: "cancelled" })}`,
    `16,u3,16,partly,${dated("changed", { imported: NOW, now: NOW })}`,
    `17,u4,17,undone,${dated("not_completed", { now: NOW, status: "pending" })}`,
  ];
  const { results } = listOf(lines, "kept");
  const { examples, kept: stays, reasons, unfinishedRows, isWhole } = await readUndoRows(results);
  expect(
    Object.fromEntries([...examples].map(([outcome, rows]) => [outcome, rows.map(({ externalId }) => externalId)])),
  ).toEqual({
    deleted: ["d0", "d1", "d2", "d3", "d4"],
    kept: ["k1", "k2", "k3"],
    partly: ["p1", "u2", "u3"],
    undone: ["u1", "u4"],
    error: [""],
  });
  expect(stays.map(({ row, kept: { reason, fields } }) => [row, reason, Object.keys(fields)])).toEqual([
    [9, "in_use", ["type"]],
    [10, "changed", ["type"]],
    [11, "forgotten", []],
    [14, "not_completed", ["completed_at"]],
    [15, "changed", ["completed_at"]],
    [16, "changed", ["completed_at"]],
    [17, "not_completed", ["completed_at"]],
  ]);
  expect(unfinishedRows).toEqual([
    ["pending", 2],
    ["cancelled", 1],
  ]);
  expect([...reasons.get("kept")!]).toEqual([
    ["in_use", 1],
    ["forgotten", 1],
  ]);
  expect(isWhole).toBe(true);

  // Values that are kept can be long, so a page doesn't read all of a large list.
  const long = Array.from({ length: 30 }, (_, index) => `${index + 2},l,${index},deleted,${"x".repeat(1024 * 1024)}`);
  const large = listOf(long, "kept");
  expect((await readUndoRows(large.results)).isWhole).toBe(false);
  expect(large.state.read).toBeLessThan(30);
});
