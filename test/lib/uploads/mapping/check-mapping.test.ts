import { describe, expect, it } from "vitest";
import { InvalidInputError } from "../../../../lib/errors.ts";
import { toProblemDetails } from "../../../../lib/problem-detail.ts";
import { assertReadable } from "../../../../lib/uploads/mapping/file-format.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { problems } from "./mapping-problems.ts";

/** Names of columns, all of them different. */
const distinct = (count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, index) => (index + first).toString(36));

const ID = { column: "Ticket ID" } as const;

describe("what is wrong with a mapping", () => {
  it("is named in full", () => {
    const mapping = {
      fields: {
        agent_mail: ID,
        agent_email: { column: "a", value: "b" },
        agent_name: {},
        type: { column: "Type", join: " ", format: "iso", as: "number" },
        status: { column: "Status", values: { Open: "open", "open ": "pending" }, otherwise: "done" },
        completed_at: {
          first_of: [
            { column: "a", format: "dd.mm.yyyy" },
            { column: "b", format: "dd.MM.yyyy" },
            { column: "c", time_zone: "Berlin" },
          ],
          format: "unix",
        },
        "custom_attributes.": ID,
        "custom_attributes.n": { columns: ["a", "A "], as: "number", values: { none: "zero", no: "0" } },
      },
      event: { content: ID },
    };
    expect(problems(mapping).split("; upload.mapping.")).toEqual([
      "upload.mapping.fields.external_id: is required",
      "fields.agent_mail: is not known; did you mean agent_email?",
      'fields["custom_attributes."]: is not known; did you mean custom_attributes?',
      "event.external_id: is required",
      "fields.agent_email: must have exactly one of column, columns, value, first_of",
      "fields.agent_email.value: must be an email address",
      "fields.agent_name: must have exactly one of column, columns, value, first_of",
      "fields.type.join: can only be used with columns",
      "fields.type.format: is for completed_at and occurred_at only",
      "fields.type.as: is for custom_attributes.<name> only",
      'fields.status.values["open "]: occurs twice; case and outer spaces are ignored',
      expect.stringContaining("fields.status.values.Open: "),
      expect.stringContaining("fields.status.otherwise: "),
      "fields.completed_at.format: must be in the sources of first_of",
      "fields.completed_at.first_of[0].format: the month (MM) is missing",
      "fields.completed_at.first_of[1].time_zone: is required for a format without a UTC offset",
      "fields.completed_at.first_of[2].time_zone: must be an IANA time zone, such as Europe/Berlin",
      'fields["custom_attributes.n"].columns[1]: occurs twice',
      'fields["custom_attributes.n"].values.none: "zero" isn\'t a number; use the decimal mark "." and no thousands separators',
    ]);
  });

  it.each([
    [{ fields: { external_id: { column: 1 } } }, "fields.external_id.column: "],
    [{ fields: { external_id: ID }, other: "ignore" }, "other: is not known"],
    [{ fields: { external_id: ID }, others: "drop" }, "others: "],
    [{ fields: { external_id: ID }, delimiter: "::" }, "delimiter: "],
    [{ fields: { external_id: { ...ID, colour: "red" } } }, "fields.external_id.colour: is not known"],
    [{ others: "ignore" }, "fields: is required"],
    [{ from: "yesterday's" }, "from: must be the ID of an upload"],
    ["number,status", "mapping: "],
    [null, "mapping: "],
    [
      JSON.parse('{"fields":{"external_id":{"column":"x","values":{"__proto__":"x"}}}}'),
      "must not have a key named __proto__",
    ],
    [{ fields: { external_id: ID }, empty: ["x".repeat(70_000)] }, "mapping: must be at most 65536 bytes of JSON"],
    [{ fields: { external_id: { value: "" } } }, "fields.external_id.value: must not be empty"],
    [
      { fields: { external_id: ID, completed_at: { value: "yesterday" } } },
      'fields.completed_at.value: "yesterday" isn\'t a date and time',
    ],
    [{ fields: { external_id: { column: "A", digest: true } } }, "external_id.digest: can only be used with columns"],
    [
      { fields: { external_id: { columns: ["A"], digest: true, join: "-" } } },
      "external_id.join: can't be used with digest",
    ],
    [{ fields: { completed_at: { columns: ["A"], digest: true } } }, "completed_at.digest: is for texts only"],
    [{ fields: { external_id: { first_of: [] } } }, "fields.external_id.first_of: must have at least 1 source"],
  ])("is named: %#", (mapping, message) => {
    expect(problems(mapping)).toContain(message);
  });

  it.each(["constructor", "toString", "hasOwnProperty", "wrong"])(
    "is named where a value has no alias: %s",
    (value) => {
      const status = { value, values: { a: "pending" } };
      expect(problems({ fields: { external_id: ID, status } })).toContain("upload.mapping.fields.status.value: ");
    },
  );

  it("is not the case of a value that differs from its alias by case and outer spaces", () => {
    const status = { value: " OPEN", values: { open: "pending" } };
    expect(problems({ fields: { external_id: ID, status } })).toBe("");
    expect(problems({ fields: { external_id: ID, status: { value: "wrong", otherwise: "pending" } } })).toBe("");
  });

  it("is named where it is nested without end", () => {
    const nested = (levels: number): object => (levels === 0 ? ID : { first_of: [nested(levels - 1)] });
    expect(problems({ fields: { external_id: nested(10) } })).toBe("");
    expect(problems({ fields: { external_id: nested(3000) } })).toContain("must be nested at most 32 levels deep");
  });
});

describe("a mapping that does not fit the header", () => {
  const check = async (mapping: Mapping, file: string): Promise<string> =>
    assertReadable(Buffer.from(file), mapping).then(
      () => "",
      (error: unknown) => (error as Error).message,
    );

  it("is rejected with every missing column and the nearest one", async () => {
    const mapping: Mapping = {
      fields: {
        external_id: { column: "Ticket Id" },
        status: { column: "Statsu" },
        agent_name: { columns: ["Agent", "Nane"] },
      },
      others: "ignore",
    };
    expect(await check(mapping, "ticket ID,Status,Agent,Name,colour\n")).toBe(
      'upload.mapping.fields.status.column: there is no column "Statsu"; the nearest is "Status"; ' +
        'upload.mapping.fields.agent_name.columns[1]: there is no column "Nane"; the nearest is "Name"',
    );
  });

  it("is rejected with its own mistakes and those of the file together", async () => {
    const mapping: Mapping = { fields: { external_id: { column: "Nr" }, type: { column: "Kind", as: "text" } } };
    const own = "upload.mapping.fields.type.as: is for custom_attributes.<name> only";
    expect(await check(mapping, "No,Kind\n")).toBe(
      `${own}; upload.mapping.fields.external_id.column: there is no column "Nr"; the nearest is "No"; ` +
        'upload.mapping.others: columns not mapped: "No"; use custom_attributes to keep them or ignore to leave them out',
    );
    expect(await check(mapping, "")).toBe(`${own}; the file is empty`);
    expect(await check(mapping, "Nr,Kind\n")).toBe(own);
  });

  it.each([
    ["refuse", "A,B,C\n", 'columns not mapped: "B", "C"'],
    [undefined, "A,B\n", 'columns not mapped: "B"'],
    ["refuse", "sep=;\nA;B\n", "row 1: this line sets the delimiter for Excel; delete it"],
    ["refuse", '"A","B"\r"1","2"\r', "row 1: rows must end with LF or CRLF, not CR"],
    ["ignore", "A,a,A (2)\n", 'the column "a" occurs more than once: 1, 2'],
    ["custom_attributes", "A,B,b ,b (2)\n", 'the header has "B", "b" more than once'],
    ["custom_attributes", "A,T\n", 'fields already sets the custom attribute "T"'],
    ["custom_attributes", "A,__proto__\n", 'custom attributes can\'t be named "__proto__"'],
    [
      "ignore",
      'A;B\n1;"x;y"\n',
      'upload.mapping.delimiter: must be ";": the file\'s columns are separated by semicolons',
    ],
    ["ignore", "A;B\n", 'upload.mapping.delimiter: must be ";": the file\'s columns are separated by semicolons'],
    ["ignore", 'A\n"1', "row 2: a quote is opened and never closed"],
    ["ignore", "\nA\n", "row 1: there is no header; add the column names in this row or set header_row in the mapping"],
    ["ignore", "A\rB\r", "row 1: rows must end with LF or CRLF, not CR"],
  ] as const)("is rejected where others are %s: %j", async (others, file, message) => {
    const fields = { external_id: { column: "a" }, "custom_attributes.T": { value: "x" } };
    const found = await check({ fields, ...(others && { others }) }, file);
    expect(found).toContain(message);
  });

  it.each([
    ["refuse", "A,_row,_error,_Error_Column,_error_value\n"],
    ["ignore", "A,B,b\n"],
    ["ignore", "A,a\n"],
    ["custom_attributes", "A,B,b \n"],
    ["custom_attributes", "A,B,,\n"],
    ["refuse", "A,,\n"],
    ["ignore", '"A","B\r\nC"\r\n'],
  ] as const)("is accepted where others are %s: %j", async (others, file) => {
    const fields = { external_id: { column: "a" }, "custom_attributes.T": { value: "x" } };
    expect(await check({ fields, others }, file)).toBe("");
  });

  it.each<[string, Mapping | undefined, readonly string[], RegExp]>([
    ["unknown without mapping", undefined, distinct(15_000), /unknown column ("\w+", ){99}"\w+" and 14900 others; /],
    ["repeated without mapping", undefined, distinct(3000).flatMap((name) => [name, name]), /and 2900 others/],
    [
      "not named",
      { fields: { external_id: { column: "0" } } },
      distinct(15_000),
      /columns not mapped: ("\w+", ){99}"\w+" and 14899 others;/,
    ],
    [
      "repeated among others",
      { fields: { external_id: { column: "0" } }, others: "custom_attributes" },
      [...distinct(1), ...[1, 2].flatMap(() => distinct(2500, 1)), ...distinct(2500, 1).map((name) => `${name} (2)`)],
      /header has ("\w+", ){99}"\w+" and 4900 others more than once/,
    ],
    [
      "repeated and not named",
      { fields: { external_id: { column: "a" } } },
      Array.from({ length: 30_000 }, () => "a"),
      /columns not mapped: ("a \(\d+\)", ){99}"a \(101\)" and 29899 others;/,
    ],
  ])("lists the first hundred of its columns: %s", async (_, mapping, names, message) => {
    const found = await assertReadable(Buffer.from(`${names.join(",")}\n`), mapping).catch((error: unknown) => error);
    expect(found).toBeInstanceOf(InvalidInputError);
    const { message: text, problems: details } = found as InvalidInputError;
    expect(text).toMatch(message);
    expect(JSON.stringify(toProblemDetails(details)).length + text.length).toBeLessThan(10_000);
  });

  it("is rejected quickly, however long its names are", async () => {
    const names = Array.from(
      { length: 2000 },
      (_, index) => [`custom_attributes.x${index}`, { column: `missing ${index}` }] as const,
    );
    const mapping: Mapping = {
      fields: { external_id: { column: "y".repeat(20_000) }, ...Object.fromEntries(names.slice(0, 800)) },
    };
    const header = Array.from({ length: 9000 }, (_, index) => `c${index}`).join(",");
    expect(await check(mapping, `${header}\n`)).toContain("and 702 more");
  });
});

it("clears only what can be cleared, and says it once for all sources of a field", () => {
  const id = { column: "ID" };
  const clear = { column: "x", blank: "clear" };
  const fields = { external_id: { ...id, blank: "clear" }, type: clear, status: clear, custom_attributes: clear };
  expect(problems({ fields }).split("; ")).toEqual([
    "upload.mapping.fields.external_id.blank: can't clear external_id",
    "upload.mapping.fields.type.blank: can't clear type",
    "upload.mapping.fields.status.blank: can't clear status",
    "upload.mapping.fields.custom_attributes.blank: can't clear custom_attributes",
  ]);
  const inner = { external_id: id, agent_name: { first_of: [clear, { column: "y", trim: true }] } };
  expect(problems({ fields: inner })).toBe(
    "upload.mapping.fields.agent_name.first_of[0].blank: must be beside first_of",
  );
  const outer = { external_id: id, agent_name: { first_of: [{ column: "x" }], blank: "clear", trim: true } };
  expect(problems({ fields: outer })).toBe("upload.mapping.fields.agent_name.trim: must be in the sources of first_of");
  expect(problems({ fields: { external_id: id, completed_at: { column: "x", trim: true } } })).toBe(
    "upload.mapping.fields.completed_at.trim: is for texts only",
  );
  expect(problems({ fields: { external_id: id }, event: { external_id: id, content: clear }, blank: "clear" })).toBe(
    "",
  );
});
