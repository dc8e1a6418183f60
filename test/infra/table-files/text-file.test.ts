import { describe, expect, test } from "vitest";
import { findTextFormat, HEAD_BYTES, toUtf8 } from "../../../infra/table-files/text-file.ts";

const TEXT = "id;name\r\n1;Zoë\r\n";
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
const formatOf = (bytes: Buffer) => findTextFormat(new Blob([bytes]));
const readAll = async (bytes: Buffer): Promise<string> => {
  const file = new Blob([bytes]);
  return new Response(toUtf8(file, await findTextFormat(file)) ?? file).text();
};

describe("a text file of another system", () => {
  test.each([
    ["UTF-8", Buffer.from(TEXT), "utf-8"],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${TEXT}`), "utf-8"],
    ["Windows-1252", Buffer.from(TEXT, "latin1"), "windows-1252"],
    ["UTF-16 with its mark", utf16(`\uFEFF${TEXT}`), "utf-16le"],
    ["UTF-16 without one", utf16(TEXT), "utf-16le"],
    ["big-endian UTF-16", utf16(`\uFEFF${TEXT}`).swap16(), "utf-16be"],
    ["big-endian UTF-16 without a mark", utf16(TEXT).swap16(), "utf-16be"],
  ])("in %s becomes UTF-8", async (_, bytes, encoding) => {
    expect(await formatOf(bytes)).toMatchObject({ encoding, delimiter: ";" });
    expect(await readAll(bytes)).toBe(TEXT);
  });

  test("is read to its end to distinguish UTF-8 from Windows-1252", async () => {
    const lines = "1;plain\n".repeat(HEAD_BYTES / 8);
    const file = Buffer.from(`id;name\n${lines}2;Zoë\n`, "latin1");
    expect((await formatOf(file)).encoding).toBe("windows-1252");
    expect((await readAll(file)).slice(-7)).toBe("\n2;Zoë\n");
    expect((await formatOf(Buffer.from(`id;name\n${lines}2;Zoë\n`))).encoding).toBe("utf-8");
  });

  test.each([
    ["Shift JIS", [0x93, 0x63, 0x92, 0x86, 0x81, 0x45], true],
    ["GBK", [0xcc, 0xef, 0xd6, 0xd0, 0x81, 0x40], true],
    ["Windows-1252", [0x5a, 0x6f, 0xeb, 0x80], false],
  ])(
    "in %s says whether its bytes speak against what is taken for its encoding",
    async (_, bytes, isEncodingUnclear) => {
      const file = Buffer.concat([Buffer.from("id;name\n1;"), Buffer.from(bytes), Buffer.from("\n")]);
      expect(await formatOf(file)).toMatchObject({ encoding: "windows-1252", isEncodingUnclear });
      const chosen = await findTextFormat(new Blob([file]), { encoding: "shift_jis" });
      expect(chosen).toMatchObject({ encoding: "shift_jis", isEncodingUnclear: false });
    },
  );

  test("whose character is cut where its head ends is UTF-8", async () => {
    const file = Buffer.from(`${"x".repeat(HEAD_BYTES - 1)}ë\n`);
    expect((await formatOf(file)).encoding).toBe("utf-8");
  });

  test("with CR alone gets LF", async () => {
    expect(await readAll(Buffer.from('id,text\r1,"a\rb"\r'))).toBe('id,text\n1,"a\nb"\n');
    expect(await readAll(Buffer.from('id,text\r1,"a\nb"\r2,"c"\r'))).toBe('id,text\n1,"a\nb"\n2,"c"\n');
    expect((await formatOf(Buffer.from("id\ttext\r1\t2\r"))).delimiter).toBe("\t");
  });

  test.each([
    ["sep=;\r\nid;a,b,c\r\n1;2\r\n", ";", "id;a,b,c\r\n1;2\r\n"],
    ["\uFEFFsep=|\nid|a\n", "|", "id|a\n"],
    ["SEP=\t\rid\ta\r", "\t", "id\ta\n"],
    ["sep=\nid;a\n", ";", "id;a\n"],
  ])("loses the line that Excel hides, and has the delimiter in it: %j", async (text, delimiter, rest) => {
    const file = Buffer.from(text);
    expect((await formatOf(file)).delimiter).toBe(delimiter);
    expect(await readAll(file)).toBe(rest);
  });

  test("is its own header's, also where that has line ends and other delimiters in quotes", async () => {
    expect((await formatOf(Buffer.from('"a,\nb,c,d";e;f\n1;2;3\n'))).delimiter).toBe(";");
  });

  test("is what was chosen in place of what was found", async () => {
    const file = new Blob([Buffer.from(TEXT, "latin1")]);
    const format = await findTextFormat(file, { encoding: "iso-8859-2", delimiter: "," });
    expect(format).toMatchObject({ encoding: "iso-8859-2", delimiter: "," });
    await expect(findTextFormat(file, { encoding: "latin-99" })).rejects.toThrow(RangeError);
  });
});
