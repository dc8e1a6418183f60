import { expect, it } from "vitest";
import { type Proposal, proposeMapping } from "../../../../infra/importer/proposals/propose-mapping.ts";
import { shownQuestion } from "../../../../infra/importer/proposals/propose-time.ts";
import { surveyOf } from "../../../../infra/importer/proposals/survey.ts";
import { createUndatedCount } from "../../../../infra/importer/proposals/undated.ts";

const propose = (names: readonly string[], rows: readonly (readonly string[])[], more: object = {}): Proposal =>
  proposeMapping({ names, rows, delimiter: ",", timeZone: "Europe/Berlin", ...more });
const datesOf = ({ questions = [] }: Proposal) =>
  questions.flatMap((question) => (question.kind === "date" ? [shownQuestion(question)] : []));

const NAMES = ["Ticket ID", "Closed at"];
const rowsOf = (...dates: readonly string[]) => dates.map((date, index) => [`t-${index}`, date]);

it("asks what a real value means that has two readings, or three", () => {
  expect(datesOf(propose(NAMES, rowsOf("05/05/2024", "06/06/2024", "07/07/2024", "08/08/2024", "02/03/2024")))).toEqual(
    ["02/03/2024: 2 March 2024 or February 3, 2024?"],
  );
  expect(datesOf(propose(NAMES, rowsOf("02/03/24 9:10 AM")))).toEqual([
    "02/03/24 9:10 AM: 2 March 2024 or February 3, 2024 or 24 March 2002?",
  ]);
});

it("asks nothing where each reading is the same, or an answer is given", () => {
  expect(datesOf(propose(NAMES, rowsOf("05/05/2024", "06/06/2024")))).toEqual([]);
  const answered = propose(NAMES, rowsOf("02/03/2024"), { dateOrder: "month-first", isZoneChosen: true });
  expect(answered.questions).toEqual([]);
  expect(answered.mapping.fields?.["completed_at"]?.format).toBe("MM/dd/yyyy");
  expect(answered.columns[1]?.certainty).toBe("certain");
});

it("lets a value far below the first rows settle which number is the day", () => {
  const dates = Array.from({ length: 900 }, (_, index) => `0${(index % 9) + 1}/0${(index % 8) + 1}/2024`);
  const all = rowsOf(...dates, "02/13/2024");
  const proposal = propose(NAMES, all.slice(0, 200), { survey: surveyOf(NAMES, all, 2) });
  expect(datesOf(proposal)).toEqual([]);
  expect(proposal.mapping.fields?.["completed_at"]?.format).toBe("MM/dd/yyyy");
});

it("is not certain of a time zone that nobody chose", () => {
  const { columns, questions } = propose(NAMES, rowsOf("2024-03-02 10:00"));
  expect(columns[1]).toMatchObject({ certainty: "likely", reason: "by name and values; its time zone isn't known" });
  expect(questions).toEqual([{ kind: "zone", column: "Closed at", timeZone: "Europe/Berlin" }]);
  expect(propose(NAMES, rowsOf("2024-03-02 10:00"), { isZoneChosen: true }).columns[1]?.certainty).toBe("certain");
  expect(propose(NAMES, rowsOf("2024-03-02T10:00:00Z")).columns[1]?.certainty).toBe("certain");
});

it("takes the first date of all columns that say when an item was completed: closed, solved, resolved, completed", () => {
  const names = ["Ticket ID", "Completed at", "Resolved", "Status", "Solved at", "Closed at", "End date"];
  const { mapping, columns } = propose(
    names,
    [["1", "2024-03-04", "2024-03-03", "Closed", "2024-03-02", "", "2025-01-01"]],
    { isZoneChosen: true },
  );
  expect(mapping.fields?.["completed_at"]).toEqual({
    first_of: ["Solved at", "Resolved", "Completed at"].map((column) => ({ column, time_zone: "Europe/Berlin" })),
  });
  expect(columns[2]).toMatchObject({
    target: "completed_at",
    reason: 'by name and values, where "Solved at" is empty',
  });
});

it("says that a column has dates of several formats, and never keeps it in silence", () => {
  const dates = ["03/04/2024", "4 Mar 2024", "45355", "March 4, 2024 2:00 PM", "2024-03-04T10:00:00Z", "2024-03-04"];
  const { mapping, columns } = propose(NAMES, rowsOf(...dates, ...dates));
  expect(mapping.fields?.["completed_at"]).toMatchObject({ column: "Closed at" });
  expect(columns[1]?.certainty).toBe("likely");
  expect(columns[1]?.reason).toContain('8 of 12 values have another date format, such as "03/04/2024"');
});

it("says so of rows with the other order of day and month, and asks only what a date can mean", () => {
  const [day, month] = [
    ["13/01/2024", "14/02/2024"],
    ["01/13/2024", "02/14/2024"],
  ] as const;
  const apart = propose(NAMES, rowsOf(...day, ...month));
  expect([datesOf(apart), apart.columns[1]?.reason]).toEqual([
    [],
    expect.stringContaining('2 of 4 values have another date format, such as "01/13/2024"'),
  ]);
  const mixed = propose(NAMES, rowsOf(...day, ...month, "02/03/2024"));
  expect(datesOf(mixed)).toEqual(["02/03/2024: 2 March 2024 or February 3, 2024?"]);
  expect(mixed.columns[1]?.reason).toContain("2 of 5 values have another date format");
});

it.each([
  ["Closed date", "Closed time", "14:05"],
  ["Abschlussdatum", "Abschlusszeit", "9:15:00"],
  ["Ticket solved - Date", "Ticket solved - Hour", "14"],
])("says that the time of day of %s is in %s", (date, time, clock) => {
  const { columns } = propose(["Ticket ID", date, time], [["1", "2024-03-02", clock]], { isZoneChosen: true });
  expect(columns[1]?.reason).toBe(`by name and values; the time of day is in "${time}"`);
  const whole = propose(["Ticket ID", date, time], [["1", "2024-03-02 10:00", clock]], { isZoneChosen: true });
  expect(whole.columns[1]?.certainty).toBe("certain");
});

it("counts the rows that are completed at no time", () => {
  const names = ["Ticket ID", "Status", "Closed at"];
  const rows = [
    ["1", "Closed", ""],
    ["2", "Closed", "2024-03-04"],
    ["3", "Open", ""],
  ];
  const { mapping } = propose(names, rows);
  const count = createUndatedCount(mapping, names);
  for (const cells of rows) count.observe({ cells });
  expect(count.rows()).toBe(1);
  // An import skips rows without values, whatever every row gets.
  const { status: _, ...fields } = mapping.fields ?? {};
  const inEveryRow = createUndatedCount({ ...mapping, fields: { ...fields, status: { value: "completed" } } }, names);
  for (const cells of [...rows, ["", "", ""]]) inEveryRow.observe({ cells });
  expect(inEveryRow.rows()).toBe(2);
});

it.each([
  "Total",
  "SUM",
  "Grand total:",
  "Gesamtsumme",
  "Total général",
  "Suma",
  "Total: 30",
  "Grand Totals (30 records)",
])("leaves out a row that begins with %s, where ids are numbers", (word) => {
  const names = ["ID", "Agent", "Hours"];
  const rows = [
    ["1", "Ann", "2"],
    ["2", "Bob", "3"],
    ["", "", ""],
    [word, "", "5"],
  ];
  expect(propose(names, rows).totals).toEqual([{ row: 5, cells: [word, "", "5"] }]);
  const words = [
    ["alpha", "Ann", "2"],
    ["beta", "Bob", "3"],
    [word, "", "5"],
  ];
  expect(propose(names, words).totals).toEqual([]);
});

it("leaves out averages, the header of a second file, and totals beside other rows without digits", () => {
  const names = ["ID", "Agent"];
  const rows = [
    ...Array.from({ length: 40 }, (_, index) => [`${index}`, "Ann"]),
    ["Average", "1"],
    names,
    ["x", "Bob"],
    ["Total", ""],
  ];
  expect(propose(names, rows).totals?.map(({ row }) => row)).toEqual([42, 43, 45]);
  // Also where no column has IDs with digits.
  const words = [["alpha", "Ann"], names, ["beta", "Bob"]];
  const { totals, headerDoubt } = propose(names, words);
  expect([totals, headerDoubt]).toEqual([[{ row: 3, cells: names }], undefined]);
});

it("knows the statuses of the whole file, spellings that differ by case once", () => {
  const head = Array.from({ length: 200 }, (_, index) => [`${index}`, "Closed"]);
  const all = [...head, ["200", "closed"], ["201", "Open"], ["202", "Reopened"], ["203", "REOPENED"]];
  const { mapping, unknownWords } = propose(["Ticket ID", "Status"], head, { survey: surveyOf(NAMES, all, 2) });
  expect(mapping.fields?.["status"]?.values).toEqual({ Closed: "completed", Open: "pending" });
  expect(unknownWords).toEqual([{ target: "status", words: ["Reopened"] }]);
});

it("drops no word that can be a choice: it means nothing where only an id, a person or a date can stand", () => {
  const names = ["Ticket ID", "Assignee", "Priority", "Closed at", "Note"];
  const rows = [
    ["1", "-", "None", "-", "?"],
    ["2", "Nan", "-", "2024-03-04", "#N/A"],
  ];
  const { mapping, keptMarks } = propose(names, rows);
  expect(mapping.empty).toEqual(["?", "#n/a"]);
  expect(mapping.fields?.["agent_name"]).toEqual({ column: "Assignee", values: { "-": "" } });
  expect(mapping.fields?.["completed_at"]).toMatchObject({ column: "Closed at", values: { "-": "" } });
  expect(keptMarks).toEqual([
    { word: "none", columns: ["Priority"] },
    { word: "-", columns: ["Priority"] },
  ]);
});
