import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IdForms, SEPARATORS } from "../../../../apps/importer/ids/id-forms.ts";
import { looksOf, otherSpellings } from "../../../../apps/importer/ids/look-alikes.ts";
import { RepeatedIds } from "../../../../apps/importer/ids/repeated-ids.ts";

const judged = (ids: readonly string[]) => {
  const forms = new IdForms();
  for (const id of ids) forms.observe(id);
  return forms.judgement;
};

const number = fc.integer({ min: 1000, max: 999_999_999 }).map(String);
const numbers = fc.array(number, { minLength: 2, maxLength: 30 });
const upper = fc.stringMatching(/^[A-Z]{2,5}$/);

/** IDs as systems write them: all of a column in one form. */
const columns = fc.oneof(
  numbers,
  fc.tuple(upper, numbers).map(([key, all]) => all.map((each) => `${key}-${each}`)),
  fc.array(fc.uuid(), { minLength: 1 }),
  fc.array(fc.stringMatching(/^[0-9a-f]{8,24}$/), { minLength: 1 }),
  fc.array(fc.stringMatching(/^00[5Q][A-Za-z0-9]{12}$/), { minLength: 1 }),
  fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{6,22}$/), { minLength: 1 }),
  fc.array(
    fc.bigInt({ min: 10n ** 16n, max: 10n ** 18n }).map((id) => `${id}7`),
    { minLength: 5 },
  ),
  fc.array(fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 99 })).map(([a, b]) => `${a}.${b}.1`)),
  fc
    .tuple(fc.constantFrom("MAR", "SEP", "DEC", "MAY"), numbers)
    .map(([key, all]) => all.map((each) => `${key}-${each.slice(0, 2)}`)),
);

/** The rewritten IDs among others, or instead of them. */
const withOne = (ids: readonly string[], rewritten: string): string[] => [...ids.slice(1), rewritten];

describe("the IDs of a column", () => {
  test("are as they are, if no program touched them", () => {
    fc.assert(
      fc.property(columns, (ids) => {
        expect(judged(ids)).toEqual({ wrapping: undefined, example: undefined, doubts: [] });
      }),
      { numRuns: 2_000 },
    );
  });

  test.each<[string, (id: string) => string]>([
    ["an exponent", (id) => Number(`${id}77777`).toExponential(5).replace("e", "E")],
    ["the exponent of a script", (id) => `${id[0]}.${id.slice(1)}E11`],
    ["decimals", (id) => `${id}.00`],
    ["a decimal comma", (id) => `${id},0`],
    ["the fraction of a script", (id) => `${id}.0`],
    ["thousands separators", (id) => Number(id).toLocaleString("en-US")],
    ["points between thousands", (id) => Number(id).toLocaleString("de-DE")],
    ["a day", (id) => `${id[0]}-Dec`],
    ["a German day", (id) => `${id[0]}. Dez`],
    ["a date", () => "2025-12-02"],
    ["a date and time", () => "2025-12-02 10:30:00"],
    ["a duration", (id) => `${id}:00:00`],
  ])("are doubtful if one of them was rewritten with %s", (_, rewrite) => {
    fc.assert(
      fc.property(numbers, (ids) => {
        const rewritten = rewrite(ids[0]!);
        expect(judged(withOne(ids, rewritten)).doubts).toEqual([expect.stringContaining(rewritten)]);
      }),
    );
  });

  test("are doubtful if all digits after the fifteenth became zeros", () => {
    const long = fc.bigInt({ min: 10n ** 17n, max: 10n ** 18n }).map((id) => `${String(id).slice(0, 15)}000`);
    fc.assert(
      fc.property(fc.array(long, { minLength: 2 }), (ids) => {
        expect(judged(ids).doubts).toEqual([expect.stringContaining(ids[0]!)]);
      }),
    );
  });

  test("with thousands separators wherever there can be one are asked about once", () => {
    fc.assert(
      fc.property(numbers, (ids) => {
        const grouped = ids.map((id) => Number(id).toLocaleString("en-US"));
        const { example, doubts } = judged(["7", "999", ...grouped]);
        expect(example).toBe(grouped[0]);
        expect(grouped.map(SEPARATORS.inside)).toEqual(ids);
        expect(doubts).toHaveLength(1);
      }),
    );
  });

  test.each<[string, (id: string) => string]>([
    ["a link formula", (id) => `=HYPERLINK("https://desk.example/${id}","${id}")`],
    ["a link formula of another language", (id) => `=HYPERLINK("https://desk.example/${id}";"${id}")`],
    ["an apostrophe", (id) => `'${id}`],
    ["a backtick", (id) => "`" + id],
    ["bytes", (id) => `b'${id}'`],
    ["a list", (id) => `['${id}']`],
    ["a list in JSON", (id) => `["${id}"]`],
    ["an HTML link", (id) => `<a href="https://desk.example/${id}">${id}</a>`],
    ["a Markdown link", (id) => `[${id}](https://desk.example/${id})`],
  ])("that are all wrapped in %s are what is inside", (_, wrap) => {
    fc.assert(
      fc.property(
        columns.filter(({ length }) => length > 1),
        (ids) => {
          const { wrapping, doubts } = judged(ids.map(wrap));
          expect(ids.map((id) => wrapping?.inside(wrap(id)))).toEqual(ids);
          expect(doubts).toEqual([]);
          expect(judged([...ids.slice(1).map(wrap), ids[0]!])).toMatchObject({
            wrapping: undefined,
            doubts: [expect.stringContaining("only some values have")],
          });
        },
      ),
    );
  });
});

/** What a comparison of the IDs of a file shows. */
const compared = (ids: readonly string[]) => {
  const all = new RepeatedIds(([cell = ""]) => cell);
  for (const [index, cell] of ids.entries()) all.observe({ row: index + 2, cells: [cell] });
  return all.findings;
};

/** Each letter of one alphabet in place of that of the other. */
const inLetters = (usual: string, other: string) => (id: string) =>
  Array.from(id, (letter) => other[usual.indexOf(letter)] ?? letter).join("");

describe("two IDs that look alike", () => {
  const ids = fc.tuple(upper, number).map(([key, digits]) => `Mü-カ${key}C-${digits}`);

  test.each<[string, (id: string) => string]>([
    ["decomposed letters", (id) => id.normalize("NFD")],
    ["full width", (id) => id.replaceAll(/[!-~]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0))],
    ["a hyphen that doesn't break", inLetters("-", "\u2011")],
    ["a dash", inLetters("-", "\u2013")],
    ["Cyrillic letters", inLetters("ABCEHIJKMOPSTXY", "АВСЕНІЈКМОРЅТХУ")],
    ["Greek letters", inLetters("ABEHIKMNOPTXYZ", "ΑΒΕΗΙΚΜΝΟΡΤΧΥΖ")],
    ["the ideograph of a kana", inLetters("カ", "力")],
    ["half-width kana", inLetters("カ", "ｶ")],
  ])("by %s are found, whichever comes first, and looked up", (name, rewrite) => {
    fc.assert(
      fc.property(ids, (id) => {
        const other = rewrite(id);
        expect(looksOf(other)).toBe(looksOf(id));
        for (const rows of [
          [id, "X-9", other],
          [other, "X-9", id],
        ]) {
          expect(compared(rows)).toMatchObject({ repeatedRows: 0, oddRows: 1 });
        }
        expect(otherSpellings(other)).toContain(id);
        expect(otherSpellings(id).includes(other)).toBe(name !== "half-width kana");
      }),
    );
  });

  test("aren't found among those that nobody touched", () => {
    fc.assert(
      fc.property(columns, (all) => {
        expect(compared(all).oddRows).toBe(0);
      }),
    );
  });
});
