import { format as formatDate } from "date-fns/format";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROW_MAX_CHARACTERS } from "../../../../lib/uploads/csv/csv-text.ts";
import type { RowReader } from "../../../../lib/uploads/csv/row-reader.ts";
import { singlesOf, targetsOf } from "../../../../lib/uploads/mapping/check-mapping.ts";
import { problemOfPattern } from "../../../../lib/uploads/mapping/date-pattern.ts";
import { mappedReader } from "../../../../lib/uploads/mapping/mapped-columns.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { charactersReadBy } from "./characters-read.ts";
import { problems } from "./mapping-problems.ts";

type Source = NonNullable<Mapping["fields"]>[string];

const sources = (count: number, source: Source): Source[] => Array.from({ length: count }, () => source);
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** All that the splitter and a part do with a row. */
const readAll = (reader: RowReader, cells: readonly string[]): void => {
  reader.isEmpty(cells);
  reader.externalIdOf(cells);
  reader.read(cells);
};

/** Characters that are read for each byte of the row, of the mapping and of what the mapping makes of the row. */
const costOf = (mapping: Mapping, names: readonly string[], cells: readonly string[]): number => {
  const reader = mappedReader(mapping, names);
  const reading = reader.read(cells);
  const made = "input" in reading ? bytesOf(reading.input) : 0;
  return charactersReadBy(() => readAll(reader, cells)) / (bytesOf(cells) + bytesOf(mapping) + made);
};

const NAMES = ["id", "a", "b"];
/** Steps for each byte: what each of the three calls, the conversions and the checks of the item go through. */
const COST_MAX = 16;
/** The same for a row with a date: date-fns goes through the rest of a text for each field of its pattern. */
const DATE_COST_MAX = 40;
/** What checking a date pattern may cost beyond that: it has at most 100 characters. */
const PATTERN_COST_MAX = 50_000;

describe("a row", () => {
  const big = "Ä".repeat(200_000);
  it.each<[string, Source, readonly string[]]>([
    ["one column", { column: "a", otherwise: "" }, ["1", big, ""]],
    ["one column with aliases", { column: "a", values: { ["x".repeat(30)]: "y" }, otherwise: "" }, ["1", big, ""]],
    ["two columns", { columns: ["a", "b"], otherwise: "" }, ["1", big, big]],
    ["two columns with aliases", { columns: ["a", "b"], values: { q: "y" }, otherwise: "" }, ["1", big, big]],
    ["an empty cell", { column: "a" }, ["1", " ".repeat(200_000), ""]],
  ])(
    "costs no more than its bytes and those of its mapping, where a thousand sources look at %s",
    (_, source, cells) => {
      const first_of = [...sources(900, source), { column: "id" }];
      for (const fields of [
        { external_id: { first_of } },
        { external_id: { column: "id" }, type: { first_of } },
        {
          external_id: { column: "id" },
          ...Object.fromEntries(sources(900, source).map((each, index) => [`custom_attributes.${index}`, each])),
        },
      ]) {
        expect(costOf({ fields, others: "ignore" }, NAMES, cells)).toBeLessThan(COST_MAX);
      }
    },
  );

  it("costs no more than its bytes and those of its mapping, whatever its date is written with", () => {
    const quotedText = fc
      .array(fc.constantFrom("+99", "-24:60", "-", "+", "1", "a", " ", "''", "T", "+01:00"), { minLength: 1 })
      .map((parts) => `'${parts.join("")}'`);
    const between = fc.oneof(quotedText, fc.constantFrom("", " ", "-", ".", "+99", "-1", ", "));
    const patterns = fc
      .tuple(
        fc.constantFrom(
          ["yyyy", "MM", "dd"],
          ["d", "MMM", "yyyy", "XXX"],
          ["EEE", "MMMM", "do", "HH", "mm", "ss", "xx", "yyyy"],
          ["dd", "MM", "yy", "h", "mm", "a", "X"],
        ),
        fc.array(between, { minLength: 9, maxLength: 9 }),
        fc.constantFrom(1, 1, 300),
      )
      .map(([fields, texts, times]) => {
        const parts = texts.map((text) =>
          text.replace(/^'[^]*'$/, (quoted) => `'${quoted.slice(1, -1).repeat(times)}'`),
        );
        return parts.map((text, index) => text + (fields[index] ?? "")).join("");
      });
    const date = new Date("2026-01-31T09:30:00Z");
    const mistakes = fc.constantFrom("", "+99", "x", " ", "+99".repeat(1000));
    fc.assert(
      fc.property(patterns, mistakes, fc.boolean(), (format, more, isConstant) => {
        const text = (problemOfPattern(format) === undefined ? formatDate(date, format) : "2026-01-31") + more;
        const time = { ...(isConstant ? { value: text } : { column: "a" }), format, time_zone: "UTC" };
        const mapping: Mapping = { fields: { external_id: { column: "id" }, completed_at: time }, others: "ignore" };
        const row = ["1", isConstant ? "" : text, ""];
        const bytes = bytesOf(row) + bytesOf(mapping);
        problems(mapping); // The schema is compiled once.
        expect(charactersReadBy(() => void problems(mapping))).toBeLessThan(PATTERN_COST_MAX + COST_MAX * bytes);
        const found = problems(mapping);
        expect(/must be at most (?:100 characters|65536 bytes)/.test(found)).toBe(format.length > 100);
        expect(found === "" ? costOf(mapping, NAMES, row) : 0).toBeLessThan(DATE_COST_MAX);
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });

  it("costs no more than its bytes and those of its mapping, whatever they are", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom(
        "",
        " ",
        "?",
        "x",
        "Ä".repeat(20_000),
        " ".repeat(20_000),
        `${" ".repeat(20_000)}x`,
        `x${" ".repeat(20_000)}x`,
      ),
      fc.constantFrom("1".repeat(20_000), "[".repeat(20_000), "2026-01-31T09:30:00Z", `1,${"0".repeat(20_000)}`),
    );
    const options = fc.record(
      {
        values: fc.dictionary(fc.constantFrom("x", "y", "long ".repeat(50), "?"), fc.constantFrom("", "z"), {
          noNullPrototype: true,
        }),
        otherwise: fc.constantFrom("", "z"),
      },
      { requiredKeys: [] },
    );
    const single: fc.Arbitrary<Source> = fc.oneof(
      fc.record({ column: fc.constantFrom(...NAMES) }),
      fc.record({
        columns: fc.constantFrom<string[]>(["a", "b"], ["b", "id", "a"]),
        join: fc.constantFrom("", "-", " ".repeat(99)),
      }),
      fc.record({ columns: fc.constant<string[]>(["b", "id", "a"]), digest: fc.constant(true) }),
      fc.record({ value: fc.constantFrom("x", "v") }),
    );
    const source = fc.tuple(single, options).map(([origin, more]): Source => ({ ...origin, ...more }));
    const list = fc.tuple(source, fc.constantFrom(1, 3, 300)).map(([each, count]) => sources(count, each));
    const mapping = fc
      .record({
        id: list,
        type: list,
        attributes: list,
        as: fc.constantFrom("text", "number", "boolean", "json"),
        empty: fc.subarray(["?", "null", "n/a".repeat(20)]),
        others: fc.constantFrom("ignore", "custom_attributes"),
      })
      .map(({ id, type, attributes, as, empty, others }): Mapping => {
        const named = attributes.map((each, index) => [`custom_attributes.x${index}`, { ...each, as }]);
        return {
          fields: { external_id: { first_of: id }, type: { first_of: type }, ...Object.fromEntries(named) },
          empty,
          others,
        };
      });
    fc.assert(
      fc.property(mapping, fc.tuple(text, text, text), (given, cells) => {
        // Each target may use the whole row, and each source that joins columns look at it for its aliases, until these
        // are as many characters as the longest row has.
        const reader = mappedReader(given, NAMES);
        const targets = targetsOf(given);
        const joins = targets.flatMap(singlesOf).filter(({ source: { columns } }) => columns !== undefined);
        const made = Math.min(ROW_MAX_CHARACTERS, (targets.length + joins.length) * bytesOf(cells));
        const characters = charactersReadBy(() => readAll(reader, cells));
        expect(characters).toBeLessThan(COST_MAX * (bytesOf(cells) + bytesOf(given) + made));
      }),
      { numRuns: 200, endOnFailure: true },
    );
  });

  it("fails where joining its cells makes more characters than a row may have", () => {
    const names = Array.from({ length: 3000 }, (_, index) => `c${index}`);
    const mapping: Mapping = {
      fields: { external_id: { column: "c0" }, type: { columns: names, join: "-".repeat(20_000) } },
    };
    const reader = mappedReader(mapping, names);
    const cells = names.map(() => "x");
    expect(reader.read(cells)).toMatchObject({
      error: { code: "too_big", message: "the mapped row is longer than 1048576 characters" },
    });
    expect(charactersReadBy(() => readAll(reader, cells))).toBeLessThan(200_000);
  });

  it("with thousands of problems names the first hundred", () => {
    const names = [
      ...Array.from({ length: 10_000 }, (_, index) => `c${index}`),
      ...Array.from({ length: 5000 }, () => ""),
    ];
    const reader = mappedReader({ fields: { external_id: { column: "c0" } }, others: "custom_attributes" }, names);
    const reading = reader.read(names.map(() => "x"));
    expect(reading).toMatchObject({ error: { column: "", value: "x", code: "invalid_format" } });
    expect("error" in reading && reading.error.message).toMatch(
      /column 10001 has no header; add a name in row 1.*; and 4900 more$/,
    );
  });

  it("is read the same, however often a source looks at a cell", () => {
    const reader = mappedReader(
      {
        fields: {
          external_id: { first_of: [{ column: "a", values: { OPEN: "" } }, { column: "id" }] },
          type: { columns: ["a", "b"], join: "  ", values: { "open  b": "joined" } },
          "custom_attributes.a": { column: "a", values: { open: "o" } },
          "custom_attributes.b": { column: "b", values: { open: "o" }, otherwise: "other" },
        },
        empty: ["?", "NULL"],
      },
      NAMES,
    );
    expect(reader.read(["1", " Open", "B "])).toEqual({
      input: { external_id: "1", type: "joined", custom_attributes: { a: "o", b: "other" } },
    });
    expect(reader.read(["1", "x", " null "])).toEqual({
      input: { external_id: "x", type: "x", custom_attributes: { a: "x" } },
    });
    expect(reader.isEmpty(["?", "", " NULL"])).toBe(true);
  });

  it("is compared by words that no character makes shorter in lower case", () => {
    const shorter: number[] = [];
    for (let point = 0; point <= 0x10ffff; point++) {
      const character = String.fromCodePoint(point);
      if (character.toLowerCase().length < character.length) shorter.push(point);
    }
    expect(shorter).toEqual([]);
  });
});

describe("the number of a mapping's sources", () => {
  const withSources = (count: number) => ({
    fields: { external_id: { first_of: sources(count - 2, { column: "a" }) } },
    event: { external_id: { column: "id" } },
  });

  it("is limited", () => {
    expect(problems(withSources(1000))).toBe("");
    expect(problems(withSources(1001))).toBe("mapping: must have at most 1000 sources, those in first_of included");
  });
});
