import { describe, expect, test } from "vitest";
import { readSheets, WorkbookError } from "../../../../apps/importer/files/workbook.ts";
import { type Cell, makeWorkbook } from "../../../support/workbook.ts";

const blobOf = (bytes: Buffer): Blob => new Blob([bytes]);
const csvOf = async (rows: readonly (readonly Cell[])[]): Promise<string> =>
  (await readSheets(blobOf(makeWorkbook({ Sheet: rows }))))[0].csv;
const at = (text: string): Date => new Date(`${text}Z`);

describe("a workbook", () => {
  test("gives each sheet with rows as CSV", async () => {
    const book = makeWorkbook({
      Empty: [],
      Notes: [["only text"]],
      Cases: [
        ["Id", "Note"],
        ["1", 'a "b", c\nd'],
      ],
    });
    expect(await readSheets(blobOf(book))).toMatchObject([
      { name: "Notes", isHidden: false, csv: "only text\n" },
      { name: "Cases", isHidden: false, csv: 'Id,Note\n1,"a ""b"", c\nd"\n' },
    ]);
  });

  test("keeps leading zeros and outer spaces of texts, and digits of numbers", async () => {
    expect(await csvOf([["0042", "  x ", 1.1, 1e20, 0.1 + 0.2, true, false, null, "😀"]])).toBe(
      "0042,  x ,1.1,100000000000000000000,0.30000000000000004,true,false,,😀\n",
    );
  });

  test("gives the results of formulas, and nothing for those that are errors", async () => {
    expect(
      await csvOf([
        [
          { formula: "1+1", result: "2", kind: "n" },
          { formula: 'A1&"x"', result: "2x", kind: "str" },
          { formula: "1/0", result: "#DIV/0!", kind: "e" },
          "end",
        ],
      ]),
    ).toBe("2,2x,,end\n");
  });

  test("gives dates without time zone, exact to the second, and times of day alone", async () => {
    // Every second of an hour: as a fraction of a day most of them aren't numbers that a computer has.
    const seconds = Array.from({ length: 3600 }, (_, second) => new Date(Date.UTC(2023, 5, 1, 12, 0, second)));
    const expected = seconds.map((date) => `${date.toISOString().slice(0, 19).replace("T", " ")}\n`).join("");
    expect(await csvOf(seconds.map((date) => [date]))).toBe(expected);
    expect(
      await csvOf([
        [at("2023-06-01T00:00:00"), at("1899-12-30T10:30:00"), at("2023-06-01T10:30:00.250"), new Date(1e18 / 120)],
      ]),
    ).toBe("2023-06-01,10:30:00,2023-06-01 10:30:00.250,#####\n");
  });

  test("gives durations of more than a day as hours, and the first dates that workbooks have", async () => {
    const cells = ["1899-12-31T06:05:00", "1900-01-03T00:30:15.500", "1899-12-30T00:00:00", "1899-12-31T00:00:00"];
    expect(await csvOf([[...cells, "1900-03-01T10:00:00"].map(at)])).toBe(
      "30:05:00,96:30:15.500,00:00:00,1900-01-01,1900-03-01 10:00:00\n",
    );
  });

  test("keeps the numbers of its rows: those without cells are blank", async () => {
    expect(await csvOf([["Id", "Note"], [], ["1", "x"], [null, null]])).toBe("Id,Note\n,\n1,x\n");
  });

  test("that is large is read", async () => {
    const rows = Array.from({ length: 20_000 }, (_, row) => [`row-${row}`, "x".repeat(50)]);
    expect((await csvOf(rows)).split("\n")).toHaveLength(20_001);
  });

  test("that cannot be read is rejected with an explanation", async () => {
    const archive = makeWorkbook({ Sheet: [["x"]] });
    await expect(readSheets(blobOf(archive.subarray(0, 300)))).rejects.toThrow(WorkbookError);
    await expect(readSheets(blobOf(archive.subarray(0, 300)))).rejects.toThrow("Save it as .xlsx or CSV.");
    await expect(readSheets(blobOf(makeWorkbook({ Sheet: [] })))).rejects.toThrow("This workbook has no rows.");
    const damaged = { formula: "x", result: "no number", kind: "n" } as const;
    await expect(csvOf([["a"], [damaged], [damaged]])).rejects.toThrow("This workbook cannot be read.");
  });
});
