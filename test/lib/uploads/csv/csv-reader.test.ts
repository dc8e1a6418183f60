import type { CsvError } from "csv-parse";
import { parse } from "csv-parse/sync";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCsv } from "../../../../lib/uploads/csv/csv-reader.ts";
import { cellsOf, QUOTE_PROBLEMS, ROW_MAX_CHARACTERS, toCell } from "../../../../lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";
import { FrameWriter, readRows, type Row } from "../../../../lib/uploads/files/frames.ts";

/** Cuts bytes into chunks of the given sizes, which are repeated. */
async function* chunked(bytes: Buffer, sizes: readonly number[] = [65_536]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const readAll = async (bytes: Buffer, sizes?: readonly number[], delimiter: Delimiter = ",") => {
  const rows: { row: number; cells: string[]; raw: string }[] = [];
  for await (const { records } of readCsv(chunked(bytes, sizes), { delimiter })) {
    rows.push(...records.map(({ row, cells, raw }) => ({ row, cells: [...cells()], raw: raw.toString() })));
  }
  return { rows };
};
const rowsOf = async (text: string | Buffer) => (await readAll(Buffer.from(text as string))).rows;

const PROBLEMS_OF_PARSER: Partial<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: QUOTE_PROBLEMS.isOpen,
  CSV_INVALID_CLOSING_QUOTE: QUOTE_PROBLEMS.isFollowed,
  INVALID_OPENING_QUOTE: QUOTE_PROBLEMS.isInside,
};

const cell = fc.oneof(
  fc.string({
    unit: fc.constantFrom("a", '"', ",", ";", "\t", "|", "\n", "\r\n", " ", "é", "😀", "\r"),
    maxLength: 12,
  }),
  fc.string({ unit: "grapheme", maxLength: 5 }).filter((text) => !text.includes("\0")),
);
const file = fc.record({
  rows: fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 20 }),
  bom: fc.boolean(),
  lineEnd: fc.constantFrom("\n", "\r\n"),
  lastLineEnd: fc.boolean(),
  quoteAll: fc.boolean(),
  delimiter: fc.constantFrom<Delimiter>(",", ";", "\t", "|"),
});
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const written = ({
  rows,
  bom,
  lineEnd,
  lastLineEnd,
  quoteAll,
  delimiter,
}: typeof file extends fc.Arbitrary<infer T> ? T : never) => {
  const lines = rows.map((cells) => {
    const line = cells.map((text) => (quoteAll ? quoted(text) : toCell(text, delimiter))).join(delimiter);
    return line === "" ? '""' : line;
  });
  return Buffer.from((bom ? "\uFEFF" : "") + lines.join(lineEnd) + (lastLineEnd ? lineEnd : ""));
};

describe("readCsv", () => {
  it("gives the same rows whatever the chunks of the stream are", async () => {
    await fc.assert(
      fc.asyncProperty(file, sizes, async (made, cut) => {
        const bytes = written(made);
        const { rows } = await readAll(bytes, cut, made.delimiter);
        expect(rows.map(({ cells }) => cells)).toEqual(made.rows);
        expect(rows.map(({ row }) => row)).toEqual(made.rows.map((_, index) => index + 1));
        expect(rows.map(({ raw }) => raw).join("")).toBe(bytes.toString());
      }),
      { numRuns: 300 },
    );
  });

  it("reads what an independent parser reads, and rejects what it rejects in the same row", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", '"', '"', ",", "\n", "\r\n", "\r", " ", "é"), maxLength: 60 });
    const byParser = (csv: string) => {
      const rows: { row: number; cells: readonly string[] }[] = [];
      try {
        parse(csv, {
          bom: true,
          record_delimiter: ["\r\n", "\n"],
          relax_column_count: true,
          on_record: (cells: string[]) => void rows.push({ row: rows.length + 1, cells }),
        });
        return { rows, problem: undefined };
      } catch (error) {
        const problem = PROBLEMS_OF_PARSER[(error as CsvError).code];
        return { rows, problem: `row ${rows.length + 1}: ${problem}` };
      }
    };
    const byReader = async (csv: string, cut: readonly number[]) => {
      const rows: { row: number; cells: readonly string[] }[] = [];
      try {
        for await (const { records } of readCsv(chunked(Buffer.from(csv), cut))) {
          rows.push(...records.map(({ row, cells }) => ({ row, cells: cells() })));
        }
        return { rows, problem: undefined };
      } catch (error) {
        return { rows, problem: (error as Error).message };
      }
    };
    const isBlank = ({ cells: [only, ...others] }: { cells: readonly string[] }) => only === "" && others.length === 0;
    const withoutBlank = (read: Awaited<ReturnType<typeof byReader>>) => ({
      ...read,
      rows: read.rows.filter((row) => !isBlank(row)),
    });
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), sizes, async (rest, bom, cut) => {
        const csv = `${bom ? "\uFEFF" : ""}h\n${rest}`;
        expect(withoutBlank(await byReader(csv, cut))).toEqual(withoutBlank(byParser(csv)));
      }),
      { numRuns: 3000 },
    );
  });

  it("numbers rows as a spreadsheet does and leaves blank lines out", async () => {
    const rows = await rowsOf('a\n\n"two\nlines"\r\n\r\nlast');
    expect(rows.map(({ row, cells }) => [row, cells[0]])).toEqual([
      [1, "a"],
      [3, "two\nlines"],
      [5, "last"],
    ]);
  });

  it("gives nothing of an empty file", async () => {
    expect(await rowsOf("")).toEqual([]);
  });

  it.each([
    ['a\nb\n"c,d\ne', "row 3: a quote is opened and never closed"],
    ['a\n"b"c\n', "row 2: after a closing quote there must be the delimiter or the end of the row"],
    ['a\nb"c\n', "row 2: there is a quote in a value that doesn't begin with one"],
    [Buffer.from("a\nb\0c\n"), "this looks like a binary file (it has a NUL byte); choose UTF-8 text"],
    [Buffer.from("a\nb\n", "utf16le"), "the file is UTF-16"],
    [Buffer.from("a\nb\n", "utf16le").swap16(), "the file is UTF-16"],
    [Buffer.from([0xff, 0xfe, 0x2d, 0x4e, 0x2d, 0x4e]), "the file is UTF-16"],
    [Buffer.from([0x61, 0x0a, 0x62, 0xe9, 0x0a]), "row 2: the file must be UTF-8, and this looks like Windows-1252"],
    [Buffer.from([0x61, 0x0a, 0x62, 0x81, 0x0a]), /^row 2: the file must be UTF-8$/],
    [
      Buffer.from("PK\x03\x04\x14\0\x06\0...[Content_Types].xml", "latin1"),
      "this is an Excel workbook; save it as CSV",
    ],
    [Buffer.from("PK\x03\x04\x14\0\x06\0...items.csv", "latin1"), "this is a ZIP file; upload the CSV file in it"],
    [Buffer.from("d0cf11e0a1b11ae1", "hex"), "this is an old Excel workbook (.xls) or one with a password; save"],
    [Buffer.from("1f8b0800", "hex"), "this is a compressed file"],
    [`a\n${"b".repeat(ROW_MAX_CHARACTERS + 2)}\n`, `row 2: the row is longer than ${ROW_MAX_CHARACTERS} characters`],
    [`a\n"${"b".repeat(ROW_MAX_CHARACTERS + 2)}"\n`, `row 2: the row is longer than ${ROW_MAX_CHARACTERS} characters`],
  ])("rejects a file that cannot be read and names the row (%#)", async (text, message) => {
    await expect(rowsOf(text)).rejects.toThrow(message);
  });

  it("names the row of a byte that isn't UTF-8 wherever it is and however the file is cut", async () => {
    const text = Buffer.from("id,name\n1,Zoë\n2,\uFFFD €\n3,😀");
    expect((await readAll(text, [1])).rows).toHaveLength(4);
    for (let at = 8; at <= text.length; at++) {
      const bytes = Buffer.concat([text.subarray(0, at), Buffer.from([0xff]), text.subarray(at)]);
      const row = text.subarray(0, at).filter((byte) => byte === 0x0a).length + 1;
      for (const size of [1, 3, 64])
        await expect(readAll(bytes, [size])).rejects.toThrow(`row ${row}: the file must be UTF-8`);
    }
    for (const size of [1, 2, 64]) {
      await expect(readAll(text.subarray(0, -1), [size])).rejects.toThrow("row 4: the file must be UTF-8");
    }
  });
});

describe("frames", () => {
  const anyText = fc.string({ unit: "binary", maxLength: 50 }).map((text) => text.replaceAll('"', ","));
  const texts = fc
    .array(fc.record({ step: fc.integer({ min: 1, max: 1000 }), text: anyText }), { maxLength: 60 })
    .map((steps) => {
      let row = 0;
      return steps.map(({ step, text }) => ({ row: (row += step), text }));
    });

  it("give the rows after any row in file order, whatever the pieces are", async () => {
    const writer = new FrameWriter();
    await fc.assert(
      fc.asyncProperty(texts, sizes, fc.nat(3000), async (frames, cut, after) => {
        writer.clear();
        for (const { row, text } of frames) writer.add({ row, raw: Buffer.from(text) });
        const read: Row[] = [];
        for await (const some of readRows(chunked(writer.bytes(), cut), ",", after)) read.push(...some);
        const expected = frames
          .filter(({ row }) => row > after)
          .map(({ row, text }) => ({ row, text, values: cellsOf(text, ","), bytes: 8 + Buffer.byteLength(text) }));
        expect(read).toEqual(expected);
        expect(writer.length).toBe(frames.reduce((sum, { text }) => sum + 8 + Buffer.byteLength(text), 0));
      }),
      { numRuns: 100 },
    );
  });

  it("holds a frame that is larger than its first buffer", async () => {
    const writer = new FrameWriter();
    const raw = Buffer.alloc(300_000, "x");
    writer.add({ row: 7, raw });
    const [rows] = await Array.fromAsync(readRows(chunked(writer.bytes(), [400_000]), ","));
    const text = "x".repeat(300_000);
    expect(rows).toEqual([{ row: 7, text, values: [text], bytes: 300_008 }]);
  });
});
