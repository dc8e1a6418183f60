import * as fc from "fast-check";
import { expect, it } from "vitest";
import { changeRows, withCells, withoutRows } from "../../../../apps/importer/files/change-rows.ts";
import { cellsOf, toCell } from "../../../../lib/uploads/csv/csv-text.ts";

it("a new cell changes one cell of the file and nothing else", async () => {
  const cell = fc.constantFrom<string>("", "v", " v ", 'w"', "x;y", "l\nm");
  const table = fc.record({
    cells: fc.array(cell, { minLength: 1, maxLength: 7 }),
    column: fc.nat(8),
    delimiter: fc.constantFrom<"," | ";">(",", ";"),
  });
  await fc.assert(
    fc.asyncProperty(table, async ({ cells, column, delimiter }) => {
      const lineOf = (values: readonly string[]) => values.map((value) => toCell(value, delimiter)).join(delimiter);
      const change = new Map([[column, 'new "value"']]);
      const texts = ["a\n", `${lineOf(cells)}\r\n`, "b\n"];
      const changed = new Blob(texts)
        .stream()
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(changeRows((row) => (row === 2 ? change : undefined), delimiter));
      const values = withCells(cellsOf(texts[1]!, delimiter), change);
      expect((await Array.fromAsync(changed)).join("")).toBe(texts.with(1, `${lineOf(values)}\r\n`).join(""));
    }),
  );
});

it("rows that are left out become blank lines, so that all others keep their numbers", async () => {
  const file = new Blob(['id,text\n1,"a\nb"\r\n2,c\n3,d']);
  expect(await (await withoutRows(file, new Set([2, 4]), ",")).text()).toBe("id,text\n\r\n2,c\n");
});
