import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutPrefix, withPrefix } from "../../../../apps/importer/files/cell-values.ts";
import { ITEM_CSV_HEADER, itemCsvLine } from "../../../../apps/importer/files/item-csv.ts";
import { findTextFormat, toUtf8 } from "../../../../apps/importer/files/text-file.ts";
import { readSheets } from "../../../../apps/importer/files/workbook.ts";
import type { WorkItem } from "../../../../apps/client/client.ts";
import { readCsv } from "../../../../lib/uploads/csv/csv-reader.ts";
import { toCell } from "../../../../lib/uploads/csv/csv-text.ts";
import { DELIMITERS, type Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";
import { makeWorkbook } from "../../../support/workbook.ts";

/** Texts that often look like formulas, prefixes, numbers or quoted cells. */
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom(..."'=@＝＠＋－\t\r\n+-,;|\"0159 .()/%eEa".split(""), "''", "'=", "'+1", "\r\n"), {
      maxLength: 8,
    })
    .map((parts) => parts.join("")),
);
/** A file cannot hold NUL. */
const cells = texts.map((text) => text.replaceAll("\0", "0"));

/** The cells of a file as `import` and the page send them. @param chunkBytes in how large pieces it is read */
const imported = async (csv: string, delimiter: Delimiter, chunkBytes = 65_536): Promise<(readonly string[])[]> => {
  const file = new Blob([csv]);
  const bytes = Buffer.from(csv);
  const pieces = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  Object.defineProperty(file, "stream", { value: () => ReadableStream.from(pieces) });
  const converted = toUtf8(file, await findTextFormat(file, { delimiter })) ?? file.stream();
  const rows: (readonly string[])[] = [];
  for await (const { records } of readCsv(Readable.fromWeb(converted as never), { delimiter })) {
    rows.push(...records.map((record) => record.cells()));
  }
  return rows;
};

/** A first row, so that no data can look like a line that Excel hides or like a file with CR alone. */
const headed = (lines: readonly string[], delimiter: Delimiter, end: string): string =>
  ["id", ...lines].map((line) => `${line}${delimiter}end${end}`).join("");

describe("the prefix of an exported cell", () => {
  test.each([
    "=1+1",
    "=cmd|' /C calc'!A0",
    "@SUM(A1)",
    "+cmd|x",
    "-2+cmd|x",
    "-A1",
    "+49 30 SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "－1",
    "'=1",
    "''=1",
  ])("is an apostrophe before %j", (value) => {
    expect(withPrefix(value)).toBe(`'${value}`);
    expect(withoutPrefix(`'${value}`)).toBe(value);
  });

  test.each([
    "",
    "-",
    "+",
    "-5",
    "-1.234,56",
    "+1e9",
    "-5%",
    "+49 30 1234-567",
    "+1 (555) 010-9999",
    "'tis",
    "'",
    "'-5",
    "a=1",
    '{"a":"=1"}',
  ])("does not stand before %j", (value) => {
    expect(withPrefix(value)).toBe(value);
    expect(withoutPrefix(value)).toBe(value);
  });

  test("is removed exactly, whatever the value is", () => {
    const isRestored = fc.property(texts, (value) => {
      expect(withoutPrefix(withPrefix(value))).toBe(value);
    });
    fc.assert(isRestored, { numRuns: 5000 });
  });

  test("is removed from every column of a file, whatever its delimiter, line ends and chunks are", async () => {
    const rows = fc.array(fc.tuple(cells, cells, cells), { maxLength: 5 });
    const delimiters = fc.constantFrom(...(Object.keys(DELIMITERS) as Delimiter[]));
    const lineEnds = fc.constantFrom("\n", "\r\n");
    await fc.assert(
      fc.asyncProperty(
        rows,
        delimiters,
        lineEnds,
        fc.integer({ min: 1, max: 30 }),
        async (table, delimiter, end, size) => {
          const lines = table.map((row) => row.map((cell) => toCell(withPrefix(cell), delimiter)).join(delimiter));
          const [, ...read] = await imported(headed(lines, delimiter, end), delimiter, size);
          expect(read).toEqual(table.map((row) => [...row, "end"]));
        },
      ),
      { numRuns: 100 },
    );
  });

  test("is in the lines of items and is removed from all their columns", async () => {
    await fc.assert(
      fc.asyncProperty(cells, cells, cells, cells, async (externalId, name, type, attribute) => {
        const item = {
          external_id: externalId,
          agent: { name, email: "=a@example.com", external_id: externalId, id: null, avatar_url: null },
          type,
          status: "pending",
          completed_at: null,
          custom_attributes: { [attribute]: attribute },
        } as unknown as WorkItem;
        const line = itemCsvLine(item);
        expect(line.startsWith("=") || line.startsWith('"=')).toBe(false);
        const [header = [], row = []] = await imported(`${ITEM_CSV_HEADER}\n${line}\n`, ",");
        const read = Object.fromEntries(header.map((column, index) => [column, row[index]]));
        expect(read).toMatchObject({ external_id: externalId, agent_email: "=a@example.com", agent_name: name, type });
        expect(JSON.parse(read["custom_attributes"] ?? "")).toEqual(item.custom_attributes);
      }),
      { numRuns: 100 },
    );
  });

  test("is removed from the cells of a workbook, and from nothing else of it", async () => {
    const file = new Blob([makeWorkbook({ Sheet: [["id"], ["'=1"], ["'tis"], ["'-5"]] })]);
    expect((await readSheets(file))[0].csv).toBe("id\n=1\n'tis\n'-5\n");
    const report = new Blob([
      makeWorkbook({
        Sheet: [
          ["id", "_row"],
          ["'=1", "2"],
        ],
      }),
    ]);
    expect((await readSheets(report))[0].csv).toBe("id,_row\n'=1,2\n");
  });

  test("leaves a file without one to be sent as it is", async () => {
    const file = new Blob(["id,note\n1,'tis\n2,don't\n3,=1\n"]);
    expect(toUtf8(file, await findTextFormat(file))).toBeUndefined();
  });

  test("leaves the rest of a file as it is, with its quotes and spaces, and records with wrong quotes", async () => {
    const text = `a,"b"\r\nx, '=1,"'=2"\n'=3,'tis,"'=4""'=5",\n "x", '=6,'=7"\n'=8","open,'=9\n`;
    const file = new Blob([text]);
    const sent = await new Response(toUtf8(file, await findTextFormat(file))).text();
    expect(sent).toBe(text.replace(`"'=2"`, `"=2"`).replace("'=3", "=3").replace(`"'=4`, `"=4`));
  });
});

describe("a text that was written as a formula", () => {
  test.each([
    ['"=""00123""","=""+49 30 1234"""', "00123", "+49 30 1234"],
    ['="00123",="+49 30 1234"', "00123", "+49 30 1234"],
    ['= "00123", ="a,b"', "00123", "a,b"],
    ['="say ""hi""","= ""x, y"""', 'say "hi"', "x, y"],
    ['"=""""",=""', "", ""],
    ['"=""a"" & ""b""","x=""1"""', '="a" & "b"', 'x="1"'],
    ['"=SUM(A1)",\'=1', "=SUM(A1)", "=1"],
  ])("is that text: %s", async (line, first, second) => {
    expect(await imported(`id,note\n${line}\n`, ",")).toEqual([
      ["id", "note"],
      [first, second],
    ]);
  });

  test("is also the name of a column, and may be the last cell of a file", async () => {
    expect(await imported('="id";="name"\r\n="007";="x"', ";")).toEqual([
      ["id", "name"],
      ["007", "x"],
    ]);
  });

  test("stays as it is in a report of the service, and where an export has put a prefix before it", async () => {
    expect(await imported('id,_row\n"=""1""",2\n', ",")).toEqual([
      ["id", "_row"],
      ['="1"', "2"],
    ]);
    expect((await imported(`id\n${toCell(withPrefix('="1"'), ",")}\n`, ","))[1]).toEqual(['="1"']);
  });

  test("beside wrong quotes leaves the record to the service, which says what is wrong", async () => {
    const text = `id,note\n="1",a "b" c\n="2"x,y\n`;
    const file = new Blob([text]);
    expect(await new Response(toUtf8(file, await findTextFormat(file))).text()).toBe(text);
  });
});
