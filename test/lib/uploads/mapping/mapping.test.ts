import { describe, expect, it } from "vitest";
import { assertMapping, formatOf } from "../../../../lib/uploads/mapping/file-format.ts";
import { cellsOf } from "../../../../lib/uploads/csv/csv-text.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { problems } from "./mapping-problems.ts";

const ID = { column: "Ticket ID" } as const;

/** Reads the rows of a file by a mapping. */
const read = (mapping: Mapping, header: string, ...rows: readonly string[]) => {
  assertMapping(mapping);
  const { delimiter, reader } = formatOf(header, mapping);
  return rows.map((row) => {
    const reading = reader.read(cellsOf(row, delimiter));
    return "input" in reading ? reading.input : reading.error;
  });
};
/** Reads one cell as a custom attribute. */
const attribute = (cell: string, source: Omit<Mapping["fields"] & object, never>[string], decimal: "." | "," = ".") => {
  const mapping: Mapping = { fields: { external_id: ID, "custom_attributes.x": source }, decimal, delimiter: ";" };
  const [input] = read(mapping, "Ticket ID;X", `1;${cell}`);
  return "message" in input! ? input : input!.custom_attributes?.["x"];
};

describe("a mapping", () => {
  it("makes items of another system's columns", () => {
    const mapping: Mapping = {
      fields: {
        external_id: ID,
        agent_email: { column: " customer EMAIL " },
        type: { value: "ticket" },
        status: { column: "Status", values: { Open: "pending", " CLOSED": "completed" }, otherwise: "in_progress" },
        completed_at: { columns: ["Date", "Time"], join: " ", format: "dd.MM.yyyy HH:mm", time_zone: "Europe/Berlin" },
        "custom_attributes.Preis": { column: "Preis", as: "number" },
      },
      others: "custom_attributes",
      empty: ["?", "null"],
      delimiter: ";",
      decimal: ",",
    };
    expect(
      read(
        mapping,
        "\uFEFFTicket ID;Customer Email;STATUS;Date;Time;Preis; Farbe ",
        "1;ada@example.com;open ;01.06.2023;12:15;1234,50;rot",
        "2;?;Closed;;;NULL; Null ",
        '3;;Wartet;01.06.2023;00:00;;"; ""blau"""',
      ),
    ).toEqual([
      {
        external_id: "1",
        agent_email: "ada@example.com",
        type: "ticket",
        status: "pending",
        completed_at: "2023-06-01T10:15:00.000Z",
        custom_attributes: { Preis: JSON.rawJSON("1234.50"), Farbe: "rot" },
      },
      { external_id: "2", type: "ticket", status: "completed" },
      {
        external_id: "3",
        type: "ticket",
        status: "in_progress",
        completed_at: "2023-05-31T22:00:00.000Z",
        custom_attributes: { Farbe: '; "blau"' },
      },
    ]);
  });

  it("makes an ID of a whole row that is short, and another one if a value is in another column", () => {
    const idsOf = (columns: string[], header: string, ...rows: string[]) =>
      read({ fields: { external_id: { columns, digest: true } }, empty: ["?"], others: "ignore" }, header, ...rows).map(
        (each) => (each as { readonly external_id?: string }).external_id,
      );
    const long = "x".repeat(2000);
    const [first, moved, same, other] = idsOf(["A", "B", "C"], "A,B,C", "a,,b", "a,b,", " a ,?,b", `${long},,b`);
    expect([first, moved, other]).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ]);
    expect(new Set([first, moved, same, other]).size).toBe(3);
    expect(same).toBe(first);
    // The next export may have its columns in another order, and one more that is empty.
    expect(idsOf(["D", "c", "B", "A"], "D,C,B,A", ",b,,a")).toEqual([first]);
    expect(new Set(idsOf(["A", "B"], "A,B", '"a"",""b",c', 'a,"b"",""c"')).size).toBe(2);
  });

  it("makes an event of each row", () => {
    const mapping: Mapping = {
      fields: { external_id: { column: "number" } },
      event: {
        external_id: { columns: ["number", "count"], join: "-" },
        actor_name: { column: "by" },
        content: { column: "state" },
        occurred_at: { column: "at", format: "unix" },
      },
    };
    expect(read(mapping, "number,count,by,state,at", "A,1,Ada,New,1685621736", "A,2,,,", ",,Bob,,")).toMatchObject([
      {
        external_id: "A",
        events: [{ external_id: "A-1", actor_name: "Ada", content: "New", occurred_at: "2023-06-01T12:15:36.000Z" }],
      },
      { external_id: "A", events: [{ external_id: "A-2" }] },
      {
        message:
          "external_id: must not be empty (column number); event.external_id: must not be empty (column number, count)",
      },
    ]);
  });

  it("takes the first of several sources that is not empty, with its own format", () => {
    const mapping: Mapping = {
      fields: {
        external_id: ID,
        completed_at: {
          first_of: [
            { column: "Closed", format: "unix" },
            { first_of: [{ column: "Resolved", values: { never: "" } }, { column: "Opened" }] },
          ],
        },
        type: { first_of: [{ column: "Kind", values: { "-": "" } }, { value: "ticket" }] },
      },
    };
    const header = "Ticket ID,Closed,Resolved,Opened,Kind";
    const times = read(
      mapping,
      header,
      "1,1685621736,2023-01-01T00:00Z,,-",
      "2,,2023-01-02T00:00Z,2023-01-01T00:00Z,call",
      "3,,Never,2023-01-01T00:00Z,",
      "4,,,,",
    );
    expect(times).toEqual([
      { external_id: "1", completed_at: "2023-06-01T12:15:36.000Z", type: "ticket" },
      { external_id: "2", completed_at: "2023-01-02T00:00:00.000Z", type: "call" },
      { external_id: "3", completed_at: "2023-01-01T00:00:00.000Z", type: "ticket" },
      { external_id: "4", type: "ticket" },
    ]);
  });

  it("leaves cells as they are", () => {
    expect(attribute("  a  b ", { column: "x" })).toBe("  a  b ");
    expect(attribute("open ", { column: "x", values: { closed: "c" } })).toBe("open ");
  });

  it("leaves empty cells out when it joins", () => {
    const mapping: Mapping = { fields: { external_id: ID, agent_name: { columns: ["First", "Last"] } } };
    const names = read(mapping, "Ticket ID,First,Last", "1,Ada,Lovelace", "2,,Lovelace", "3,Ada,", "4,,");
    expect(names).toMatchObject([
      { agent_name: "Ada Lovelace" },
      { agent_name: "Lovelace" },
      { agent_name: "Ada" },
      { external_id: "4" },
    ]);
  });

  it("takes a cell as empty before its alias, the alias before all others, and converts what is left", () => {
    const closed = {
      column: "Closed",
      values: { "?": "2023-01-01", yesterday: "02.01.2023", never: "" },
      otherwise: "03.01.2023",
      format: "dd.MM.yyyy",
      time_zone: "UTC",
    };
    const mapping: Mapping = {
      fields: { external_id: ID, completed_at: { ...closed, values: { ...closed.values, "?": "01.01.2023" } } },
      empty: ["?"],
    };
    expect(
      read(mapping, "Ticket ID,Closed", "1, ? ", "2,Yesterday ", "3,never", "4,04.01.2023", "5,").map((input) =>
        "completed_at" in input ? input.completed_at : undefined,
      ),
    ).toEqual([undefined, "2023-01-02T00:00:00.000Z", undefined, "2023-01-03T00:00:00.000Z", undefined]);
    // What an alias becomes is checked with the mapping.
    expect(problems({ fields: { external_id: ID, completed_at: closed } })).toBe(
      'upload.mapping.fields.completed_at.values["?"]: "2023-01-01" doesn\'t match the format dd.MM.yyyy',
    );
  });

  it("reads every field of items and events", () => {
    const names = ["agent_email", "agent_name", "agent_external_id", "type", "status", "completed_at"];
    const events = ["actor_email", "actor_name", "actor_external_id", "content", "occurred_at"];
    const sourcesOf = (all: readonly string[]) => Object.fromEntries(all.map((name) => [name, { column: name }]));
    const mapping: Mapping = {
      fields: { external_id: ID, ...sourcesOf(names) },
      event: { external_id: ID, ...sourcesOf(events) },
    };
    const time = "2023-06-01T12:15:36.000Z";
    const cells = [
      "1",
      "a@example.com",
      "Ada",
      "a-1",
      "call",
      "pending",
      time,
      "b@example.com",
      "Ben",
      "b-1",
      "text",
      time,
    ];
    const [, ...values] = cells;
    const valuesOf = (all: readonly string[], from: number) =>
      Object.fromEntries(all.map((name, index) => [name, values[from + index]]));
    expect(read(mapping, ["Ticket ID", ...names, ...events].join(","), cells.join(","))).toEqual([
      {
        external_id: "1",
        ...valuesOf(names, 0),
        events: [{ external_id: "1", ...valuesOf(events, names.length) }],
      },
    ]);
  });

  it("reads custom attributes as JSON, and single ones over it", () => {
    const fields = { external_id: ID, custom_attributes: { column: "More" }, "custom_attributes.a": { value: "1" } };
    const [input] = read({ fields, delimiter: "|" }, "Ticket ID|More", '1|"{""a"":2,""b"":[3]}"');
    expect(input).toEqual({ external_id: "1", custom_attributes: { a: "1", b: [3] } });
  });

  it.each([
    ["9007199254740993", "number", "9007199254740993"],
    [" -007.50 ", "number", "-7.50"],
    ["+1e3", "number", "1e3"],
    ["12", "number", "12"],
    ["TRUE", "boolean", "true"],
    ["Yes", "boolean", "true"],
    ["1", "boolean", "true"],
    ["false", "boolean", "false"],
    ["no ", "boolean", "false"],
    [" 0", "boolean", "false"],
    ["[1.0]", "json", "[1.0]"],
    ["null", "json", "null"],
    ["7", "text", '"7"'],
  ] as const)("reads %j as %s", (cell, as, json) => {
    expect(JSON.stringify(attribute(cell, { column: "x", as }))).toBe(json);
  });

  it.each([
    ["1,234.5", "number", '"1,234.5" isn\'t a number; use the decimal mark "." and no thousands separators (column X)'],
    ["0x10", "number", '"0x10" isn\'t a number'],
    ["maybe", "boolean", '"maybe" isn\'t one of true, yes, 1, false, no, 0'],
    ["{", "json", '"{" isn\'t valid JSON'],
  ] as const)("does not read %j as %s", (cell, as, message) => {
    expect(attribute(cell, { column: "x", as })).toEqual({
      message: expect.stringContaining(`custom_attributes.x: ${message}`),
      column: "X",
      value: cell,
      code: "invalid_format",
    });
  });

  it("reads numbers with a decimal comma", () => {
    expect(attribute("1,5", { column: "x", as: "number" }, ",")).toBe(1.5);
    expect(attribute("1.5", { column: "x", as: "number" }, ",")).toMatchObject({
      message: expect.stringContaining('isn\'t a number; use the decimal mark ","'),
    });
  });

  it("names all problems of a row, and column, value and code of the first", () => {
    const mapping: Mapping = {
      fields: {
        external_id: ID,
        agent_email: { column: "Mail" },
        completed_at: { columns: ["Day", "Hour"], format: "dd/MM/yyyy HH:mm", time_zone: "UTC" },
      },
      others: "ignore",
    };
    const [error, ragged] = read(mapping, "Ticket ID,Mail,Day,Hour,More", "1,nobody,31/02/2023,10:00,", "2,");
    expect(error).toEqual({
      message:
        'completed_at: "31/02/2023 10:00" doesn\'t match the format dd/MM/yyyy HH:mm (column Day, Hour); ' +
        "agent_email: must be an email address (column Mail)",
      column: "Day, Hour",
      value: "31/02/2023 10:00",
      code: "invalid_format",
    });
    expect(ragged).toEqual({
      message: "the row has 2 values but the header has 5",
      column: "",
      value: "",
      code: "invalid",
    });
  });

  it("makes no row larger than a row may be", () => {
    const column = { column: "X" };
    const names = Array.from({ length: 50 }, (_, index) => [`custom_attributes.x${index}`, column] as const);
    const mapping: Mapping = { fields: { external_id: ID, ...Object.fromEntries(names) } };
    expect(read(mapping, "Ticket ID,X", `1,${"x".repeat(100_000)}`)).toEqual([
      { message: "the mapped row is longer than 1048576 characters", column: "", value: "", code: "too_big" },
    ]);
  });

  it.each(["custom_attributes", "refuse"] as const)("leaves a column without a name alone (others: %s)", (others) => {
    const colour = { "custom_attributes.Colour": { column: "Colour" } };
    const mapping: Mapping = { fields: { external_id: ID, ...(others === "refuse" && colour) }, others };
    const [first, second] = read(mapping, "Ticket ID,Colour,", "1,red,", "2,red,blue");
    expect(first).toEqual({ external_id: "1", custom_attributes: { Colour: "red" } });
    expect(second).toMatchObject({ message: expect.stringContaining("column 3 has no header"), value: "blue" });
  });
});

describe("an empty cell", () => {
  const fields: Mapping["fields"] = {
    external_id: ID,
    type: { column: "Type" },
    status: { column: "State", values: { New: "" } },
    agent_email: { column: "Mail", values: { nobody: "" } },
    completed_at: { first_of: [{ column: "Closed" }, { column: "Solved" }] },
    "custom_attributes.team": { column: "Team" },
  };
  const event: Mapping["event"] = { external_id: { column: "Log" }, content: { column: "Note" } };
  const header = "Ticket ID,Type,State,Mail,Closed,Solved,Team,Log,Note,More";
  const blank = "1,,New,nobody,?,,,e1,,";

  it("leaves its field out by default", () => {
    const mapping: Mapping = { fields, event, empty: ["?"], others: "custom_attributes" };
    expect(read(mapping, header, blank)).toEqual([{ external_id: "1", events: [{ external_id: "e1" }] }]);
  });

  it("clears every field that can be cleared, and removes attributes, if the mapping says so", () => {
    const mapping: Mapping = { fields, event, empty: ["?"], others: "custom_attributes", blank: "clear" };
    expect(read(mapping, header, blank, "2,a,pending,b@c.de,2026-01-01T00:00:00Z,,red,e2,x,y", ",,,,,,,,,")).toEqual([
      {
        external_id: "1",
        agent_email: null,
        completed_at: null,
        remove_attributes: ["team", "More"],
        events: [{ external_id: "e1", content: null }],
      },
      {
        external_id: "2",
        type: "a",
        status: "pending",
        agent_email: "b@c.de",
        completed_at: "2026-01-01T00:00:00.000Z",
        custom_attributes: { team: "red", More: "y" },
        events: [{ external_id: "e2", content: "x" }],
      },
      expect.objectContaining({ message: expect.stringContaining("external_id") }),
    ]);
  });

  it("does what its own source says rather than the mapping", () => {
    const own: Mapping = {
      fields: { ...fields, agent_email: { column: "Mail", blank: "clear" }, type: { value: "call" } },
      others: "ignore",
    };
    expect(read(own, header, "1,,,,,,,,,")).toEqual([{ external_id: "1", type: "call", agent_email: null }]);
    const others: Mapping = {
      fields: { ...fields, agent_email: { column: "Mail", blank: "keep" } },
      others: "ignore",
      blank: "clear",
    };
    expect(read(others, header, "1,,,,,,,,,")).toEqual([
      { external_id: "1", completed_at: null, remove_attributes: ["team"] },
    ]);
  });

  it("removes as many attributes as the file has columns", () => {
    const names = Array.from({ length: 1500 }, (_, index) => `c${index}`);
    const mapping: Mapping = { fields: { external_id: ID }, others: "custom_attributes", blank: "clear" };
    const [input] = read(mapping, ["Ticket ID", ...names].join(","), `1${",".repeat(1500)}`);
    expect(input).toEqual({ external_id: "1", remove_attributes: names });
  });
});

it("removes outer spaces only where a source trims them, and gives an empty cell no prefix", () => {
  const mapping: Mapping = {
    fields: { external_id: { column: "Ticket ID", trim: true, prefix: "t-" }, type: { column: "Type", prefix: "=" } },
  };
  const [spaced, empty] = read(mapping, "Ticket ID,Type", "\u00a0 7 , call ", "8,");
  expect([spaced, empty]).toEqual([{ external_id: "t-7", type: "= call " }, { external_id: "t-8" }]);
});

it("reads rows that are longer than the header if the rest is empty", () => {
  const mapping: Mapping = { fields: { external_id: ID }, empty: ["NULL"] };
  const [first, second, third] = read(mapping, "Ticket ID", "1,, ", "2,null", "3,x");
  expect([first, second]).toMatchObject([{ external_id: "1" }, { external_id: "2" }]);
  expect(third).toMatchObject({
    message: "the row has 2 values but the header has 1; put values that contain the delimiter in quotes",
  });
});
