import { describe, expect, it } from "vitest";
import { problemsOfMapping } from "../../../../lib/uploads/mapping/check-mapping.ts";
import { assertColumns } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import { aliasesOf } from "../../../../apps/importer/proposals/known-choices.ts";
import { findHeaderRow } from "../../../../apps/importer/proposals/find-header.ts";
import { delimitersIn } from "../../../../apps/importer/proposals/find-delimiter.ts";
import { type Proposal, proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";
import { cpuMillisecondsOf } from "../../../support/cpu-time.ts";

const proposalFor = (names: readonly string[], rows: readonly (readonly string[])[]) =>
  proposeMapping({
    names,
    rows,
    delimiter: ",",
    timeZone: "Europe/Berlin",
    isZoneChosen: true,
    now: Date.now(),
  });

const propose = (names: readonly string[], ...rows: readonly (readonly string[])[]) => {
  const proposal = proposalFor(names, rows);
  expect(problemsOfMapping(proposal.mapping)).toEqual([]);
  assertColumns(proposal.mapping, names);
  return proposal;
};
const certaintyOf = ({ columns }: Proposal) => columns.map(({ certainty, reason }) => [certainty, reason]);

describe("a proposed mapping", () => {
  it("knows what other systems call the fields, and what the cells hold", () => {
    const names = ["Ticket ID", "Agent E-Mail", "Ticket Status", "Closed", "Subject", "Price"];
    const proposal = propose(
      names,
      ["1", "ada@example.com", "Open", "?", "Printer", "1"],
      ["2", "ben@example.com", "Closed", "31.05.2023 10:00", "Paper", "2"],
      ["3", "nobody", "Waiting for vendor", "31.02.2023 10:00", "?", "3"],
      ["4", "?", "Closed", "01.06.2023 09:30", "", "4"],
    );
    expect(proposal.mapping).toEqual({
      fields: {
        external_id: { column: "Ticket ID" },
        agent_email: { column: "Agent E-Mail" },
        status: { column: "Ticket Status", values: { Open: "pending", Closed: "completed" } },
        completed_at: { column: "Closed", format: "dd.MM.yyyy HH:mm", time_zone: "Europe/Berlin" },
        "custom_attributes.short_description": { column: "Subject" },
        "custom_attributes.Ticket Status": { column: "Ticket Status" },
        "custom_attributes.Price": { column: "Price", as: "number" },
      },
      others: "custom_attributes",
      empty: ["?"],
    });
    expect(certaintyOf(proposal)).toEqual([
      ["certain", "by name"],
      ["likely", 'by name, but values such as "nobody" aren\'t email addresses that the service accepts'],
      ["certain", "by name"],
      ["certain", "by name and values"],
      ["certain", "by name"],
      ["unknown", ""],
    ]);
  });

  it("leaves a column without a header out, in which each row has a value, and keeps all others by name", () => {
    const names = ["", "Ticket ID", "Team", "Closed"];
    const { mapping } = propose(names, ["0", "T-1", "north", ""], ["1", "T-2", "south", "2023-06-01"]);
    expect(mapping).toEqual({
      fields: {
        external_id: { column: "Ticket ID" },
        completed_at: { column: "Closed", time_zone: "Europe/Berlin" },
        "custom_attributes.Team": { column: "Team" },
      },
      others: "ignore",
    });
    // Delimiters at the ends of rows make columns in which nothing stands.
    expect(propose(["Ticket ID", "Team", ""], ["T-1", "north", ""]).mapping.others).toBe("custom_attributes");
  });

  it("leaves files with our own columns as they are", () => {
    const names = ["external_id", "status", "completed_at", "custom_attributes.Team", "_row", "_error"];
    expect(propose(names, ["1", "in_progress", "2026-01-31T09:30:00Z", "x", "2", ""]).mapping).toEqual({
      fields: {
        external_id: { column: "external_id" },
        status: { column: "status" },
        completed_at: { column: "completed_at" },
        "custom_attributes.Team": { column: "custom_attributes.Team" },
      },
      others: "custom_attributes",
    });
  });

  it.each([
    ["2023-06-01 12:15:36", { time_zone: "Europe/Berlin" }],
    ["2023-06-01T12:15:36+02:00", {}],
    ["06/13/2023 8:15 PM", { format: "MM/dd/yyyy h:mm a", time_zone: "Europe/Berlin" }],
    ["13/06/2023", { format: "dd/MM/yyyy", time_zone: "Europe/Berlin" }],
    ["1685621736", { format: "unix" }],
    ["1685621736000", { format: "unix_ms" }],
    ["1685615400.25", { format: "unix" }],
    ["1685615400250.75", { format: "unix_ms" }],
    ["20240613", { time_zone: "Europe/Berlin" }],
    ["13062024", { format: "ddMMyyyy", time_zone: "Europe/Berlin" }],
    ["202406132015", { format: "yyyyMMddHHmm", time_zone: "Europe/Berlin" }],
    ["20240613201536", { format: "yyyyMMddHHmmss", time_zone: "Europe/Berlin" }],
    ["20240613201536123", { format: "yyyyMMddHHmmssSSS", time_zone: "Europe/Berlin" }],
    ["2024061320", { format: "yyyyMMddHH", time_zone: "Europe/Berlin" }],
    ["240631201536", { format: "ddMMyyHHmmss", time_zone: "Europe/Berlin" }],
  ])("reads %s", (time, expected) => {
    const { mapping } = propose(["Number", "Resolved at"], ["1", time]);
    expect(mapping.fields?.["completed_at"]).toEqual({ column: "Resolved at", ...expected });
  });

  it("takes no column for a time, a status or an address if it holds something else", () => {
    const { mapping } = propose(["Ticket ID", "Closed", "State", "Agent email"], ["1", "yes", "Texas", "no"]);
    expect(mapping).toEqual({ fields: { external_id: { column: "Ticket ID" } }, others: "custom_attributes" });
  });

  it("keeps both of two columns with the same name, the second with a number", () => {
    const names = ["Ticket ID", "Agent", "agent ", "Team", "Team", "Team (2)"];
    const { mapping, columns } = propose(names, ["1", "a", "b", "c", "d", "e"]);
    expect(columns.map(({ column }) => column)).toEqual([
      "Ticket ID",
      "Agent",
      "agent (2)",
      "Team",
      "Team",
      "Team (2)",
    ]);
    expect(mapping.fields?.["agent_name"]).toEqual({ column: "Agent" });
    // No source can say which "Team" is meant.
    expect(mapping.fields?.["custom_attributes.Team (2)"]).toEqual({ column: "Team (2)" });
    expect(mapping.fields?.["custom_attributes.Team"]).toBeUndefined();
    expect(mapping.others).toBe("ignore");
  });

  it("keeps a column under another name whose attribute another one sets", () => {
    const { mapping } = propose(["Ticket ID", "Short description", "short_description"], ["1", "Printer", "Paper"]);
    expect(mapping).toEqual({
      fields: {
        external_id: { column: "Ticket ID" },
        "custom_attributes.short_description": { column: "Short description" },
        "custom_attributes.short_description (2)": { column: "short_description" },
      },
      others: "custom_attributes",
    });
  });

  it.each([
    ["is certain of an id by its name and values", "Id", ["a", "b"], ["certain", "by name and values"]],
    [
      "lets a person look at an id without its name",
      "Ref code",
      ["a", "b"],
      ["likely", "by values: no two are the same"],
    ],
    ["knows no id whose values repeat without its name", "Ref code", ["a", "a"], ["unknown", ""]],
  ])("%s", (_, name, ids, expected) => {
    expect(
      certaintyOf(
        proposalFor(
          [name],
          ids.map((id) => [id]),
        ),
      ),
    ).toEqual([expected]);
  });

  it("takes a column of known status words under any name, and lets a person look", () => {
    const proposal = propose(["Ticket ID", "Phase"], ["1", "Offen"], ["2", "Erledigt"]);
    expect(proposal.mapping.fields?.["status"]).toEqual({
      column: "Phase",
      values: { Offen: "pending", Erledigt: "completed" },
    });
    expect(certaintyOf(proposal)[1]).toEqual(["likely", "by values"]);
  });

  it("lets a person say whether the day or the month comes first, unless a cell shows it", () => {
    const unclear = propose(["Ticket ID", "Closed"], ["1", "01/06/2023"], ["2", "03/06/2023"]);
    expect(certaintyOf(unclear)[1]).toEqual(["likely", "by name and values, but day or month first isn't clear"]);
    const clear = propose(["Ticket ID", "Closed"], ["1", "01/06/2023"], ["2", "03/16/2023"]);
    expect(certaintyOf(clear)[1]).toEqual(["certain", "by name and values"]);
    expect(clear.mapping.fields?.["completed_at"]?.format).toBe("MM/dd/yyyy");
  });

  it.each([
    ['a;"b,c,d,e";f', ";"],
    ["a\tb", "\t"],
    ["a|b|c,d", "|"],
    ["a", ","],
    ["Report, June\n\nid;price\n1;2,5\n2;3,5", ";"],
  ])("finds the delimiter of %j", (header, delimiter) => {
    expect(delimitersIn(header).map((each) => each.delimiter)).toEqual([delimiter]);
  });
});

it.each([
  [2, ["Ticket ID,Agent,,Closed at", "Ticket ID,Name,Email,Closed at", "T-1,Ann,a@x.org,2024-03-01"]],
  [3, ["Report,,,", "Ticket ID,Agent,,Closed at", "Ticket ID,Name,Email,Closed at", "T-1,Ann,a@x.org,2024-03-01"]],
  [1, ["Ticket ID,Agent,Status,Type", "T-1,Ann,Status,call", "T-2,Ann,Open,call"]],
  [1, ["Ticket ID,Agent,,Type", ",Ann,x,Type", "T-2,Ann,,call"]],
  [1, ["T-1,Ann,,", "T-2,Ann,x,7", "T-3,Ann,,"]],
])("finds the header in row %i", (row, lines) => {
  expect(findHeaderRow(lines.map((line) => line.split(",")))).toBe(row);
});

describe("the delimiter of a file that fits several", () => {
  const by = (...lines: readonly string[]): readonly string[] =>
    delimitersIn(lines.join("\n")).map(({ delimiter }) => delimiter);

  it.each([
    [
      ";",
      ["Ticket ID;Agent (Last, First);Customer (Last, First)", "T-1;Lee, Ann;Kunz, Dora", "T-2;Stone, Bob;Roe, Pat"],
    ],
    ["|", ["Ticket ID|Steps; result|Start; end", "T-1|a; b|1; 2", "T-2|c; d|3; 4"]],
    ["\t", ["Status\tNotes, all, of them|x;y", "Open\ta, b, c|d;e", "Closed\tf, g, h|i;j"]],
    [",", ["Report; June, 1", "", '"Ticket ID",Steps; result', "T-1,a; b", "T-2,c; d"]],
  ])("is %j, by which the header has known names", (delimiter, lines) => {
    expect(by(...lines)).toEqual([delimiter]);
  });

  it("is a question where the header says nothing", () => {
    expect(by("One;Two, three", "1;a, b", "2;c, d")).toEqual([",", ";"]);
    expect(by("One|Two;three,four,five", "1|a;b,c,d", "2|e;f,g,h")).toEqual([",", ";", "|"]);
  });
});

it("leaves unknown statuses to a person, those included that are properties of every object", () => {
  expect(aliasesOf("status", ["Open", "On hold", "constructor", "toString"])).toEqual({ values: { Open: "pending" } });
});

it("a date column stays one when many rows share a date and a few hold other texts", () => {
  const rows = Array.from({ length: 200 }, (_, index) => [
    `t-${index}`,
    index % 50 === 7 ? `soon ${index}` : "01.03.2026",
  ]);
  const { mapping } = propose(["Ticket ID", "Closed at"], ...rows);
  expect(mapping.fields?.["completed_at"]).toMatchObject({ column: "Closed at" });
});

it("asks what unknown statuses mean, and whether the first row is a header where it looks like data", () => {
  const names = ["ID", "Status"];
  const { unknownWords, fileDoubt } = propose(names, ["1", "covered"], ["2", "Closed"], ["3", "gap"]);
  expect([unknownWords, fileDoubt]).toEqual([[{ target: "status", words: ["covered", "gap"] }], undefined]);
  const withoutHeader = propose(["www.example.com", "cdn"], ["fonts.example.com", "cdn"], ["ads.example.com", "ad"]);
  expect(withoutHeader.fileDoubt).toMatch(/"cdn" is also a value of its column/);
  for (const [open, close] of ["''", "“”", "„“", "«»"]) {
    const quoted = names.map((name) => `${open}${name}${close}`);
    expect(propose(quoted, [`${open}1${close}`, `${open}Closed${close}`]).fileDoubt).toMatch(
      `the file has ${open} around names, and perhaps around values`,
    );
  }
  expect(propose(["ID", "'Status'"], ["1", "Closed"]).fileDoubt).toBe(undefined);
});

it("asks about a value whose lines look like rows, since a quotation mark may be missing", () => {
  const names = ["ID", "Subject", "Agent", "Status"];
  const rows = Array.from({ length: 6 }, (_, index) => [`T-${index}`, `S ${index}`, "Ann", "Closed"]);
  const doubtOf = (subject: string) => propose(names, ...rows, ["T-6", subject, "Ann", "Closed"]).fileDoubt;
  const doubt = /^a value in row 8 has lines that look like other rows/;
  expect(doubtOf('Screen,Ann,Closed\nT-7,Mouse,Bob,Closed\nT-8,12"')).toMatch(doubt);
  expect(doubtOf("Screen,Ann,Closed\r\nT-7,12")).toMatch(doubt);
  for (const subject of ["Hello,\nT-7, T-8", "Hi,\nsee a, b, c", "Hi\nT-7", "Hi, Ann, Bob\nno, never"]) {
    expect(doubtOf(subject)).toBe(undefined);
  }
});

it("takes a moment for thousands of columns of text", async () => {
  const names = ["Ticket ID", ...Array.from({ length: 5000 }, (_, index) => `Column ${index}`)];
  const row = names.map((_, index) => (index === 0 ? "A-1" : "x"));
  const work = () => proposeMapping({ names, rows: [row], delimiter: ",", timeZone: "UTC", now: Date.now() });
  expect(await cpuMillisecondsOf(work)).toBeLessThan(1000);
});

function proposalOf(headers: readonly (readonly [name: string, cell: string])[]) {
  const names = headers.map(([name]) => name);
  return proposalFor(names, [headers.map(([, cell]) => cell)]);
}

describe("the headers of exports", () => {
  it.each(["Customer Email", "Requester", "Contact", "From", "Client E-Mail", "Kunde", "Reporter", "Caller ID"])(
    "never make an agent of %s",
    (name) => {
      for (const cell of ["dora@example.com", "Dora Kunz", "4711"]) {
        expect(
          proposalOf([
            ["Ticket ID", "1"],
            [name, cell],
          ]).columns[1]?.target,
        ).toBeUndefined();
      }
    },
  );

  it.each([
    ["Handler", "Ann", "agent_name"],
    ["Resolver", "ann@example.com", "agent_email"],
    ["Advisor ID", "7", "agent_external_id"],
    ["Representative", "4711", "agent_external_id"],
    ["Closed by", "Ann", "agent_name"],
    ["handledBy", "Ann", "agent_name"],
    ["Email of the agent", "ann@example.com", "agent_email"],
    ["Bearbeiter", "Ann", "agent_name"],
  ])("make an agent of %s with %s", (name, cell, target) => {
    expect(
      proposalOf([
        ["Ticket ID", "1"],
        [name, cell],
      ]).columns[1],
    ).toMatchObject({ target, certainty: "certain" });
  });

  it("are one person with and without spaces around the name", () => {
    const names = ["Ticket ID", "Agent", "Type"];
    const { mapping } = propose(names, [" 1", "Ann Lee ", "call"], ["2 ", "Ann Lee", "call"]);
    expect(mapping.fields).toEqual({
      external_id: { column: "Ticket ID" },
      agent_name: { column: "Agent", trim: true },
      type: { column: "Type" },
    });
    const split = propose(names.slice(0, 2), ["1", " Ann Lee (ann@x.org)"], ["2", "Bob Stone (bob@x.org)"]);
    expect(split.mapping.fields?.["agent_name"]).toMatchObject({
      trim: true,
      values: { "Ann Lee (ann@x.org)": "Ann Lee" },
    });
  });

  it("never mix two people into one agent", () => {
    const { mapping } = proposalOf([
      ["Ticket ID", "1"],
      ["Closed by ID", "7"],
      ["Assignee", "Ann"],
      ["Owner email", "b@x.y"],
    ]);
    expect(Object.keys(mapping.fields ?? {})).toEqual(["external_id", "agent_name"]);
  });
});
