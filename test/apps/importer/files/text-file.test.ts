import { describe, expect, test } from "vitest";
import { findTextFormat, HEAD_BYTES, toUtf8 } from "../../../../apps/importer/files/text-file.ts";

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
    ["UTF-8 with a byte order mark", Buffer.from(`\uFEFF${TEXT}`), "utf-8"],
    ["UTF-16 with a byte order mark", utf16(`\uFEFF${TEXT}`), "utf-16le"],
    ["big-endian UTF-16", utf16(`\uFEFF${TEXT}`).swap16(), "utf-16be"],
  ])("in %s becomes UTF-8", async (_, bytes, encoding) => {
    expect(await formatOf(bytes)).toMatchObject({ encoding, delimiter: ";" });
    expect(await readAll(bytes)).toBe(TEXT);
  });

  test("is in doubt if it isn't UTF-8 to its end, until an encoding is chosen", async () => {
    const lines = "1;plain\n".repeat(HEAD_BYTES / 8);
    const file = Buffer.from(`id;name\n${lines}2;Zoë\n`, "latin1");
    expect(await formatOf(file)).toMatchObject({
      delimiter: ";",
      doubt: {
        problem: `row ${HEAD_BYTES / 8 + 2} isn't valid UTF-8`,
        likely: expect.arrayContaining([{ encoding: "windows-1252", values: ["Zoë"] }]),
      },
    });
    const chosen = await findTextFormat(new Blob([file]), { encoding: "windows-1252" });
    expect(chosen).toMatchObject({ encoding: "windows-1252", doubt: undefined });
    expect((await new Response(toUtf8(new Blob([file]), chosen)).text()).slice(-7)).toBe("\n2;Zoë\n");
    expect(await formatOf(Buffer.from(`id;name\n${lines}2;Zoë\n`))).toMatchObject({
      encoding: "utf-8",
      doubt: undefined,
    });
  });

  test("whose character is cut where its head ends is UTF-8", async () => {
    const file = Buffer.from(`${"x".repeat(HEAD_BYTES - 1)}ë\n`);
    expect(await formatOf(file)).toMatchObject({ encoding: "utf-8", doubt: undefined });
  });

  test("that changes while it is sent is not sent with other letters", async () => {
    const format = await findTextFormat(new Blob(["id;name\n1;x\n"]), { encoding: "shift_jis" });
    const changed = toUtf8(new Blob(["id;name\n1;x\n2;", new Uint8Array([0x82])]), format);
    await expect(new Response(changed).text()).rejects.toThrow("not valid for encoding shift_jis");
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

  test.each([
    ["id\r\n1\r\n\u001A", "id\r\n1\r\n"],
    ["id,type\n1,call\u001A", "id,type\n1,call"],
    ['id,type\n1,"call"\u001A\r\n', 'id,type\n1,"call"'],
    ["id\n1\n\u001A\n\u001A\u001A\n", "id\n1\n"],
  ])("loses the end-of-file character of %j", async (text, rest) => {
    expect(await readAll(Buffer.from(text))).toBe(rest);
    expect(await readAll(utf16(`\uFEFF${text}`))).toBe(rest);
    // In whatever pieces it comes.
    const file = new Blob([text]);
    const format = await findTextFormat(file);
    const pieces = [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
    Object.defineProperty(file, "stream", { value: () => ReadableStream.from(pieces) });
    expect(await new Response(toUtf8(file, format)).text()).toBe(rest);
  });

  test("keeps an end-of-file character that isn't at its end", async () => {
    const text = "id,note\n1,a\u001Ab\n\u001A\n2,c\u001A\n3,d\n";
    const file = new Blob([text]);
    expect(toUtf8(file, await findTextFormat(file))).toBeUndefined();
    expect(await readAll(Buffer.from(`${text}\u001A`))).toBe(text);
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
