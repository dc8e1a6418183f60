import { expect, it } from "vitest";
import { type Proposal, proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";
import { shownQuestion, shownReading, zoneNamed } from "../../../../apps/importer/proposals/propose-time.ts";
import { surveyOf } from "../../../../apps/importer/proposals/survey.ts";

const propose = (names: readonly string[], rows: readonly (readonly string[])[], more: object = {}): Proposal =>
  proposeMapping({ names, rows, delimiter: ",", timeZone: "Europe/Berlin", now: Date.now(), ...more });
const datesOf = ({ questions = [] }: Proposal) =>
  questions.flatMap((question) => (question.kind === "date" ? [shownQuestion(question)] : []));

const NAMES = ["Ticket ID", "Closed at"];
const rowsOf = (...dates: readonly string[]) => dates.map((date, index) => [`t-${index}`, date]);

it("asks what a real value means that has two readings, or three", () => {
  expect(datesOf(propose(NAMES, rowsOf("05/05/2024", "06/06/2024", "07/07/2024", "08/08/2024", "02/03/2024")))).toEqual(
    ["02/03/2024: 2 Mar 2024 or 3 Feb 2024?"],
  );
  expect(datesOf(propose(NAMES, rowsOf("02/03/24 9:10 AM")))).toEqual([
    "02/03/24 9:10 AM: 2 Mar 2024 or 3 Feb 2024 or 24 Mar 2002?",
  ]);
});

it.each([
  ["Sat, 02 Mar 2024 10:00:00", "EEE, d MMM yyyy HH:mm:ss", ["zone"]],
  ["Sat, 2 Mar 2024 10:00:00 +0100", "EEE, d MMM yyyy HH:mm:ss xx", []],
  ["Saturday, March 2, 2024", "EEEE, MMMM d, yyyy", ["zone"]],
  ["Sat Mar 02 2024 10:00:00 GMT+0000 (GMT)", "EEE MMM d yyyy HH:mm:ss 'GMT'xx '(GMT)'", []],
])("reads dates with the day of the week: %s", (date, format, asked) => {
  const { mapping, questions = [] } = propose(NAMES, rowsOf(date, date));
  expect(mapping.fields?.["completed_at"]).toMatchObject({ column: "Closed at", format });
  expect(questions.map(({ kind }) => kind)).toEqual(asked);
});

it("asks what ten digits are: a date, whichever its order, or seconds since 1970", () => {
  expect(datesOf(propose(NAMES, rowsOf("2406132015", "2406140905")))).toEqual([
    "2406132015: 13 Jun 2024 or 24 Jun 2013?",
  ]);
  const seconds = propose(NAMES, rowsOf("1406132015", "1406140905"), { dateOrder: "unix" });
  expect([seconds.questions, seconds.mapping.fields?.["completed_at"]]).toEqual([
    [],
    { column: "Closed at", format: "unix" },
  ]);
  expect(datesOf(propose(NAMES, rowsOf("1406132015", "1406140905")))[0]).toContain("23 Jul 2014");
  // One that is no date settles it, wherever it is.
  const dates = Array.from({ length: 900 }, (_, index) => `14061320${String(10 + (index % 50))}`);
  const all = rowsOf(...dates, "1685621736");
  const settled = propose(NAMES, all.slice(0, 200), { survey: surveyOf(NAMES, all, 2) });
  expect([settled.questions, settled.mapping.fields?.["completed_at"]?.format]).toEqual([[], "unix"]);
});

it("takes ten digits for an ID where the name says so, and for no time that is in the future", () => {
  const rows = ["4500012345", "4500012346"].map((number) => [number, "Ann"]);
  expect(propose(["Order No", "Agent"], rows).mapping.fields?.["external_id"]).toEqual({ column: "Order No" });
  const past = ["1685621736", "1685621737"].map((number) => [number, "Ann"]);
  expect(propose(["Order No", "Agent"], past).mapping.fields?.["external_id"]).toEqual({ column: "Order No" });
  const [, time] = propose(NAMES, rowsOf("4500012345", "4500012346")).columns;
  expect(time).toMatchObject({
    certainty: "likely",
    reason: 'by name and values, but "4500012345" would be 7 Aug 2112, in the future',
  });
  expect(propose(NAMES, rowsOf("1999-12-31T10:00:00Z")).columns[1]?.reason).toBe(
    'by name and values, but "1999-12-31T10:00:00Z" would be 31 Dec 1999, before 2000',
  );
});

it.each([
  "0000-00-00",
  "0000-00-00 00:00:00",
  "00/00/0000",
  "0001-01-01T00:00:00Z",
  "0001-01-01 00:00:00 +0000 UTC",
  "1/1/0001 12:00:00 AM",
  "1899-12-30",
  "30.12.1899 00:00",
  "12/30/1899",
  "1900-01-00",
  "1900-01-01 00:00:00.000",
  "1970-01-01",
  "1970-01-01T00:00:00Z",
  "1970-01-01T01:00:00+01:00",
  "1969-12-31 19:00",
  "19700101000000",
  "01-Jan-1970",
  "Jan 1, 1970, 12:00 AM",
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "9999-12-31T23:59:59",
  "00:00:00",
])("takes %s for no date, in its column alone, and reads the others", (zero) => {
  const names = ["Ticket ID", "Closed at", "Opened"];
  const rows = [
    ["1", zero, zero],
    ["2", "2024-03-01 10:00:00", zero],
    ["3", zero, zero],
  ];
  const { mapping, columns } = propose(names, rows, { isZoneChosen: true });
  const source = { column: "Closed at", time_zone: "Europe/Berlin", values: { [zero]: "" } };
  expect(mapping.fields?.["completed_at"]).toEqual(source);
  expect([columns[1]?.certainty, mapping.empty]).toEqual(["certain", undefined]);
  const marked = propose(names, [...rows, ["4", "-", ""]], { isZoneChosen: true }).mapping.fields?.["completed_at"];
  expect(marked).toEqual({ ...source, values: { [zero]: "", "-": "" } });
  const none = propose(names, [rows[0]!, rows[2]!], { isZoneChosen: true });
  expect(none.mapping.fields?.["completed_at"]).toEqual(source);
  expect(none.columns[1]?.certainty).toBe("likely");
});

it.each([
  "1970-01-02",
  "1900-03-01",
  "2000-01-01T00:00:00Z",
  "1970-01-01 10:20:00",
  "0001",
  "1899",
  "1969-12-31 19:10",
])("takes %s for a value", (text) => {
  expect(surveyOf(["a"], [[text]], 2).columns[0]?.noDates.size).toBe(0);
});

it("asks about the date that one of the readings puts into the future", () => {
  const { questions } = propose(NAMES, rowsOf("02/03/2024", "04/03/2024"), { now: Date.UTC(2024, 2, 15) });
  expect(questions).toMatchObject([{ kind: "date", example: "04/03/2024" }, { kind: "zone" }]);
  expect(shownReading("02/03/2999", "dd/MM/yyyy")).toBe("2 Mar 2999, in the future");
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

it("lets the dates of another column settle which number is the day, unless they differ, or have dots", () => {
  const formatsBeside = (...opened: readonly string[]) => {
    const rows = opened.map((date, index) => [`t-${index}`, "02/03/2024", date]);
    const { mapping, questions = [] } = propose([...NAMES, "Opened"], rows, { isZoneChosen: true });
    return [mapping.fields?.["completed_at"]?.format, questions.length];
  };
  expect(formatsBeside("01/31/2024")).toEqual(["MM/dd/yyyy", 0]);
  expect(formatsBeside("31/01/2024 10:00")).toEqual(["dd/MM/yyyy", 0]);
  expect(formatsBeside("31/01/2024", "01/31/2024")[1]).toBe(1);
  expect(formatsBeside("31.01.2024")[1]).toBe(1);
});

it("is not certain of a time zone that nobody chose, and knows one by its city", () => {
  expect(["new york", "São Paulo", "Springfield"].map(zoneNamed).join()).toBe("America/New_York,America/Sao_Paulo,");
  const { columns, questions } = propose(NAMES, rowsOf("2024-03-02 10:00"));
  expect(columns[1]).toMatchObject({
    certainty: "likely",
    reason: "by name and values, but its time zone isn't known",
  });
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
  // Dates that may not count are kept too.
  expect(mapping.fields?.["custom_attributes.Resolved"]).toEqual({ column: "Resolved" });
  expect(columns[2]).toMatchObject({
    target: "completed_at",
    reason: 'by name and values, where "Solved at" is empty',
  });
});

it("asks which of two completion dates counts if they are days apart in a row", () => {
  const about = (names: string, row: string) => {
    const [, first] = propose(names.split(","), [row.split(",")], { isZoneChosen: true }).columns;
    return [first?.certainty, first?.reason];
  };
  expect(about("ID,Closed,Resolved", "1,2024-03-12,2024-03-12")).toEqual(["certain", "by name and values"]);
  const but = (other: string) => ["likely", `by name and values, but in one row it is 12 Mar 2024, and ${other}`];
  expect(about("ID,Closed,Resolved", "1,2024-03-12,2024-03-05")).toEqual(but('"Resolved" is 5 Mar 2024'));
  const pairs = about("ID,Closed date,Closed time,Solved date,Solved time", "1,2024-03-12,9:00,2024-03-05,9:30");
  expect(pairs).toEqual(but('"Solved date" + "Solved time" is 5 Mar 2024'));
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
  expect(datesOf(mixed)).toEqual(["02/03/2024: 2 Mar 2024 or 3 Feb 2024?"]);
  expect(mixed.columns[1]?.reason).toContain("2 of 5 values have another date format");
});

it.each([
  ["Closed date", "Closed time", "14:05", "certain", undefined],
  ["Abschlussdatum", "Abschlusszeit", "9:15:00", "certain", "yyyy-MM-dd HH:mm:ss"],
  ["Closed on", "Closed at (time)", "2:05:00 PM", "certain", "yyyy-MM-dd h:mm:ss a"],
  ["Date", "Call end time", "14:05", "likely", undefined],
  ["Datum", "Uhrzeit", "14:05", "likely", undefined],
])("joins %s with %s, where every row has both or none", (date, time, clock, how, format) => {
  const read = (...cells: string[]) =>
    propose(
      ["ID", date, time],
      rowsOf(...cells).map(([id = "", cell = ""]) => [id, ...cell.split("|")]),
      {
        isZoneChosen: true,
      },
    );
  const { columns, mapping } = read(`2024-03-02|${clock}`, "|", "-|N/A");
  const joined = { columns: [date, time], time_zone: "Europe/Berlin", values: { "-": "", "- N/A": "", "N/A": "" } };
  expect(mapping.fields?.["completed_at"]).toEqual({ ...joined, ...(format && { format }) });
  expect(columns.map(({ certainty }) => certainty).slice(1)).toEqual([how, how]);
  // Midnight in all rows is no time of day.
  const days = [["2024-03-02|14"], [`2024-03-02 00:00|${clock}`], [`2024-03-02|${clock}`, "2024-03-02|"]];
  const whole = read(`2024-03-02 10:00|${clock}`);
  expect(whole.mapping.fields?.["completed_at"]?.columns).toBe(undefined);
  for (const apart of days.map((cells) => read(...cells))) {
    expect(apart.mapping.fields?.["completed_at"]?.columns).toBe(undefined);
    const said = how === "certain" ? `by name and values, but the time of day is in "${time}"` : "";
    expect(apart.columns[1]?.reason).toBe(said);
  }
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
  // Where IDs are words, one word may be an ID.
  const words = [
    ["alpha", "Ann", "2"],
    ["beta", "Bob", "3"],
    [word, "", "5"],
  ];
  expect(propose(names, words).totals).toHaveLength(word.includes(" ") ? 1 : 0);
});

const TABLE = ["Ticket ID", "Agent", "Team", "Closed at"];
const ITEMS = [
  ["T-1", "Ann Lee", "north", "2024-03-01"],
  ["T-2", "Bob Stone", "south", ""],
];
it.each([
  ["End of report", "", "", ""],
  ["Generated on 2024-03-31 by Ann", "", "", ""],
  ["Records: 2", "", "", ""],
  ["Records:2", "", "", ""],
  ["EOF", "", "", ""],
  ["", "", "", "Page 1 of 3"],
  ["Exported by:", "Ann Lee", "", ""],
  ["", "Generated By: Ann Lee & Bob Stone", "", ""],
  ["varchar", "varchar(255)", "text", "timestamp without time zone"],
  ["string", "string", "category", "datetime"],
  ["Text", "Text", "Picklist", "Date"],
  ["-----", "---", "-", "-----"],
  ["==========", "", "", ""],
  ["", "Ann Lee Total", "", "5"],
  ["", "north", "Subtotal", "5"],
  ["Subtotal for Ann Lee", "5", "", ""],
  ["(2 rows affected)", "", "", ""],
  ["NOT NULL", "NULL", "NULL", "NULL"],
  ['{"ImportId":"a"}', '{"ImportId":"b"}', '{"ImportId":"c"}', '{"ImportId":"d"}'],
])("names the row %s, %s, %s, %s, wherever it stands", (...cells) => {
  for (const at of [0, 1, 2]) {
    const { totals, mapping } = propose(TABLE, ITEMS.toSpliced(at, 0, cells));
    expect(totals).toEqual([{ row: at + 2, cells }]);
    expect(mapping.fields?.["external_id"]).toEqual({ column: "Ticket ID" });
  }
});

it("takes rows with an ID like the others for items, however little else they have", () => {
  const sparse = [
    ["T-3", "", "", ""],
    ["T-1000", "", "", ""],
    ["T-4", "Total", "", ""],
    ["T-5", "", "", "2024-03-01"],
  ];
  expect(propose(TABLE, [...ITEMS, ...sparse]).totals).toEqual([]);
  expect(propose(["Ticket ID"], [["T-1"], ["T-2"], ["x"]]).totals).toEqual([]);
  expect(propose(["Ticket ID"], [["T-1"], ["T-2"], ["End of report"]]).totals?.map(({ row }) => row)).toEqual([4]);
  const words = [
    ["alpha", "", "", ""],
    ["beta", "", "", ""],
    ["gamma", "", "", ""],
  ];
  expect(propose(TABLE, words).totals).toEqual([]);
  const media = Array.from({ length: 30 }, (_, index) => [`T-${index}`, "Media", "Text", ""]);
  const { totals, mapping } = propose(["Ticket ID", "Channel", "Status", "Note"], media);
  expect([totals, mapping.fields?.["external_id"]]).toEqual([[], { column: "Ticket ID" }]);
});

it.each(["Media server is down", "Total outage", "Count of licences is wrong", "Order total"])(
  "takes a row with the subject %s and without an agent for an item, wherever its ID stands",
  (subject) => {
    const names = ["Ticket ID", "Subject", "Agent", "Status"];
    const all = [
      ...Array.from({ length: 30 }, (_, at) => [`T-${at}`, `Question ${at}`, "Ann", "Open"]),
      ["T-99", subject, "", "Open"],
    ];
    const numbered = all.map(([id = "", ...others]) => [id.slice(2), ...others]);
    const swapped = all.map(([id = "", text = "", ...others]) => [text, id, ...others]);
    expect(propose(names, all).totals).toEqual([]);
    expect(propose(names, numbered).totals).toEqual([]);
    expect(propose(["Subject", "Ticket ID", "Agent", "Status"], swapped).totals).toEqual([]);
    expect(propose(names, [...all, ["SUM", "", "", "30"]]).totals?.map(({ row }) => row)).toEqual([33]);
  },
);

it("finds notes at the end of a long file with few values, and subtotals in it, however many there are", () => {
  const sparse = Array.from({ length: 5000 }, (_, index) => [`T-${index}`, "", "", ""]);
  const end = ["End of report", "", "", ""];
  expect(propose(TABLE, sparse.slice(0, 200), { survey: surveyOf(TABLE, [...sparse, end], 2) }).totals).toEqual([
    { row: 5002, cells: end },
  ]);
  const grouped = Array.from({ length: 500 }, (_, index) => [ITEMS[0]!, ["", "Ann Lee Total", "", `${index}`]]).flat();
  expect(propose(TABLE, grouped.slice(0, 200), { survey: surveyOf(TABLE, grouped, 2) }).totals).toHaveLength(500);
});

it("leaves out sums beside a count, where other values are missing that all items have", () => {
  const names = ["Case Owner", "Case Number", "Status"];
  const rows = [
    ["Bob", "00000001", "Closed"],
    ["", "00000002", "Closed"],
    ["Subtotal", "2", ""],
    ["Grand Total", "2", ""],
  ];
  expect(propose(names, rows).totals?.map(({ row }) => row)).toEqual([4, 5]);
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
  const { totals, fileDoubt } = propose(names, words);
  expect([totals, fileDoubt]).toEqual([[{ row: 3, cells: names }], undefined]);
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
  const { mapping } = propose(names, rows);
  expect(mapping.empty).toEqual(["?", "#n/a"]);
  expect(mapping.fields?.["agent_name"]).toEqual({ column: "Assignee", values: { "-": "" } });
  expect(mapping.fields?.["completed_at"]).toMatchObject({ column: "Closed at", values: { "-": "" } });
  expect(mapping.others).toBe("custom_attributes");
});
