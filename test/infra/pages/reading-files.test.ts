import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attributeColumns, withKind } from "../../../infra/pages/browser/upload/attributes.ts";
import { contentOf, readFile } from "../../../infra/pages/browser/upload/table-file.ts";
import { type Moment, rateOf, shownProgress, withMoment } from "../../../infra/pages/browser/upload/progress.ts";
import { firstRows } from "../../../infra/pages/browser/upload/read-text.ts";
import { readCsv } from "../../../lib/uploads/csv/csv-reader.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import { formatsOf, valuesIn } from "../../../infra/pages/browser/upload/sources.ts";

describe("the upload page", () => {
  test("reads rows whose cells have line ends and delimiters, and no row that is cut", () => {
    const text = 'a;b\r\n"one\ntwo";"x;""y"""\r\n\r\n3;4\r\n5;cu';
    const whole = [["a", "b"], ["one\ntwo", 'x;"y"'], [""], ["3", "4"]];
    expect(firstRows(text, ";", 100, false)).toEqual({ rows: whole, problem: undefined });
    expect(firstRows(text, ";", 100, true).rows).toEqual([...whole, ["5", "cu"]]);
    expect(firstRows(text, ";", 2, true).rows).toEqual(whole.slice(0, 2));
    expect(firstRows("a,", ",", 2, true).rows).toEqual([["a", ""]]);
    expect(firstRows("a,", ",", 2, false).rows).toEqual([]);
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
    const readByPage = (text: string) => {
      const { rows, problem } = firstRows(text, ",", 100, true);
      return { rows: problem === undefined ? withoutBlank(rows) : [], problem };
    };
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: characters, minLength: 1, maxLength: 30 }), async (text) => {
        expect(readByPage(`h\n${text}`)).toEqual(await readByService(`h\n${text}`));
      }),
      { numRuns: 2000 },
    );
  });

  test("shows and sends an exported file's formulas without their apostrophe", async () => {
    const text = "external_id,type\n'=1+cmd|x,a\n''=1,b\n'tis,c\n\"'@x,\",d\n";
    const table = await readFile(new File([text], "work-items.csv"));
    expect(table.rows.map(([externalId]) => externalId)).toEqual(["=1+cmd|x", "'=1", "'tis", "@x,"]);
    expect(await (await contentOf(table)).text()).toBe("external_id,type\n=1+cmd|x,a\n'=1,b\n'tis,c\n\"@x,\",d\n");
  });

  test("keeps what happens to columns that aren't fields", () => {
    const names = ["Id", "Price", " Team ", "Twice", "twice", "_row", "", "Subject"];
    const proposed: Mapping = {
      fields: { external_id: { column: "id" }, "custom_attributes.short_description": { column: "Subject" } },
      others: "custom_attributes",
    };
    const columns = attributeColumns(names, proposed);
    expect(columns).toEqual([
      { column: "Price", target: "custom_attributes.Price", kind: "text" },
      { column: "Team", target: "custom_attributes.Team", kind: "text" },
      { column: "Subject", target: "custom_attributes.short_description", kind: "text" },
    ]);
    const [price, , subject] = columns;
    const typed = withKind(withKind(proposed, price!, "number"), subject!, "json");
    expect(typed.fields).toEqual({
      external_id: { column: "id" },
      "custom_attributes.Price": { column: "Price", as: "number" },
      "custom_attributes.short_description": { column: "Subject", as: "json" },
    });
    expect(attributeColumns(names, typed).map(({ kind }) => kind)).toEqual(["number", "text", "json"]);
    expect(withKind(withKind(typed, price!, "text"), subject!, "text")).toEqual(proposed);
    const few: Mapping = { ...proposed, others: "ignore" };
    const [left] = attributeColumns(names, few);
    expect(left?.kind).toBe("left out");
    const kept = withKind(few, left!, "text");
    expect(kept.fields?.["custom_attributes.Price"]).toEqual({ column: "Price" });
    expect(withKind(kept, left!, "left out")).toEqual(few);
  });

  test("offers the different values of a column", () => {
    const rows = [["Open"], ["?"], ["Open "], [""], ["Closed"], []];
    expect(valuesIn({ names: ["Status"], rows }, "status", ["?"])).toEqual(["Open", "Closed"]);
  });

  test.each([
    [["01/06/2023 10:00", "25/06/2023 10:00"], ["dd/MM/yyyy HH:mm"]],
    [["01/06/2023 10:00"], ["dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm"]],
    [["06/25/2023 10:00", "someday"], ["MM/dd/yyyy HH:mm"]],
    [["1700000000"], ["unix"]],
    [["someday"], []],
    [[], []],
  ])("offers for %j the date patterns %j", (values, formats) => {
    expect(formatsOf(values, "UTC")).toEqual(formats);
  });

  test("shows a job's progress, rate and remaining time", () => {
    const moments = [0, 1, 2, 3].reduce<readonly Moment[]>(
      (all, step) => withMoment(all, { at: step * 20_000, rows: step * step * 1000 }),
      [],
    );
    // The last 30 seconds count: 5,000 rows in 20 seconds.
    expect(rateOf(moments)).toBe(250);
    expect(shownProgress(90, 15_090, 250)).toMatch(/^90 of 15.?090 rows, 250 a second, 1 min left$/);
    expect(shownProgress(90, 990, 250)).toBe("90 of 990 rows, 250 a second, 4 s left");
    expect(shownProgress(0, 3_600_000, 250)).toContain("4.0 h left");
    expect(shownProgress(0, 0, rateOf([{ at: 0, rows: 0 }]))).toBe("0 of ? rows");
  });
});
