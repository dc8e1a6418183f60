import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  COMBINED,
  KEPT,
  LEFT_OUT,
  rolesOf,
  targetOf,
  withRole,
  withSource,
} from "../../../apps/pages/browser/upload/file/column-roles.ts";
import {
  isAsked,
  observeTable,
  readFile,
  readTextFile,
  surveyFile,
  withFilledColumns,
  withHeaderRow,
  withHidden,
  withSheet,
} from "../../../apps/pages/browser/upload/file/table-file.ts";
import { type Moment, rateOf, shownProgress, withMoment } from "../../../apps/pages/browser/upload/parts/progress.ts";
import { readFirstRows } from "../../../apps/importer/files/whole-file.ts";
import { readCsv } from "../../../lib/uploads/csv/csv-reader.ts";
import type { Delimiter } from "../../../lib/uploads/csv/delimiter.ts";
import { NUL_BYTE } from "../../../lib/uploads/csv/file-kind.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import { surveyOf } from "../../../apps/importer/proposals/survey.ts";
import { makeWorkbook } from "../../support/workbook.ts";
import { valuesAt } from "../../../apps/pages/browser/upload/file/sources.ts";

describe("the import page", () => {
  test("reads rows whose cells have line ends and delimiters", async () => {
    const text = 'a;b\r\n"one\ntwo";"x;""y"""\r\n\r\n3;4\r\n5;cu';
    const whole = [["a", "b"], ["one\ntwo", 'x;"y"'], [""], ["3", "4"]];
    const firstRows = (of: string, delimiter: Delimiter, max: number) =>
      readFirstRows(new Blob([of]).stream(), delimiter, max);
    expect(await firstRows(text, ";", 100)).toEqual({ rows: [...whole, ["5", "cu"]], problem: undefined });
    expect(await firstRows(text, ";", 2)).toEqual({ rows: whole.slice(0, 2), problem: undefined });
    expect(await firstRows("a,", ",", 2)).toEqual({ rows: [["a", ""]], problem: undefined });
    // One long row is read, and no second one that would make the page slow.
    const long = "x".repeat(600_000);
    expect(await firstRows(`${long}\n${long}\n`, ",", 100)).toEqual({ rows: [[long]], problem: undefined });
    const tooLong = await firstRows(`id\n"${long}${long}`, ",", 100);
    expect(tooLong).toEqual({ rows: [["id"]], problem: expect.stringMatching(/^row 2: the row is longer than/) });
    expect(await firstRows("id\na\0b\n", ",", 100)).toEqual({ rows: [["id"]], problem: NUL_BYTE });
  });

  test("asks for the encoding of a file that isn't whole in the likeliest one either", async () => {
    const row = [0x31, 0x2c, 0x93, 0x63, 0x92, 0x86, 0x0a];
    const rows = Array.from({ length: 300 }, () => row).flat();
    const file = new File(
      [Uint8Array.from([...Buffer.from("id,name\n"), ...rows, ...row.toSpliced(3, 1)])],
      "export.csv",
    );
    const table = await readFile(file);
    expect(table.text?.format).toMatchObject({ encoding: "shift_jis", doubt: { problem: "row 2 isn't valid UTF-8" } });
    await surveyFile(table);
    await expect(readTextFile(file, { encoding: "shift_jis" })).rejects.toThrow("Row 302 isn’t valid Shift JIS.");
  });

  test("asks for the delimiter of a file that fits several, until one is chosen", async () => {
    const file = new File(["One|Two; three\n1|a; b\n2|c; d\n"], "bars.csv");
    const table = await readFile(file);
    expect([isAsked(table), table.text?.format.delimiters]).toEqual([
      true,
      [
        { delimiter: ";", names: ["One|Two", "three"] },
        { delimiter: "|", names: ["One", "Two; three"] },
      ],
    ]);
    const chosen = await readTextFile(file, { encoding: "utf-8", delimiter: "|" });
    expect([isAsked(chosen), chosen.names]).toEqual([false, ["One", "Two; three"]]);
    expect(isAsked(await readFile(new File(["Ticket ID|Two; three\n1|a; b\n"], "known.csv")))).toBe(false);
  });

  test("asks which sheet of a workbook to import if several have rows, until one is chosen", async () => {
    const tickets = [
      ["ID", "Owner"],
      ["1", "Ann"],
    ];
    const about = [
      ["Field", "Meaning"],
      ["ID", "the ticket"],
    ];
    const table = await readFile(
      new File([makeWorkbook({ Notes: [["text"]], About: about, Tickets: tickets })], "a.xlsx"),
    );
    expect([isAsked(table), table.workbook?.asked]).toEqual([
      true,
      [
        { sheet: "About", names: ["Field", "Meaning"] },
        { sheet: "Tickets", names: ["ID", "Owner"] },
      ],
    ]);
    const chosen = await withSheet(table, table.workbook!.sheets, "Tickets");
    expect([isAsked(chosen), chosen.names]).toEqual([false, ["ID", "Owner"]]);
    expect(isAsked(await readFile(new File([makeWorkbook({ Notes: [["text"]], Tickets: tickets })], "b.xlsx")))).toBe(
      false,
    );
  });

  test("asks whether to import the rows that a sheet hides, and keeps the answer if the header is another row", async () => {
    const rows = [["Report"], ["ID", "Owner"], ["1", "Ann"], ["2", "Bob"], ["3", "Cid"]];
    const file = new File([makeWorkbook({ Sheet: rows }, { hidden: [4] })], "filtered.xlsx");
    const table = await readFile(file);
    expect([isAsked(table), table.headerRow, table.rows.length]).toEqual([true, 2, 3]);
    const all = await withHidden(table, "import");
    expect([isAsked(all), await all.content.text()]).toEqual([false, await table.content.text()]);
    const shown = await withHidden(all, "leave out");
    expect([isAsked(shown), shown.rows]).toEqual([false, [["1", "Ann"], [""], ["3", "Cid"]]]);
    expect(await shown.content.text()).toBe("Report,\nID,Owner\n1,Ann\n\n3,Cid\n");
    const below = await withHeaderRow(shown, 3);
    expect([isAsked(below), below.names, below.rows]).toEqual([false, ["1", "Ann"], [[""], ["3", "Cid"]]]);
    expect((await withHidden(below, "import")).rows).toEqual([
      ["2", "Bob"],
      ["3", "Cid"],
    ]);
  });

  test("fills columns down in what it reads and sends, and takes the file as it was again", async () => {
    const file = new File(["Owner;ID\nBob;1\n;2\nTotal;2\n;3\n"], "grouped.csv");
    const table = await readFile(file);
    const read = await surveyFile(table);
    const filled = await withFilledColumns(read, [0], new Set([4]));
    expect(await filled.content.text()).toBe("Owner;ID\nBob;1\nBob;2\nTotal;2\nBob;3\n");
    expect(filled.rows[1]).toEqual(["Bob", "2"]);
    expect((await withHeaderRow(filled, 2)).rows[0]).toEqual(["", "2"]);
    const again = await surveyFile(filled);
    expect(await withFilledColumns(again, [], new Set())).toBe(read);
  });

  test("shows how much of a file was read by what it is converted to", async () => {
    const table = await readFile(new File([Buffer.from("\uFEFFid,type\n1,a\n", "utf16le")], "utf16.csv"));
    const parts: number[] = [];
    await observeTable(table, () => [], { onPart: (part) => parts.push(part) });
    expect(parts.at(-1)).toBe(1);
  });

  test("reads the rows that the service reads, and names the same problem", async () => {
    const characters = fc.constantFrom("a", '"', '"', ",", "\n", "\r\n", "\r", " ", "é");
    const withoutBlank = (rows: readonly (readonly string[])[]) => rows.filter((row) => row.join(",") !== "");
    const readByService = async (text: string) => {
      const rows: (readonly string[])[] = [];
      try {
        for await (const { records } of readCsv(Readable.from([Buffer.from(text)]))) {
          rows.push(...records.map((record) => record.cells()));
        }
        return { rows: withoutBlank(rows), problem: undefined };
      } catch (error) {
        return { rows: [], problem: (error as Error).message };
      }
    };
    const readByPage = async (text: string) => {
      const { rows, problem } = await readFirstRows(new Blob([text]).stream(), ",", 100);
      return { rows: problem === undefined ? withoutBlank(rows) : [], problem };
    };
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: characters, minLength: 1, maxLength: 30 }), async (text) => {
        expect(await readByPage(`h\n${text}`)).toEqual(await readByService(`h\n${text}`));
      }),
      { numRuns: 2000 },
    );
  });

  test("shows and sends an exported file's formulas without their apostrophe", async () => {
    const text = "external_id,type\n'=1+cmd|x,a\n''=1,b\n'tis,c\n\"'@x,\",d\n";
    const table = await readFile(new File([text], "work-items.csv"));
    expect(table.rows.map(([externalId]) => externalId)).toEqual(["=1+cmd|x", "'=1", "'tis", "@x,"]);
    expect(await table.content.text()).toBe("external_id,type\n=1+cmd|x,a\n'=1,b\n'tis,c\n\"@x,\",d\n");
  });

  test("says what each column becomes, also those without a name and with the same name", () => {
    const header = ["Id", "Price", " Team ", "Twice", "twice", "_row", "", "Subject"];
    const mapping: Mapping = {
      fields: {
        external_id: { column: "id" },
        agent_name: { columns: ["Team", "Price"], join: " " },
        "custom_attributes.short_description": { column: "Subject" },
      },
      others: "custom_attributes",
    };
    const roles = rolesOf(header, mapping).map(({ name, role }) => [name, role]);
    expect(roles).toEqual([
      ["Id", "external_id"],
      ["Price", COMBINED],
      ["Team", COMBINED],
      ["Twice", KEPT],
      ["twice (2)", KEPT],
      ["", KEPT],
      ["Subject", "custom_attributes.short_description"],
    ]);
  });

  test("changes what one column becomes, and keeps the others", () => {
    const header = ["Id", "Price", "Team", "Subject"];
    const proposed: Mapping = {
      fields: { external_id: { column: "Id" }, agent_name: { column: "Team" } },
      others: "custom_attributes",
    };
    const columnOf = (mapping: Mapping, name: string) => rolesOf(header, mapping).find((each) => each.name === name)!;
    const price = { column: "Price", as: "number" } as const;
    const typed = withSource(proposed, "fields", targetOf(columnOf(proposed, "Price")), price);
    expect(columnOf(typed, "Price")).toMatchObject({ role: KEPT, source: { as: "number" } });
    const without = withRole(header, proposed, columnOf(proposed, "Price"), LEFT_OUT);
    expect(rolesOf(header, without).map(({ role }) => role)).toEqual(["external_id", LEFT_OUT, "agent_name", KEPT]);
    expect(withRole(header, without, columnOf(without, "Price"), KEPT)).toEqual(proposed);
    const other = withRole(header, proposed, columnOf(proposed, "Subject"), "agent_name");
    expect(rolesOf(header, other).map(({ role }) => role)).toEqual(["external_id", KEPT, KEPT, "agent_name"]);
  });

  test("offers the different values of a column, spellings that differ by case once", () => {
    const rows = [["Open"], ["?"], ["Open "], [""], ["Closed"], ["closed"], []];
    expect(valuesAt({ survey: surveyOf(["Status"], rows, 2), rows }, 0, ["?"])).toEqual(["Open", "Closed"]);
  });

  test("shows a job's progress, rate and remaining time", () => {
    const moments = [0, 1, 2, 3].reduce<readonly Moment[]>(
      (all, step) => withMoment(all, { at: step * 20_000, rows: step * step * 1000 }),
      [],
    );
    // The last 30 seconds count: 5,000 rows in 20 seconds.
    expect(rateOf(moments)).toBe(250);
    expect(shownProgress(90, 15_090, 250)).toMatch(/^90 of 15,090 rows, 250 a second, 1 min left$/);
    expect(shownProgress(90, 990, 250)).toBe("90 of 990 rows, 250 a second, 4 s left");
    expect(shownProgress(0, 3_600_000, 250)).toContain("4.0 h left");
    expect(shownProgress(0, 0, rateOf([{ at: 0, rows: 0 }]))).toBe("Counting rows…");
  });
});
