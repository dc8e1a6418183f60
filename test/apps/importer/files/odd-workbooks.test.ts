import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { readFile } from "../../../../apps/pages/browser/upload/file/table-file.ts";
import { withMergedValues } from "../../../../apps/importer/files/merged-cells.ts";
import { hiddenBelow, notesOf, shownHidden, withoutHidden } from "../../../../apps/importer/files/sheet-notes.ts";
import { readSheets } from "../../../../apps/importer/files/workbook.ts";
import { kindOfFormat } from "../../../../apps/importer/files/workbook-values.ts";
import { readXml } from "../../../../apps/importer/files/xml.ts";
import { cpuMillisecondsOf } from "../../../support/cpu-time.ts";
import { everyZone } from "../../../support/every-zone.ts";
import { type Cell, makeWorkbook } from "../../../support/workbook.ts";

type Oddities = Parameters<typeof makeWorkbook>[1];

const csvOf = async (rows: readonly (readonly Cell[])[], oddities?: Oddities): Promise<string> =>
  (await readSheets(new Blob([makeWorkbook({ Sheet: rows }, oddities)])))[0].csv;
const sheetXml = (rows: string): Oddities => ({
  parts: {
    "xl/worksheets/sheet1.xml": `<x:worksheet xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main"><x:sheetData>${rows}</x:sheetData></x:worksheet>`,
  },
});
/** A cell with the style of a date, a duration, or a number with the word "days". */
const styled = (style: 1 | 2 | 3, value: string): Cell => ({ xml: `<c s="${style}"><v>${value}</v></c>` });
const iso = (value: string): Cell => ({ xml: `<c s="1" t="d"><v>${value}</v></c>` });

describe("a workbook of an unusual program", () => {
  describe.each(everyZone)("in the time zone $zone", ({ use }) => {
    use();

    test("has dates that are written out as its sheet shows them", async () => {
      const cells = ["2023-06-01T00:00:00", "2023-06-01", "2023-06-01T00:30:00", "2023-03-26T02:30", "10:30:00"];
      const others = ["2023-06-01T10:30:00.250Z", "PT30H5M", "2023-06-01T10:30:00+02:00"];
      expect(await csvOf([[...cells, ...others].map(iso)])).toBe(
        "2023-06-01,2023-06-01,2023-06-01 00:30:00,2023-03-26 02:30:00,10:30:00,2023-06-01 10:30:00.250,30:05:00,2023-06-01T10:30:00+02:00\n",
      );
    });

    test("counts days from 1900 or 1904", async () => {
      const cells = [styled(1, "0.4375"), styled(2, "1.2534722222222222"), styled(3, "5")];
      expect(await csvOf([[styled(1, "45078.4375"), ...cells]])).toBe("2023-06-01 10:30:00,10:30:00,30:05:00,5\n");
      const properties = '<workbookPr date1904="1"/>';
      expect(await csvOf([[styled(1, "43616.4375"), ...cells]], { properties })).toBe(
        "2023-06-01 10:30:00,10:30:00,30:05:00,5\n",
      );
    });
  });

  test("shows long durations as hours, and what no spreadsheet shows as none", async () => {
    expect(await csvOf([[styled(2, "100.5"), styled(2, "-0.5"), styled(1, "-1"), styled(1, "1e9")]])).toBe(
      "2412:00:00,-12:00:00,#####,#####\n",
    );
  });

  test("keeps all digits of whole numbers", async () => {
    expect(
      await csvOf([[{ xml: "<c><v>12345678901234567</v></c>" }, { xml: "<c><v>4.0000000000000001E-3</v></c>" }]]),
    ).toBe("12345678901234567,0.004\n");
  });

  test("has texts in CDATA, in several runs, with readings beside them, and any character", async () => {
    const texts = [
      "<t><![CDATA[a & b <c>]]></t>",
      "<t>x<![CDATA[y]]>z<!-- no --></t>",
      "<r><t>bold</t></r><r><t xml:space='preserve'> rest</t></r>",
      "<t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh>",
      "<t>&#x1F600;&#65;&amp;amp;&unknown;</t>",
      "<t>a_x000D_b_x005F_x0041_</t>",
    ];
    expect(await csvOf([texts.map((text) => ({ xml: `<c t="inlineStr"><is>${text}</is></c>` }))])).toBe(
      'a & b <c>,xyz,bold rest,東京,😀A&amp;&unknown;,"a\rb_x0041_"\n',
    );
  });

  test("needs no numbers of rows and cells, and may have any prefix of names", async () => {
    const oddities = sheetXml(
      '<x:row><x:c t="inlineStr"><x:is><x:t>id</x:t></x:is></x:c><x:c><x:v>5</x:v></x:c></x:row><x:row r="3"><x:c r="B3"><x:v>6</x:v></x:c><x:c><x:v>7</x:v></x:c></x:row>',
    );
    expect(await csvOf([["x"]], oddities)).toBe("id,5,\n,,\n,6,7\n");
  });

  test("is read from its first sheet that isn't hidden", async () => {
    const book = makeWorkbook(
      { Secret: [["s"], ["1"]], Codes: [["c"], ["1"]], Cases: [["id"]] },
      { states: { Secret: "hidden", Codes: "veryHidden" } },
    );
    expect((await readSheets(new Blob([book]))).map(({ name, isHidden }) => [name, isHidden])).toEqual([
      ["Cases", false],
      ["Secret", true],
      ["Codes", true],
    ]);
    await expect(readFile(new File([book], "book.xlsx"))).rejects.toThrow("This file has no rows.");
    const hidden = makeWorkbook({ Secret: [["s"]] }, { states: { Secret: "hidden" } });
    await expect(readSheets(new Blob([hidden]))).rejects.toThrow("Only hidden sheets of this workbook have rows.");
  });

  test("is read to its end, and names formulas without a result, errors and damaged cells, which are empty", async () => {
    const rows = [
      ["id", "hours", "note"],
      ["1", { xml: '<c r="B2"><f>1+1</f><v></v></c>' }, { xml: '<c r="C2" t="x"><v>?</v></c>' }],
      ["2", { xml: '<c r="B3"><f>1+1</f></c>' }, "end"],
      ["3", { xml: '<c r="B4" t="e"><f>1/0</f><v>#DIV/0!</v></c>' }, { xml: '<c r="C4" t="e"><v>#N/A</v></c>' }],
    ];
    const [sheet] = await readSheets(new Blob([makeWorkbook({ Sheet: rows })]));
    expect(sheet.csv).toBe("id,hours,note\n1,,\n2,,end\n3,,\n");
    expect(notesOf(sheet, 1)).toEqual([
      "2 formulas have no stored result, the first in B2: their values are left empty; open the workbook in a spreadsheet, save it and choose it again",
      "2 cells have errors such as #N/A, the first in B4: their values are left empty; if they should have a value, correct the workbook",
      "there is a damaged cell in C2: its value is left empty; correct it and save the workbook again",
    ]);
    expect(await csvOf([["a", { xml: '<c t="str"><f>""</f><v></v></c>' }]])).toBe("a\n");
  });

  test.each([
    ["00000", "1.5", "1.5"],
    ["00000;-00000", "42", "00042"],
    ["[Red]00000_)", "42", "00042"],
    [String.raw`T\-0`, "7", "T-7"],
    ['"#"General', "7", "#7"],
    ["000-00-0000", "123456789", "123-45-6789"],
    ["0,", "1001", "1001"],
    [";;;", "1001", "1001"],
    ["0.00E+00", "1001", "1001"],
    ['"€"000', "42", "42"],
    ['"USD "00', "7", "7"],
    ["[$€-407]00", "7", "7"],
    ['0" days"', "7", "7"],
    ["not a format;;;;;", "7", "7"],
    ["dd.mm.yyyy", "45000", "2023-03-15"],
  ])("with the number format %s imports %s as %s", async (code, value, shown) => {
    const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts><numFmt numFmtId="164" formatCode="${code.replaceAll('"', "&quot;")}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>`;
    const rows = [
      ["id"],
      [{ xml: `<c r="A2" s="1"><v>${value}</v></c>` }],
      [{ xml: `<c r="A3" s="1"><v>${value}</v></c>` }],
    ];
    const [sheet] = await readSheets(new Blob([makeWorkbook({ Sheet: rows }, { parts: { "xl/styles.xml": styles } })]));
    expect(sheet.csv).toBe(["id", shown, shown, ""].join("\n"));
    expect(sheet.cut).toEqual(["0,", ";;;", "0.00E+00"].includes(code) ? [0] : []);
    const isSaid = shown !== value && code !== "dd.mm.yyyy";
    expect(notesOf(sheet, 1)).toEqual(
      isSaid ? [`2 numbers, the first in A2, are imported as the workbook shows them: ${shown}, not ${value}`] : [],
    );
  });

  test("says which of its columns it hides", async () => {
    const book = makeWorkbook({
      Sheet: [
        ["id", "pay", "", "note"],
        ["1", "2", "", "3"],
      ],
    });
    const parts = unzipSync(new Uint8Array(book));
    const name = Object.keys(parts).find((each) => each.includes("sheet1"))!;
    const cols = '<cols><col min="2" max="3" hidden="1"/><col min="4" max="16384" hidden="true"/></cols><sheetData>';
    parts[name] = strToU8(strFromU8(parts[name]!).replace("<sheetData>", cols));
    const [sheet] = await readSheets(new Blob([zipSync(parts)]));
    expect(notesOf(sheet, 1)).toEqual(["columns B, D are hidden in the workbook, but imported"]);
  });

  test("has empty cells that say of what kind they would be", async () => {
    const empty = [
      '<c t="s"/>',
      '<c t="s"><v></v></c>',
      '<c t="s"><v> </v></c>',
      '<c t="inlineStr"/>',
      '<c t="b"><v/></c>',
    ];
    const others = [
      '<c t="inlineStr"><is/></c>',
      '<c t="inlineStr"><is><t/></is></c>',
      "<c><v> </v></c>",
      '<c t="d"><v/></c>',
    ];
    const [sheet] = await readSheets(
      new Blob([makeWorkbook({ Sheet: [["id", ...[...empty, ...others].map((xml) => ({ xml })), "end"]] })]),
    );
    expect([sheet.csv, notesOf(sheet, 1)]).toEqual(["id,,,,,,,,,,end\n", []]);
  });

  const merged = async (rows: readonly (readonly Cell[])[], ...ranges: readonly string[]) => {
    const book = makeWorkbook({ Sheet: rows }, { merged: ranges });
    return (await readSheets(new Blob([book])))[0];
  };

  test("gives each row of a merged cell its text, and says so", async () => {
    const rows = [
      ["agent", "id"],
      ["Ann", "1"],
      [null, "2"],
      [null, "3"],
      ["Bob", "4"],
      [null, "5"],
    ];
    const sheet = await merged(rows, "A2:A4", "A5:A1048576");
    expect(sheet.csv).toBe("agent,id\nAnn,1\nAnn,2\nAnn,3\nBob,4\nBob,5\n");
    expect(notesOf(sheet, 1)).toEqual(["merged cells: each row of A2:A4, A5:A1048576 gets the value"]);
  });

  test("gives the text of a wide merged cell to its first column alone, and says so where it isn't a title", async () => {
    const rows = [
      ["Report", null, null],
      ["id", "team", "city"],
      ["1", "north", null],
      ["2", null, null],
    ];
    const sheet = await merged(rows, "A1:C1", "B3:C4");
    expect(sheet.csv).toBe("Report,,\nid,team,city\n1,north,\n2,north,\n");
    expect(notesOf(sheet, 2)).toEqual([
      "merged cells: each row of B3:C4 gets the value",
      "merged cells: only the first column of B3:C4 gets the value",
    ]);
  });

  const hiding = async (oddities: Oddities) => {
    const rows = [["Report"], ["ID", "State"], ["1", "Open"], ["2", "Closed"], [], ["3", "Closed"], ["4", "Open"]];
    return (await readSheets(new Blob([makeWorkbook({ Sheet: rows }, oddities)])))[0];
  };

  test("says which rows it hides, and gives their values all the same", async () => {
    const sheet = await hiding({ hidden: [1, 4, 5, 6] });
    expect(sheet.csv).toBe("Report,\nID,State\n1,Open\n2,Closed\n,\n3,Closed\n4,Open\n");
    expect(hiddenBelow(sheet, 2)).toEqual([4, 6]);
    expect([shownHidden(1), shownHidden(2)]).toEqual([
      "1 row is hidden in the workbook",
      "2 rows are hidden in the workbook",
    ]);
    expect(hiddenBelow(await hiding({}), 2)).toEqual([]);
  });

  test("can be read without hidden rows, whose numbers no other row gets", async () => {
    const sheet = await hiding({ hidden: [4, 6] });
    expect(await (await withoutHidden(new Blob([sheet.csv]), hiddenBelow(sheet, 2))).text()).toBe(
      "Report,\nID,State\n1,Open\n\n,\n\n4,Open\n",
    );
  });

  test("has a header of two rows, whose merged names are also in the lower one", async () => {
    const rows = [
      ["id", "Agent", null],
      [null, "name", "email"],
      ["1", "Ann", "a@x.org"],
    ];
    expect((await merged(rows, "A1:A2", "B1:C1")).csv).toBe("id,Agent,\nid,name,email\n1,Ann,a@x.org\n");
    // A row that has nothing of its own is none.
    expect((await merged([["id", "name"], [], ["1", "Ann"]], "A1:A2", "B1:B2")).csv).toBe("id,name\n,\n1,Ann\n");
  });

  test("whose merged cells overlap without end doesn't take long", async () => {
    const rows = Array.from({ length: 100_000 }, (_, row) => [row === 0 ? "a" : "", "x"]);
    const range = { first: { row: 1, column: 1 }, last: { row: 1_048_576, column: 1 } };
    const ranges = Array.from({ length: 100_000 }, () => range);
    expect(await cpuMillisecondsOf(() => withMergedValues(rows, ranges))).toBeLessThan(1000);
    expect(rows.at(-1)).toEqual(["a", "x"]);
  });

  test("that is a trap is rejected before it fills the memory", async () => {
    const far = sheetXml('<x:row r="1048576"><x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row>');
    await expect(csvOf([["x"]], far)).rejects.toThrow("This workbook is too large. Save the sheet as CSV.");
    const outside = sheetXml('<x:row><x:c r="A99999999"><x:v>1</x:v></x:c></x:row>');
    await expect(csvOf([["x"]], outside)).rejects.toThrow("This workbook is too large.");
    const bomb = Buffer.from(zipSync({ "xl/workbook.xml": strToU8(" ".repeat(1000)) }));
    // The size of the unpacked part in the archive's directory.
    bomb.writeUInt32LE(2_000_000_000, bomb.lastIndexOf("PK\u0001\u0002") + 24);
    await expect(readSheets(new Blob([bomb]))).rejects.toThrow("This workbook is too large.");
  });

  test.each([
    ["yyyy\\-mm\\-dd", "date"],
    ["[$-407]dd/mm/yyyy;@", "date"],
    ['yyyy"年"m"月"d"日"', "date"],
    ["hh:mm:ss AM/PM", "date"],
    ["mm:ss.0", "date"],
    ["yyyy/mm/dd hh:mm:ss.000", "date"],
    ["[$-404]e/m/d", "date"],
    ["yyyy/mm/dd(aaa)", "date"],
    ["aaaa, yyyy/m/d h:mm", "date"],
    ['yyyy"년" m"월" d"일" aaaa', "date"],
    ["[$-411]AAA", "date"],
    ["ddd, dd mmm yyyy", "date"],
    ["mm/dd dddd", "date"],
    ["[h]:mm", "duration"],
    ["[mm]:ss", "duration"],
    ['0 "days"', "number"],
    ["#,##0;[Red]-#,##0", "number"],
    ["0.00E+00", "number"],
    ["[$€-407] #,##0.00", "number"],
    ['General\\ "m"', "number"],
    ["@", "number"],
  ])("takes the format %s for that of a %s", (code, kind) => {
    expect(kindOfFormat(164, code)).toBe(kind);
  });

  test("whose XML is broken is rejected", () => {
    const nothing = { open: () => undefined, text: () => undefined, close: () => undefined };
    for (const xml of ["<a", "<a b='1>", "<![CDATA[x", "a < b"])
      expect(() => readXml(xml, nothing)).toThrow(SyntaxError);
  });
});
