import { expect, test } from "vitest";
import { ApiError } from "../../../apps/client/api-error.ts";
import { shownReading } from "../../../apps/importer/proposals/propose-time.ts";
import { sentenceOf } from "../../../apps/pages/browser/upload/parts/api.ts";
import { checkRows } from "../../../apps/pages/browser/upload/file/check-rows.ts";
import { shownField } from "../../../apps/pages/browser/upload/parts/field-names.ts";
import { shownAgo, shownTime } from "../../../apps/pages/browser/upload/parts/shown.ts";
import { readFile, withoutRows } from "../../../apps/pages/browser/upload/file/table-file.ts";
import { WORK_ITEM_FIELDS } from "../../../lib/work-items/work-item-fields.ts";

test("a moment is told by how long ago it was, and after a month as it is", () => {
  const now = Date.parse("2024-03-04T20:00:00.000Z");
  const ago = (seconds: number): string => shownAgo(new Date(now - seconds * 1000).toISOString(), now);
  // The clock of the service may be ahead.
  expect([-5, 59, 60, 7199, 86_400, 30 * 86_400].map(ago)).toEqual([
    "just now",
    "just now",
    "1 minute ago",
    "1 hour ago",
    "yesterday",
    "30 days ago",
  ]);
  expect(ago(31 * 86_400)).toBe(shownTime("2024-02-02T20:00:00.000Z"));
});

test("dates are written in one style, also where a question asks which date it is", () => {
  expect(shownTime("2024-03-04T20:00:00.000Z", "UTC")).toBe("4 Mar 2024, 20:00");
  expect(shownTime("2024-03-04T20:00:00.000Z", "Asia/Tokyo")).toBe("5 Mar 2024, 05:00");
  expect(shownTime(null)).toBe("");
  expect(["MM/dd/yyyy", "dd/MM/yyyy"].map((format) => shownReading("03/04/2024", format))).toEqual([
    "4 Mar 2024",
    "3 Apr 2024",
  ]);
  const completed = "2024-03-04T20:00:00.000Z";
  expect(shownField(WORK_ITEM_FIELDS.completed_at, completed)).toBe(shownTime(completed));
});

test("messages have one style of quotes, wherever they come from", () => {
  expect(sentenceOf(new Error('This workbook isn\'t readable: see "Sheet 1".'))).toBe(
    "This workbook isn’t readable: see “Sheet 1”.",
  );
  const refusal = new ApiError(403, { error: "this API key lacks the scope read" }, null);
  expect(sentenceOf(refusal)).toBe(
    "This key isn’t allowed to do that: this API key lacks the scope read. Use another key.",
  );
});

test("the first rows are counted without blank rows, and without those left out", async () => {
  const text = "ID,Closed\na,soon\nb,2024-03-04T09:00:00Z\n,\nc,later\n-,-\nTotal,\n";
  const table = withoutRows(await readFile(new File([text], "rows.csv")), new Set([7]));
  const mapping = {
    fields: { external_id: { column: "ID" }, completed_at: { column: "Closed" } },
    empty: ["-"],
  };
  expect(checkRows(table, mapping)).toEqual({
    problem: undefined,
    rows: 3,
    failed: 2,
    example: expect.stringContaining("“soon” isn’t"),
  });
});
