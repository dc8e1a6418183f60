import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdTable } from "../../../../apps/importer/ids/id-table.ts";
import { type FileRow, idsOf, readIds, RepeatedIds } from "../../../../apps/importer/ids/repeated-ids.ts";
import { observeRows } from "../../../../apps/importer/files/whole-file.ts";
import { readCsv } from "../../../../lib/uploads/csv/csv-reader.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";

/** Bytes in pieces of a size. */
const inPieces = (bytes: Uint8Array<ArrayBuffer>, size: number): ReadableStream<Uint8Array<ArrayBuffer>> =>
  ReadableStream.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size)),
  );

const rowsOf = async (file: ReadableStream<Uint8Array>, options: Partial<Parameters<typeof observeRows>[1]> = {}) => {
  const rows: FileRow[] = [];
  let names: readonly string[] | undefined;
  const isWhole = await observeRows(file, { delimiter: ",", headerRow: 1, ...options }, (header) => {
    names = header;
    return [{ observe: (row) => rows.push(row) }];
  });
  return { names, rows, isWhole };
};

/** The rows that the service reads; undefined if it can't. */
const readByService = async (bytes: Buffer): Promise<FileRow[] | undefined> => {
  const rows: FileRow[] = [];
  try {
    for await (const { records } of readCsv(Readable.from([bytes]))) {
      rows.push(...records.map((record) => ({ row: record.row, cells: record.cells() })));
    }
    return rows;
  } catch {
    return undefined;
  }
};

describe("a whole file", () => {
  it("is shown row by row as the service reads it, however it is cut", async () => {
    const character = fc.constantFrom("a", '"', '""', ",", "\n", "\r\n", " ", "é", "😀");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: character, maxLength: 40 }), fc.nat(8), async (text, size) => {
        const bytes = Buffer.from(`\uFEFFh\n${text}`);
        const { names, rows, isWhole } = await rowsOf(inPieces(bytes, size + 1));
        // Of a file that the service can't read, rows are shown until one can't be read.
        const all = isWhole ? [{ row: 1, cells: names }, ...rows] : undefined;
        expect(all).toEqual(await readByService(bytes));
      }),
    );
  });

  it("lets other tasks run while it is read, even if all of it is ready at once", async () => {
    const lines = ["id", ...Array.from({ length: 8000 }, (_, index) => `${index}${"x".repeat(60)}`)];
    let tasks = 0;
    const timer = setInterval(() => tasks++, 0);
    const work = (): void => {
      for (const until = performance.now() + 0.02; performance.now() < until;);
    };
    await observeRows(inPieces(Buffer.from(lines.join("\n")), 2 ** 20), { delimiter: ",", headerRow: 1 }, () => [
      { observe: work },
    ]);
    clearInterval(timer);
    expect(tasks).toBeGreaterThan(1);
  });

  it("has a header below other lines, and its reading can be ended", async () => {
    const text = Buffer.from("Title\n\nid\na\n\nb\n");
    expect(await rowsOf(inPieces(text, 3), { headerRow: 3 })).toEqual({
      names: ["id"],
      rows: [
        { row: 4, cells: ["a"] },
        { row: 6, cells: ["b"] },
      ],
      isWhole: true,
    });
    expect(await rowsOf(inPieces(text, 3), { headerRow: 3, bytesMax: 12 })).toMatchObject({ isWhole: false });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(rowsOf(inPieces(text, 3), { signal })).rejects.toThrow("enough");
    // One cell without an end must not fill the memory.
    let sent = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        controller.enqueue(Buffer.from(sent === 1 ? 'id\n"' : "x".repeat(65_536)));
      },
    });
    expect(await rowsOf(endless)).toMatchObject({ rows: [], isWhole: false });
    expect(sent).toBeLessThan(25);
  });
});

describe("repeated IDs", () => {
  it("are found as by a map, in a table of any size", () => {
    const id = fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: 0, max: 500 }).map(String));
    fc.assert(
      fc.property(fc.array(id, { maxLength: 3000 }), (ids) => {
        const [table, known] = [new IdTable(), new Map<string, number>()];
        for (const [index, each] of ids.entries()) {
          expect(table.firstRow(each, index + 1)).toBe(known.get(each));
          if (!known.has(each)) known.set(each, index + 1);
        }
      }),
      { numRuns: 50 },
    );
    const table = new IdTable();
    const rows = Array.from({ length: 200_000 }, (_, index) => index + 1);
    expect(rows.filter((row) => table.firstRow(`CASE-${row}`, row) !== undefined)).toEqual([]);
    expect([table.firstRow("CASE-7", 1), table.firstRow("CASE-200000", 1)]).toEqual([7, 200_000]);
  });

  it("are counted, and the first ten named once each; beyond the limit it says so", () => {
    const ids = new RepeatedIds(([id = ""]) => id);
    for (let row = 1; row <= 60; row++) ids.observe({ row, cells: [row > 58 ? "" : String(row % 12)] });
    const { repeatedRows, repeated, isComplete } = ids.findings;
    expect([repeatedRows, repeated.length, isComplete]).toEqual([46, 10, true]);
    expect(repeated[0]).toEqual({ externalId: "1", firstRow: 1, row: 13 });
    const small = new RepeatedIds(([id = ""]) => id, undefined, 2);
    for (const [index, id] of ["a", "b", "c", "a"].entries()) small.observe({ row: index + 1, cells: [id] });
    expect(small.findings).toMatchObject({ repeatedRows: 1, isComplete: false });
  });

  it.each([
    ["T-1 ", "spaces around it"],
    ["\uFEFFT-1", "spaces around it"],
    ["\u200BT-1", "a character that can't be seen (U+200B)"],
    ["T\u00AD-1", "a character that can't be seen (U+00AD)"],
    ["T-1\u2060", "a character that can't be seen (U+2060)"],
    ["T-\uFEFF1", "a character that can't be seen (U+FEFF)"],
    ["T\u200E-1", "a character that can't be seen (U+200E)"],
    ["T\u00A01", "a character that can't be seen (U+00A0)"],
    ["T\t1", "a character that can't be seen (U+0009)"],
    ["T 1", undefined],
    ["Größe-東京", undefined],
  ])("aren't all that is odd: %j is named in any row", (externalId, oddity) => {
    const ids = new RepeatedIds(([id = ""]) => id);
    for (let row = 2; row < 1000; row++) ids.observe({ row, cells: [`T-${row}`] });
    ids.observe({ row: 1000, cells: [externalId] });
    expect(ids.findings).toMatchObject(
      oddity === undefined ? { oddRows: 0, odd: [] } : { oddRows: 1, odd: [{ row: 1000, externalId, oddity }] },
    );
  });

  it("are those that the mapping makes, whatever it makes of other columns", () => {
    const repeatedIn = (mapping: Mapping, names: readonly string[], ...rows: (readonly string[])[]) => {
      const ids = idsOf(mapping, names);
      for (const [index, cells] of rows.entries()) ids?.observe({ row: index + 2, cells });
      return ids?.findings.repeated.map(({ externalId }) => externalId);
    };
    const fields = { external_id: { columns: ["a", "A (2)"], join: "/" }, status: { column: "nowhere" } };
    const names = ["_row", "a", "a"];
    expect(repeatedIn({ fields }, names, ["1", "x", "y"], ["2", "x", "z"], ["3", "x", "y"])).toEqual(["x/y"]);
    const empty: Mapping = { fields: { external_id: { column: "a" } }, empty: ["-"] };
    expect(repeatedIn(empty, ["a"], ["-"], ["-"], ["b"], ["b"])).toEqual(["b"]);
    expect(repeatedIn({ fields: { external_id: { column: "b" } } }, ["a"])).toBeUndefined();
  });

  it("are judged while a file is read", async () => {
    const external_id = { column: "a" };
    const read = readIds(
      async (begin) => {
        const [ids] = begin(["a"]);
        for (const [index, id] of ["'7", "'7", "'8"].entries()) ids?.observe({ row: index + 2, cells: [id] });
        return true;
      },
      { fields: { external_id } },
    );
    expect(await read).toMatchObject({ wrapping: { name: "an apostrophe" }, repeatedRows: 1, isComplete: true });
  });

  it("that have outer spaces are counted, and compared without them once the mapping trims them", () => {
    const found = (trim: boolean) => {
      const ids = idsOf({ fields: { external_id: { column: "a", trim } } }, ["a"]);
      for (const [index, id] of ["7", " 7", "7 ", "8", "9\u200B"].entries())
        ids?.observe({ row: index + 2, cells: [id] });
      const { oddRows, spacedRows, repeatedRows } = ids!.findings;
      return { oddRows, spacedRows, repeatedRows };
    };
    expect(found(false)).toEqual({ oddRows: 3, spacedRows: 2, repeatedRows: 0 });
    expect(found(true)).toEqual({ oddRows: 1, spacedRows: 0, repeatedRows: 2 });
  });
});
