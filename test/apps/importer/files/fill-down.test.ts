import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Filling, fillRows } from "../../../../apps/importer/files/fill-down.ts";
import { withChanges } from "../../../../apps/importer/files/records.ts";
import { GroupedColumns } from "../../../../apps/importer/proposals/grouped-columns.ts";
import type { Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";
import { cellsOf, toCell } from "../../../../lib/uploads/csv/csv-text.ts";
import { recordsIn } from "./records-in.ts";

const fill = (text: string, filling: Partial<Filling> = {}, delimiter: Delimiter = ","): Promise<string> => {
  const all: Filling = { headerRow: 1, columns: [0], others: new Set(), ...filling };
  return new Response(withChanges(new Blob([text]), fillRows(all, delimiter))).text();
};
const groupedIn = (text: string): number[] => {
  const [names = [], ...rows] = recordsIn(text).map((record) => cellsOf(record, ","));
  const groups = new GroupedColumns(names);
  for (const cells of rows) groups.observe({ cells });
  return groups.result();
};

const REPORT = [
  "Owner,Status,Case,Note",
  'Bob,Closed,1,"a\nb"',
  ",,2,x",
  '"O""Neil, Ann",Open,3,',
  "Subtotal,,2,",
  ",,,",
  " ,Closed,4,",
  "",
].join("\n");

describe("filling down", () => {
  it("gives the chosen columns the value above, in items only, and keeps everything else to the byte", async () => {
    expect(await fill(REPORT, { others: new Set([5]) })).toBe(
      REPORT.replace("\n,,2,x", "\nBob,,2,x").replace("\n ,Closed", '\n"O""Neil, Ann",Closed'),
    );
    expect(await fill(REPORT, { columns: [0, 1], others: new Set([5]) })).toContain("\nBob,Closed,2,x\n");
    expect(await fill(REPORT.replaceAll("\n", "\r\n"), { columns: [] })).toBe(REPORT.replaceAll("\n", "\r\n"));
  });

  it("leaves rows empty that aren't items", async () => {
    const text = "Owner,ID\nBob,1\n,printed in June\n,2\n";
    expect(await fill(text, { others: new Set([3]) })).toBe("Owner,ID\nBob,1\n,printed in June\nBob,2\n");
  });

  it("takes the value of a row that only names a group, and none from above the header or from a sum", async () => {
    const text = "Report;;\nOwner;ID;State\n;1;a\nBob;;\n;2;b\nGrand total;2;\n;3;c\n;4\n";
    expect(await fill(text, { headerRow: 2, others: new Set([4, 6]) }, ";")).toBe(
      "Report;;\nOwner;ID;State\n;1;a\nBob;;\nBob;2;b\nGrand total;2;\nBob;3;c\nBob;4\n",
    );
  });

  it("leaves rows to the service that it can't read", async () => {
    const text = 'Owner,ID\nBob,1\n"x"y,2\n,3\nAnn,"4\n';
    expect(await fill(text)).toBe('Owner,ID\nBob,1\n"x"y,2\nBob,3\nAnn,"4\n');
  });

  it("changes no row's number and no value, whatever the pieces", async () => {
    const cell = fc.constantFrom("", "a", "b c", 'x"y', "1,2", "line\nend");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 20 }), async (rows) => {
        const lines = rows.map((cells) => cells.map((each) => toCell(each, ",")).join(","));
        const filled = await fill(`h1,h2,h3\n${lines.join("\n")}\n`);
        const [, ...found] = recordsIn(filled).map((record) => cellsOf(record, ","));
        let above = "";
        const expected = rows.map(([first, ...others]) => {
          if (first !== "") above = first;
          return [first === "" && others.some(Boolean) ? above : first, ...others];
        });
        expect(found).toEqual(expected);
      }),
    );
  });
});

describe("grouped columns", () => {
  it("are those at the left whose values stand only in the first row of a group", () => {
    expect(groupedIn(REPORT)).toEqual([0]);
    expect(groupedIn("Agent,ID\nBob,1\n,2\n,3\nAnn,4\n,5\nGrand total,5\n")).toEqual([0]);
    expect(groupedIn("Team,Agent,ID\nA,Bob,1\n,,2\n,Ann,3\nB,Ann,4\n,,5\n")).toEqual([0, 1]);
    expect(groupedIn("Team,Agent,ID\nA,Bob,1\n,,2\nB,,3\n,,4\n")).toEqual([0]);
    expect(groupedIn(",Agent,ID\n,Bob,1\n,,2\n,,3\n")).toEqual([1]);
    expect(groupedIn("Agent,ID,State\nBob,,\n,1,a\n,2,a\nAnn,,\n,3,b\n")).toEqual([0]);
  });

  it.each([
    ["all rows have a value", "ID,State\n1,a\n2,b\n3,a\n"],
    ["the first row has none", "Owner,ID\n,1\nBob,2\n,3\n"],
    ["a value is repeated in the next row", "Owner,ID\nBob,1\nBob,2\n,3\n,4\n"],
    ["few rows have none", "Subject,ID\na,1\nb,2\nc,3\n,4\nd,5\ne,6\n"],
    ["a column before it isn't grouped", "ID,Closed\n1,2026-01-01\n2,\n3,\n4,2026-01-02\n"],
    ["it has texts", `Note,ID\n${"long ".repeat(60)},1\n,2\n,3\n`],
    ["the file has no rows", "Owner,ID\n"],
  ])("aren't columns where %s", (_, text) => {
    expect(groupedIn(text)).toEqual([]);
  });
});
