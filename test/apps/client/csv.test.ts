import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { failedRowsIn } from "../../../apps/client/csv.ts";
import { createReportWriter } from "../../../lib/uploads/files/row-list.ts";

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
