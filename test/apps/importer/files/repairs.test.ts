import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRowProblem } from "../../../../apps/pages/browser/upload/file/check-rows.ts";
import {
  cellsInFile,
  repairedCells,
  type Repairs,
  withRepair,
  withRepairs,
} from "../../../../apps/importer/files/repairs.ts";
import { failedRowsIn } from "../../../../apps/client/csv.ts";
import { cellsOf, toCell } from "../../../../lib/uploads/csv/csv-text.ts";
import { comparable, isReportColumn, numberedNames } from "../../../../lib/uploads/csv/header-names.ts";
import { createReportWriter } from "../../../../lib/uploads/files/row-list.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { recordsIn } from "./records-in.ts";
import { createUploadService, type UploadService } from "../../../support/uploads/upload-service.ts";

const NO_REPAIRS: Repairs = new Map();

/** Corrects the first value that is wrong in each failed row, as the page does it, and imports the file. */
const correctAndImport = async (
  uploads: UploadService,
  file: string,
  mapping: Mapping,
  corrections: Readonly<Record<string, string>>,
) => {
  const delimiter = mapping.delimiter ?? ",";
  const names = cellsOf(recordsIn(file)[0] ?? "", delimiter);
  const problemOf = readRowProblem(names, mapping);
  const trial = await uploads.runMapped(file, mapping, { dry_run: "true" });
  const report = (await uploads.report(trial.id)).join("\n").replace(/^\uFEFF/, "");
  const [header = [], ...lines] = recordsIn(report).map((record) => cellsOf(record, delimiter));
  let repairs: Repairs = NO_REPAIRS;
  for (const line of lines.filter((cells) => cells.length > 1)) {
    const cells = cellsInFile(names, line);
    const found = problemOf(cells);
    const column = numberedNames(names).findIndex((name) => comparable(name) === comparable(found?.column ?? ""));
    const value = corrections[cells[column] ?? ""] ?? "";
    repairs = withRepair(
      repairs,
      { row: Number(line[header.lastIndexOf("_row")]), column, original: cells[column] ?? "" },
      value,
    );
  }
  const repaired = await (await withRepairs(new Blob([file]), repairs, delimiter)).text();
  return { report, repaired, job: await uploads.runMapped(repaired, mapping) };
};

const MAPPING: Mapping = {
  fields: { external_id: { column: "external_id" }, agent_email: { column: "agent_email" } },
  others: "custom_attributes",
};

describe("corrections in the page", () => {
  it("of our own report of failed rows go into the cells that are shown, wherever its columns stand", async () => {
    const uploads = await createUploadService();
    const file = "_row,external_id,_error,agent_email,team\n1,C-1,,ada@example.com,a\n2,C-2,no,bob@@example.com,b\n";
    const once = await correctAndImport(uploads, file, MAPPING, { "bob@@example.com": "bob@example.com" });
    expect(once.repaired).toBe(file.replace("bob@@", "bob@"));
    expect(once.job).toMatchObject({ created_rows: 2, failed_rows: 0 });
    expect(await uploads.getItem("C-2")).toMatchObject({
      agent: { email: "bob@example.com" },
      custom_attributes: { team: "b" },
    });
    // The report of that trial is a file itself.
    const again = await correctAndImport(uploads, once.report, MAPPING, { "bob@@example.com": "eve@example.com" });
    expect(again.job).toMatchObject({ total_rows: 1, updated_rows: 1, failed_rows: 0 });
    expect(await uploads.getItem("C-2")).toMatchObject({ agent: { email: "eve@example.com" } });
  });

  it("of a list of results keep its other cells", async () => {
    const uploads = await createUploadService();
    const file = await uploads.runMapped("external_id\nR-1\n", { fields: { external_id: { column: "external_id" } } });
    const { url } = await uploads.results(file.id);
    const results = `${await (await fetch(url!)).text()}3,,,failed\n`.replace(/^\uFEFF/, "");
    const mapping: Mapping = { fields: { external_id: { column: "external_id" } }, others: "custom_attributes" };
    const { repaired, job } = await correctAndImport(uploads, results, mapping, { "": "R-3" });
    expect(repaired).toBe(results.replace("3,,,failed", "3,R-3,,failed"));
    expect(job).toMatchObject({ created_rows: 1, updated_rows: 1, failed_rows: 0 });
    expect(await uploads.getItem("R-3")).toMatchObject({ custom_attributes: { outcome: "failed" } });
  });

  it("change one cell of the file and nothing else, whatever its header is", async () => {
    const name = fc.constantFrom("_row", "_error", "_Error_Code ", "a", "a", "B", "", 'q"', "x;y");
    const cell = fc.constantFrom<string>("", "v", " v ", 'w"', "x;y", "l\nm");
    const table = fc.array(name, { minLength: 1, maxLength: 7 }).chain((names) =>
      fc.record({
        names: fc.constant(names),
        cells: fc.array(cell, { minLength: names.length, maxLength: names.length + 2 }),
        column: fc.nat(names.length - 1),
        delimiter: fc.constantFrom<"," | ";">(",", ";"),
      }),
    );
    await fc.assert(
      fc.asyncProperty(table, async ({ names, cells, column, delimiter }) => {
        const lineOf = (values: readonly string[]) => values.map((value) => toCell(value, delimiter)).join(delimiter);
        const header = `${lineOf(names)}\n`;
        const text = `${lineOf(cells)}\r\n`;
        const error = { message: "wrong", column: "", value: "", code: "invalid" } as const;
        const line = createReportWriter({ header, delimiter }).line({ row: 2, text }, error);
        const shown = cellsInFile(names, cellsOf(line, delimiter));
        const own = cells.map((value, index) => (isReportColumn(names[index] ?? "") ? "" : value));
        expect(shown).toEqual(own);

        const repairs = withRepair(NO_REPAIRS, { row: 2, column, original: shown[column]! }, 'new "value"');
        expect(repairedCells(shown, repairs.get(2))).toEqual(own.with(column, 'new "value"'));
        const repaired = await (await withRepairs(new Blob([header, text]), repairs, delimiter)).text();
        expect(repaired).toBe(`${header}${lineOf(cells.with(column, 'new "value"'))}\r\n`);
        expect(withRepair(repairs, { row: 2, column, original: shown[column]! }, shown[column]!)).toEqual(NO_REPAIRS);
      }),
    );
  });
});

it("the client reads a report by its own delimiter, and both of two columns with the same name", async () => {
  const writer = createReportWriter({ header: "id;Amount;Amount\n", delimiter: ";" });
  const error = { message: "no; really", column: "", value: "", code: "invalid" } as const;
  const row = { row: 2, text: "a;1;2\n" };
  // In pieces of a character, with the blank lines of a header in row 3.
  const pieces = Readable.from((writer.header(3) + writer.line(row, error)).replace("\uFEFF", "").split(""));
  expect(await Array.fromAsync(failedRowsIn(pieces))).toMatchObject([
    { row: 2, error: "no; really", cells: { id: "a", Amount: "1", "Amount (2)": "2" } },
  ]);
});
