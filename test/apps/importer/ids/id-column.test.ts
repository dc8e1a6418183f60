import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hidesDigits, shownIds } from "../../../../apps/importer/files/workbook-values.ts";
import { proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";
import { surveyOf } from "../../../../apps/importer/proposals/survey.ts";
import { targetStates } from "../../../../apps/importer/proposals/target-states.ts";

/** What is proposed for the ID of a file: its state, the candidates and the reason. */
function idOf(names: readonly string[], rows: readonly (readonly string[])[], cut: readonly number[] = []) {
  const survey = { ...surveyOf(names, rows, 2), cut };
  const sample = { names, rows: rows.slice(0, 500), survey, delimiter: ",", timeZone: "UTC", now: Date.now() } as const;
  const { state, candidates, reason } = targetStates({ ...sample, ...proposeMapping(sample) })[0]!;
  return [state, candidates.map(({ column }) => column), reason];
}

/** IDs of two systems, and in which rows the second is missing. */
const files = fc
  .uniqueArray(fc.integer({ min: 1000, max: 999_999 }), { minLength: 3, maxLength: 700 })
  .chain((ids) => fc.record({ ids: fc.constant(ids), missing: fc.uniqueArray(fc.nat(ids.length - 1)) }));

test.each(["external_id", "External ID", "Ticket number"])("%s with empty cells is no ID beside a full one", (name) => {
  fc.assert(
    fc.property(files, ({ ids, missing }) => {
      const other = (index: number): string => (missing.includes(index) ? "" : `ORD-${ids[index]! + 7}`);
      const rows = ids.map((id, index) => [other(index), String(id), "open"]);
      const isWhole = missing.length === 0;
      const isFound = isWhole ? name === "Ticket number" : missing.length === ids.length;
      const candidates = isWhole ? [name, "id"] : ["id", name];
      expect(idOf([name, "id", "Status"], rows).slice(0, 2)).toEqual(isFound ? ["found", []] : ["asked", candidates]);
    }),
    { numRuns: 30 },
  );
});

test.each(["Call ID", "InteractionID", "chat_id", "Session ID"])("%s is an ID, as a number may be", (name) => {
  const rows = [10, 11, 27].map((call) => [`https://x.test/${call}`, `1762161245.${call}`, "Done", `T-${call}`]);
  expect(idOf(["Recording", name, "Status", "Agent ID"], rows)).toEqual(["found", [], "by name"]);
  expect(idOf(["Recording", name, "Status", "Number"], rows).slice(0, 2)).toEqual(["asked", ["Number", name]]);
});

test("headings of groups and sums hide no column of IDs between them", () => {
  const groups = ["Ann Lee", "Bob Stone"].flatMap((agent, at) => [
    [agent, "", "", ""],
    ...[1, 2, 3].map((row) => [`40${at}${row}`, `Claim ${row}`, "Open", "2026-05-02"]),
    ["Subtotal", "", "3", ""],
  ]);
  expect(idOf(["Ticket", "Subject", "Status", "Opened"], groups)).toEqual(["asked", ["Ticket"], ""]);
});

test("the values of a column named after an ID are compared in all rows", () => {
  const rows = [...Array.from({ length: 700 }, (_, row) => [`T-${row}`, "Ann"]), ["T-7", "Bob"]];
  const repeated = [{ externalId: "T-7", firstRow: 9, row: 702 }];
  expect(surveyOf(["Ticket ID", "Agent"], rows, 2).ids.get(0)).toMatchObject({ repeatedRows: 1, repeated });
});

test("an ID without a value in some rows is asked about, however late they stand", () => {
  const rows = Array.from({ length: 700 }, (_, row) => [row === 650 ? "" : `T-${row + 1000}`, "open"]);
  expect(idOf(["Ticket ID", "Status"], rows)).toEqual(["asked", ["Ticket ID"], "by name, but 1 row has no ID"]);
});

const WORDS = [
  "\\N",
  "(null)",
  "<nil>",
  "<NA>",
  "undefined",
  "None",
  "[None]",
  "--",
  "(blank)",
  "#REF!",
  "#NAME?",
  "########",
];

test("a word in place of one of the IDs is asked about, and no other", () => {
  fc.assert(
    fc.property(files, fc.constantFrom(...WORDS), fc.nat(), ({ ids }, word, at) => {
      const rows = ids.map((id) => [`T-${id}`, "open"]);
      expect(idOf(["Ticket ID", "Status"], rows)[0]).toBe("found");
      rows[at % rows.length] = [word, "open"];
      const reason = `by name, but 1 row has "${word}" in place of an ID`;
      expect(idOf(["Ticket ID", "Status"], rows)).toEqual(["asked", ["Ticket ID"], reason]);
    }),
    { numRuns: 50 },
  );
});

test("a text and zeros of a number format are part of the ID", () => {
  // A key of three letters may be a currency.
  const number = fc.integer({ min: 1, max: 999_999_999 });
  fc.assert(
    fc.property(
      fc.stringMatching(/^(?:[A-Z]{4,6}|[A-Z]{1,5}[-_])$/),
      fc.integer({ min: 2, max: 12 }),
      number,
      (key, width, id) => {
        const padded = String(id).padStart(width, "0");
        for (const [code, shown] of [
          ["0".repeat(width), padded],
          [`"${key}"${"0".repeat(width)}`, key + padded],
          [`"${key}"0`, `${key}${id}`],
        ] as const) {
          expect(shownIds(code)?.(id)).toBe(shown);
          expect(hidesDigits(164, code)).toBe(false);
        }
        for (const code of ["#,##0", "0.00", "0%", `0" ${key}"`, "General"]) {
          expect([shownIds(code), hidesDigits(164, code)]).toEqual([undefined, false]);
        }
      },
    ),
  );
});

test("numbers of which a workbook doesn't show all digits are asked about as IDs, not as other values", () => {
  const rows = [
    ["1001", "5000"],
    ["1002", "7000"],
  ];
  expect(idOf(["Ticket ID", "Amount"], rows, [1])[0]).toBe("found");
  expect(idOf(["Ticket ID", "Amount"], rows, [0])[2]).toBe(
    "by name, but the workbook doesn't show all of their digits",
  );
});
