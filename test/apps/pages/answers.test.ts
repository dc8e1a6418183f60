import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Answered,
  answersIn,
  localTimesOf,
  type Checked,
  openQuestions,
  unreadTimes,
  withFormat,
  withZone,
} from "../../../apps/pages/browser/upload/file/answers.ts";
import {
  ELSE_COMPLETED,
  KEPT,
  LEFT_OUT,
  rolesOf,
  withMadeId,
  withRole,
  withSource,
} from "../../../apps/pages/browser/upload/file/column-roles.ts";
import { EVENT_NAMES, FIELD_NAMES, inPageWords } from "../../../apps/pages/browser/upload/parts/field-names.ts";
import { firstItems } from "../../../apps/pages/browser/upload/file/first-items.ts";
import {
  keepFile,
  remember,
  rememberedFile,
  rememberedZone,
  withRemembered,
} from "../../../apps/pages/browser/upload/file/remembered.ts";
import { EVENT_FIELD_NAMES, ITEM_FIELD_NAMES } from "../../../lib/uploads/csv/target.ts";
import {
  columnsFor,
  withColumns,
  withNothing,
  withOnly,
  withValue,
} from "../../../apps/pages/browser/upload/file/target-choices.ts";
import { observeTable, readFile, surveyFile, withoutRows } from "../../../apps/pages/browser/upload/file/table-file.ts";
import { shownInLine } from "../../../apps/pages/browser/upload/file/target-texts.ts";
import { questionAbout, questionsLeft } from "../../../apps/pages/browser/upload/file/target-questions.ts";
import { isSameMapping } from "../../../apps/pages/browser/upload/file/compare-mappings.ts";
import { proposeMapping } from "../../../apps/importer/proposals/propose-mapping.ts";
import { totalsIn } from "../../../apps/importer/proposals/survey.ts";
import { targetStates } from "../../../apps/importer/proposals/target-states.ts";

const NOTHING: Checked = new Set();
const UNDECIDED: Omit<Answered, "mapping"> = { checked: NOTHING, decisions: {}, remembered: new Set() };
const open = async (text: string) => {
  const table = await readFile(new File([text], "file.csv"));
  const seen = await surveyFile(table);
  return { table: seen, ...proposeMapping({ ...seen, timeZone: "Asia/Tokyo", now: Date.now() }) };
};
const zonesAsked = (...asked: Parameters<typeof localTimesOf>) =>
  localTimesOf(...asked).map(({ own, isAsked }) => [own, isAsked]);
const kindsOf = (questions: ReturnType<typeof openQuestions>) => questions.map(({ kind, column }) => [kind, column]);

describe("the import page asks", () => {
  test("what dates mean that are joined with their times of day, as of one column", async () => {
    const text = "ID,,Closed date,Closed time\nu1,05/06/2024 9:10 AM,02/03/2024,9:10 AM\n";
    const { table, mapping } = await open(text);
    expect(kindsOf(openQuestions(table, mapping, NOTHING))).toEqual([
      ["date", "Closed date"],
      ["zone", "Closed date"],
    ]);
    const dated = withFormat(table, { ...UNDECIDED, mapping }, "Closed date", "MM/dd/yyyy h:mm a");
    const zoned = withZone(table, dated, "Closed date", "UTC");
    const joined = { columns: ["Closed date", "Closed time"], format: "MM/dd/yyyy h:mm a", time_zone: "UTC" };
    expect(zoned.mapping.fields?.["completed_at"]).toEqual(joined);
    expect(openQuestions(table, zoned.mapping, zoned.checked)).toEqual([]);
    const alone = (...keys: string[]) => withColumns(table, zoned, "completed_at", "completed_at", keys);
    const { mapping: ofDate } = alone("Closed date");
    expect(ofDate.fields).toHaveProperty(["custom_attributes.Closed time"], { column: "Closed time" });
    expect(unreadTimes(table, ofDate)).toEqual([]);
    // A time of day alone can't be read, whatever was decided.
    const clock = alone("Closed time");
    const unread = unreadTimes(table, clock.mapping);
    const [, , , state] = targetStates({ ...table, columns: [], unread, ...clock });
    expect(state).toMatchObject({ state: "asked", reason: '"9:10 AM" is a time of day without its date' });
    const again = withColumns(table, alone("Closed date"), "completed_at", "completed_at", [
      "Closed date\0Closed time",
    ]);
    expect(again.mapping.fields?.["completed_at"]?.columns).toEqual(joined.columns);
    expect(again.mapping.fields).not.toHaveProperty(["custom_attributes.Closed time"]);
  });

  test("what the dates of a column mean that a person chose, and again when it was another in between", async () => {
    const { table, mapping } = await open("Call ID,Stopped,Status\nu1,02/03/2024 9:10 AM,Closed\n");
    const begun: Answered = { ...UNDECIDED, mapping };
    const chosen = withColumns(table, begun, "completed_at", "completed_at", ["Stopped"]);
    expect(kindsOf(openQuestions(table, chosen.mapping, chosen.checked))).toEqual([
      ["date", "Stopped"],
      ["zone", "Stopped"],
    ]);

    const dated = withFormat(table, chosen, "Stopped", "MM/dd/yyyy h:mm a");
    expect(kindsOf(openQuestions(table, dated.mapping, dated.checked))).toEqual([["zone", "Stopped"]]);
    const zoned = withZone(table, dated, "Stopped", "America/New_York");
    expect(zoned.mapping.fields?.["completed_at"]).toEqual({
      column: "Stopped",
      format: "MM/dd/yyyy h:mm a",
      time_zone: "America/New_York",
    });
    const left = withNothing(table, zoned, "completed_at");
    expect([left.mapping, left.decisions.completed_at]).toEqual([mapping, "left"]);
    const again = withColumns(table, left, "completed_at", "completed_at", ["Stopped"]);
    expect(kindsOf(openQuestions(table, again.mapping, again.checked))).toEqual([
      ["date", "Stopped"],
      ["zone", "Stopped"],
    ]);
  });

  test("which column sets a target as long as others could and nothing sets it, whatever was decided before", async () => {
    const { table, mapping, columns } = await open("Ticket ID,Agent,Owner\n1,Ann,Bob\n2,Cid,Dan\n");
    const { names, survey } = table;
    const isAsked = (answered: Answered) => {
      const states = targetStates({ names, survey, columns, ...answered });
      return (
        questionAbout(
          { table, ...answered },
          states.find(({ target }) => target === "agent")!,
        )?.kind === "column"
      );
    };
    const begun: Answered = { ...UNDECIDED, mapping };
    const none = withColumns(table, begun, "agent", "agent_name", []);
    expect([isAsked(begun), isAsked(none)]).toEqual([true, true]);
    const left = withNothing(table, begun, "agent");
    expect([isAsked(left), isAsked({ ...left, mapping })]).toEqual([false, true]);
    expect(isAsked(withOnly(table, left, "agent", ["Owner"]))).toBe(false);
  });

  test("once for all columns of a file, and nothing of a mapping that was used before", async () => {
    const text = "Ticket ID,Closed at,Solved at\n1,02/03/2024,\n2,,04/05/2024\n";
    const { table, mapping } = await open(text);
    expect(openQuestions(table, mapping, NOTHING)).toHaveLength(4);
    expect(zonesAsked(table, { ...UNDECIDED, mapping })).toEqual([["", true]]);
    const dated = withFormat(table, { ...UNDECIDED, mapping }, "Solved at", "MM/dd/yyyy");
    expect(dated.mapping.fields?.["completed_at"]?.first_of?.map(({ format }) => format)).toEqual([
      "MM/dd/yyyy",
      "MM/dd/yyyy",
    ]);
    const zoned = withZone(table, dated, "Closed at", "UTC");
    expect(openQuestions(table, zoned.mapping, zoned.checked)).toEqual([]);
    expect(zonesAsked(table, zoned)).toEqual([["", false]]);
    // A column that is added is read in the same time zone.
    const first = withColumns(table, zoned, "completed_at", "completed_at", ["Closed at"]);
    const tokyo = withZone(table, first, "Closed at", "Asia/Tokyo");
    const added = withColumns(table, tokyo, "completed_at", "completed_at", ["Closed at", "Solved at"]);
    expect(added.mapping.fields?.["completed_at"]?.first_of?.map(({ time_zone: zone }) => zone)).toEqual([
      "Asia/Tokyo",
      "Asia/Tokyo",
    ]);
    expect(kindsOf(openQuestions(table, added.mapping, added.checked))).toEqual([["date", "Solved at"]]);
    expect(openQuestions(table, mapping, answersIn(table, mapping))).toEqual([]);
  });
});

test.each([
  ["Zendesk", "Ticket ID,Subject,Status,Assignee,Type,Solved at"],
  ["Freshdesk", "Ticket ID,Subject,Status,Agent,Type,Closed time"],
  ["Jira", "Issue key,Summary,Status,Assignee,Issue Type,Resolved"],
  ["ServiceNow", "number,short_description,state,assigned_to,category,closed_at"],
  ["a report of Salesforce", "Case Number,Subject,Status,Case Owner,Case Type,Date/Time Closed"],
  ["HubSpot", "Ticket ID,Ticket name,Ticket status,Ticket owner,Category,Close date"],
  ["Intercom", "Conversation ID,Title,Conversation state,Teammate assigned,Type,Last closed at"],
  ["GLPI", "ID,Title,Status,Assigned to - Technician,Category,Closing date"],
  ["Dynamics", "Case Number,Title,Status Reason,Owner,Case Type,Resolved On", "On Hold"],
])("a file of %s takes two answers, or three with an unknown status", async (_, header, status = "Closed") => {
  const { table, mapping, columns } = await open(
    `${header}\n4711,Printer,Closed,Ann Lee,Incident,02/03/2024 20:15\n4712,Paper,${status},Bob Stone,Incident,04/05/2024 09:30\n`,
  );
  const answered: Answered = { ...UNDECIDED, mapping };
  const questions = openQuestions(table, mapping, NOTHING).filter(({ kind }) => kind === "date");
  const states = targetStates({ ...table, columns, questions, ...answered });
  expect(questionsLeft({ table, ...answered }, states)).toBe(status === "Closed" ? 2 : 3);
});

test("a time zone is that of all times of a file, but for those whose headers name another", async () => {
  const { table, mapping } = await open("Ticket ID,Closed at (UTC),Solved at\n1,2024-03-02 10:00,2024-03-02 10:00\n");
  const zonesOf = (from: typeof mapping) => from.fields?.["completed_at"]?.first_of?.map(({ time_zone: zone }) => zone);
  expect(kindsOf(openQuestions(table, mapping, NOTHING))).toEqual([["zone", "Solved at"]]);
  expect(zonesAsked(table, { ...UNDECIDED, mapping })).toEqual([
    ["Closed at (UTC)", false],
    ["", true],
  ]);
  const chosen = withZone(table, { ...UNDECIDED, mapping }, "Solved at", "Europe/Berlin");
  expect(zonesOf(chosen.mapping)).toEqual(["UTC", "Europe/Berlin"]);
  const other = withZone(table, chosen, "Closed at (UTC)", "Asia/Tokyo");
  expect(zonesOf(other.mapping)).toEqual(["Asia/Tokyo", "Europe/Berlin"]);
});

test("each of the columns that complete an item is read, taken away and put behind another by itself", async () => {
  const { table, mapping } = await open("Ticket ID,Closed at,Solved at,Note\n1,2024-03-02,,a\n2,,2024-03-04,b\n");
  const roleOf = (from: typeof mapping, name: string) => rolesOf(table.names, from).find((each) => each.name === name)!;
  const orderIn = (from: typeof mapping) => from.fields?.["completed_at"]?.first_of?.map(({ column }) => column);
  expect([roleOf(mapping, "Solved at").role, orderIn(mapping)]).toEqual(["completed_at", ["Closed at", "Solved at"]]);
  const solved = { column: "Solved at", format: "yyyy-MM-dd" };
  const read = withSource(mapping, "fields", "completed_at", solved);
  expect(read.fields?.["completed_at"]?.first_of?.[1]).toEqual(solved);
  const without = withRole(table.names, mapping, roleOf(mapping, "Closed at"), KEPT);
  expect(without.fields?.["completed_at"]).toEqual({ column: "Solved at", time_zone: "Asia/Tokyo" });
  const behind = withRole(table.names, without, roleOf(without, "Closed at"), ELSE_COMPLETED);
  expect([roleOf(behind, "Closed at").role, orderIn(behind)]).toEqual(["completed_at", ["Solved at", "Closed at"]]);
  expect(behind.fields?.["custom_attributes.Closed at"]).toEqual({ column: "Closed at" });
  const alone = withRole(table.names, behind, roleOf(behind, "Note"), "completed_at");
  expect(rolesOf(table.names, alone).map(({ role }) => role)).toEqual(["external_id", KEPT, KEPT, "completed_at"]);
});

test("a target is made of another column, of a value or of nothing, and its columns before are kept", async () => {
  const { table, mapping } = await open(
    "Ticket ID,Agent,Agent email,Owner\n1,Ann,ann@desk.example,Rep\n2,Bob,bob@desk.example,Rep\n",
  );
  const begun: Answered = { ...UNDECIDED, mapping };
  const roles = (from: Answered) => rolesOf(table.names, from.mapping).map(({ role }) => role);
  const owner = withOnly(table, begun, "agent", ["Owner"]);
  expect(roles(owner)).toEqual(["external_id", KEPT, KEPT, "agent_name"]);
  expect(owner.mapping.others).toBe("custom_attributes");
  const same = withValue(table, owner, "agent", "agent_name", "Desk");
  expect([roles(same), same.mapping.fields?.["agent_name"]]).toEqual([
    ["external_id", KEPT, KEPT, KEPT],
    { value: "Desk" },
  ]);
  const email = withColumns(table, same, "agent", "agent_email", ["Agent email"]);
  expect(Object.keys(email.mapping.fields ?? {})).toEqual(["external_id", "agent_name", "agent_email"]);
  const nothing = withNothing(table, email, "agent");
  expect([roles(nothing), nothing.decisions]).toEqual([["external_id", KEPT, KEPT, KEPT], { agent: "left" }]);
});

test("for what no column is named after, those are offered whose values are dates, few choices or people", async () => {
  const { table, mapping } = await open(
    "Call ID,From,When,Start,Length,Who,Line\n" +
      "1,+44 20 1,01/11/2026,8:14,1,Ann Lee,in\n2,+44 20 2,02/11/2026,9:14,2,Bob Stone,out\n3,+44 20 3,03/11/2026,9:15,3,Ann Lee,in\n",
  );
  const offered = (["status", "completed_at", "agent", "external_id"] as const).map((target) =>
    columnsFor(target, table, mapping).map(({ column }) => column),
  );
  expect(offered).toEqual([["Who", "Line"], ["When"], ["Who", "Line"], []]);
});

test("a subject that is left empty isn't kept as the attribute that is the subject", async () => {
  const { table, mapping } = await open("Ticket ID,short_description\n1,Printer\n2,Paper\n");
  const { mapping: left } = withNothing(table, { ...UNDECIDED, mapping }, "short_description");
  expect(left).toEqual({ fields: { external_id: { column: "Ticket ID" } }, others: "ignore" });
});

describe("what a person decided", () => {
  const kept = new Map<string, string>();
  const api = { name: "desk" };
  beforeEach(() => {
    kept.clear();
    vi.stubGlobal("localStorage", {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, text: string) => kept.set(name, text),
    });
  });
  afterEach(() => void vi.unstubAllGlobals());
  /** A file of calls as it is opened, and what is decided about the first one. */
  const HEADER = "Call,Agent,Agent email,Owner,Outcome\n";
  const FIRST = `${HEADER}c1,Ann,ann@desk.example,Rep One,Won\nc2,Bob,bob@desk.example,Rep Two,Lost\n`;
  const decide = async () => {
    const { table, mapping } = await open(FIRST);
    const id = withColumns(table, { ...UNDECIDED, mapping }, "external_id", "external_id", ["Call"]);
    const owner = withOnly(table, id, "agent", ["Owner"]);
    const typed = withValue(table, owner, "type", "type", "call");
    return { table, decided: withNothing(table, withNothing(table, typed, "status"), "short_description") };
  };
  const reopen = async (text: string) => {
    const { table, mapping } = await open(text);
    return withRemembered(api, table, { ...UNDECIDED, mapping });
  };

  test("is remembered for files with the same columns, without a text of the file", async () => {
    const { table, decided } = await decide();
    remember(api, table, decided);
    expect([...kept.values()].join("")).not.toMatch(/Owner|owner|Call|Rep|ann@/);
    const again = await reopen(FIRST.replace("Owner", " OWNER ").replaceAll(/c(?=\d)/g, "x"));
    expect([...again.remembered]).toEqual(["external_id", "agent", "status", "type", "short_description"]);
    expect(again.mapping.fields).toMatchObject({
      external_id: { column: "Call" },
      agent_name: { column: "OWNER" },
      type: { value: "call" },
    });
    expect(again.decisions).toMatchObject({ status: "left", agent: "as mapped" });
    expect((await reopen(FIRST.replace("Outcome", "Result"))).remembered.size).toBe(0);
    expect(withNothing(table, again, "agent").remembered.has("agent")).toBe(false);
  });

  test("includes what the values of a status mean, also if a later file doesn't have them", async () => {
    const header = "Ticket ID,Status\n";
    const choose = async (rows: string, values: Readonly<Record<string, string>>): Promise<void> => {
      const { table, mapping } = await open(header + rows);
      const status = { column: "Status", values };
      remember(api, table, { ...UNDECIDED, mapping: withSource(mapping, "fields", "status", status) });
    };
    await choose("1,Won\n2,Paused\n3,Open\n4,Closed\n", { Won: "completed", Paused: "", Open: "in_progress" });
    await choose("5,Lost\n6,Closed\n", { Lost: "cancelled" });
    expect([...kept.values()].join("")).not.toMatch(/won|paused|open|lost/i);
    const { mapping } = await reopen(`${header}7,WON\n8,Paused\n9,Open\n10,Lost\n11,Closed\n12,Odd\n`);
    expect(mapping.fields?.["status"]?.values).toEqual({
      WON: "completed",
      Paused: "",
      Open: "in_progress",
      Lost: "cancelled",
      Closed: "completed",
    });
    const other = await reopen(`Ticket ID,State\n7,Won\n8,Closed\n`);
    expect(other.mapping.fields?.["status"]?.values).toEqual({ Closed: "completed" });
  });

  test("about completion dates is remembered with their zone, however it was changed", async () => {
    const fileOf = (dates: string) => `Ticket ID,Status,Resolved time,Closed time\n1,Closed,${dates}\n2,Open,,\n`;
    const { table, mapping } = await open(fileOf("2024-03-02 10:00,2024-03-04 10:00"));
    const begun = withZone(table, { ...UNDECIDED, mapping }, "", "Australia/Sydney");
    for (const more of [[], ["Resolved time"], ["Closed time"]]) {
      const changed = withColumns(table, begun, "completed_at", "completed_at", ["Resolved time", ...more]);
      remember(api, table, changed);
      for (const dates of ["2024-04-02 10:00,2024-04-04 10:00", ","])
        expect((await reopen(fileOf(dates))).mapping).toEqual(changed.mapping);
    }
    keepFile(api, table, { importId: "u1" });
    remember(api, table, { ...begun, mapping: { fields: {} } });
    expect(rememberedFile(api, table)).toMatchObject({ zone: "Australia/Sydney", importId: "u1" });
    expect(rememberedZone(api, (await open(FIRST)).table)).toBe("Australia/Sydney");
  });

  test("isn't remembered if it names a person, or if something else was kept", async () => {
    const { table, decided } = await decide();
    remember(api, table, withValue(table, decided, "agent", "agent_name", "Ann Lee"));
    expect([...kept.values()].join("")).not.toContain("Ann");
    expect((await reopen(FIRST)).remembered.has("agent")).toBe(false);
    for (const text of ["{", "[[1]]", '[["a",{"agent":{"agent_name":{"columns":[-1]}}}]]']) {
      for (const name of kept.keys()) kept.set(name, text);
      expect((await reopen(FIRST)).remembered.size).toBe(0);
    }
  });
});

test("an ID made of columns is for people if few columns are filled in all rows, else a digest", async () => {
  const { table, mapping } = await open("Agent,Day,Note,Code\nAnn,2024-03-02,,A-1\nBob,2024-03-04,b,A\n");
  const idOf = (...columns: string[]) => withMadeId(table, mapping, columns).fields?.["external_id"];
  expect(idOf("Agent", "Day")).toEqual({ columns: ["Agent", "Day"], join: "-" });
  expect(idOf("Agent", "Day", "Note")).toEqual({ columns: ["Agent", "Day", "Note"], digest: true });
  // "A-1" and "2" joined would be "A" and "1-2" joined.
  expect(idOf("Code", "Day")).toEqual({ columns: ["Code", "Day"], digest: true });
});

test("columns of a made ID stay custom attributes whatever else is decided, unless they are left out", async () => {
  const { table, mapping } = await open("Agent,Client,Outcome\nAnn,C 1,Won\nBob,C 2,Lost\n");
  const attributesIn = (from: typeof mapping) => firstItems(table, from)[0]?.made?.input.custom_attributes;
  const roleOf = (from: typeof mapping) => rolesOf(table.names, from)[1]!;
  const whole: Answered = { ...UNDECIDED, mapping: withMadeId(table, mapping, table.names) };
  const status = withOnly(table, whole, "status", ["Outcome"]);
  const nothing = withNothing(table, status, "status");
  expect([whole, status, nothing].map((each) => attributesIn(each.mapping))).toEqual([
    { Client: "C 1", Outcome: "Won" },
    { Client: "C 1" },
    { Client: "C 1", Outcome: "Won" },
  ]);
  const without = withRole(table.names, nothing.mapping, roleOf(nothing.mapping), LEFT_OUT);
  const left = withNothing(table, { ...whole, mapping: without }, "agent").mapping;
  expect([without, left].map(attributesIn)).toEqual([{ Outcome: "Won" }, { Agent: "Ann", Outcome: "Won" }]);
  const ids = { external_id: { column: "Client" } };
  expect(withMadeId(table, { fields: ids, others: "ignore" }, ["Client", "Outcome"], "event").fields).toEqual(ids);
  const back = withRole(table.names, without, roleOf(without), KEPT);
  expect([roleOf(without).role, attributesIn(back)]).toEqual([LEFT_OUT, { Client: "C 1", Outcome: "Won" }]);
});

test("a first row is described once for each problem, and becomes an item without what can't be read", async () => {
  const { table } = await open("Ticket ID,A,B\n,1,1\n1,x,x\n");
  const [A, B] = [{ column: "A", as: "number" } as const, { column: "B", as: "number" } as const];
  const fields = { external_id: { column: "Ticket ID" }, "custom_attributes.A": A, "custom_attributes.B": B };
  const items = firstItems(table, { fields });
  expect(items.map(({ problems }) => problems.length)).toEqual([1, 2]);
  expect([items[0]?.problems, items[1]?.made?.input.external_id]).toEqual([["“Ticket ID”: Must not be empty."], "1"]);
});

test("rows of totals are found beyond the first rows, and are blank when they are left out", async () => {
  const rows = Array.from({ length: 400 }, (_, index) => `${index},Ann\n`).join("");
  const { table, mapping } = await open(`ID,Agent\n${rows}\nTotal,400\n`);
  expect(totalsIn(table.survey, table.names, mapping)).toEqual([{ row: 403, cells: ["Total", "400"] }]);
  // An ID of several columns is compared by its first; a column without a header isn't one.
  const made = await open("ID,Agent,\n1,Ann,\n2,Bob,\n3,Cid,\nTotal,3,x\n");
  const ofSeveral = { fields: { external_id: { columns: ["Agent", "ID"], join: "-" } } };
  expect(totalsIn(made.table.survey, made.table.names, ofSeveral).map(({ row }) => row)).toEqual([5]);
  const without = withoutRows(table, new Set([3, 403]));
  expect(without.rows.slice(0, 3)).toEqual([["0", "Ann"], [""], ["2", "Ann"]]);
  const seen: number[] = [];
  await observeTable(without, () => [{ observe: ({ row }) => seen.push(row) }]);
  expect([seen.length, seen[0], seen[1], seen.at(-1)]).toEqual([399, 2, 4, 401]);
});

test("messages call every field of items and events as the page does", () => {
  for (const name of ITEM_FIELD_NAMES) expect(inPageWords(`${name}: is wrong`)).toBe(`${FIELD_NAMES[name]}: is wrong`);
  for (const name of EVENT_FIELD_NAMES)
    expect(inPageWords(`event.${name}: is wrong`)).toBe(`${EVENT_NAMES[name]}: is wrong`);
  expect(inPageWords('fields.agent_email.values["[None]"]: is wrong')).toBe("Agent’s email, “[None]”: is wrong");
  expect(inPageWords("actor_email: is wrong; type: is wrong")).toBe("Actor’s email: is wrong; Type: is wrong");
});

test("mappings that read the same columns are the same for a file that was imported before", () => {
  const of = (zone: object, format = "dd/MM/yyyy") => ({
    fields: { external_id: { column: "ID" }, completed_at: { first_of: [{ column: "Closed", format, ...zone }] } },
    event: { occurred_at: { columns: ["Day", "Hour"], format, ...zone } },
  });
  expect(isSameMapping(of({ time_zone: "UTC" }), of({ time_zone: "Asia/Tokyo" }))).toBe(true);
  expect(isSameMapping(of({ time_zone: "UTC" }), of({ time_zone: "UTC" }, "MM/dd/yyyy"))).toBe(true);
  const { fields } = of({});
  const kept = { fields: { ...fields, "custom_attributes.Size": { column: "Size", as: "number" as const } } };
  expect(isSameMapping({ fields, others: "ignore" }, kept)).toBe(true);
  const dated = (...columns: string[]) => ({
    fields: { ...fields, completed_at: { first_of: columns.map((column) => ({ column })) } },
  });
  expect(isSameMapping({ fields }, dated("Solved", "closed"))).toBe(true);
  const prefixed = { fields: { ...fields, external_id: { column: "ID", prefix: "x-" } } };
  const other = { fields: { ...fields, external_id: { column: "Number" } } };
  const made = { fields: { ...fields, external_id: { columns: ["ID"], digest: true } } };
  const differing = [prefixed, other, made, dated("Solved")];
  expect(differing.map((mapping) => isSameMapping({ fields }, mapping))).toEqual([false, false, false, false]);
});

test("a column is shown without brackets if those around people are removed, not for statuses in brackets", async () => {
  const { table, mapping } = await open("ID,Status,Agent\nT-1,[closed],[Ann Lee]\nT-2,[closed],[Bob Stone]\n");
  const status = { column: "Status", values: { "[closed]": "completed" } };
  const answered = { ...UNDECIDED, mapping: { ...mapping, fields: { ...mapping.fields, status } } };
  const shown = shownInLine({ table, ...answered });
  expect(shown).toContain("“Agent” without brackets");
  expect(shown).not.toContain("“Status” without brackets");
});
