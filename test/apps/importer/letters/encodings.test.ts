import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openCsv } from "../../../../apps/cli/work-items/open-csv.ts";
import { findTextFormat } from "../../../../apps/importer/files/text-file.ts";
import { readFile } from "../../../../apps/pages/browser/upload/file/table-file.ts";
import { encodeAs, encodeBy, encodeUtf16, encodeUtf32 } from "../files/encoded-text.ts";

const table = (header: string, row: string): string =>
  `${header}\n${Array.from({ length: 40 }, (_, index) => `${index},${row}\n`).join("")}`;
const GERMAN = table("id,name,note", "Jürgen Groß,Störung am Gerät");
const ACCENTS = table("id,name,note", "Chloé Dupont,Printer éàü");
const MARKS = "id,note\n1,Outlook – “crash”\n2,Customer’s printer – can’t\n3,Wait…\n";
const RUSSIAN = table("номер,имя,заметка", "Иван Петров,Проверка связи");
const JAPANESE = table("番号,名前,備考", "山田太郎,東京都の問い合わせ");
const CZECH = table("číslo,jméno,poznámka", "Jiří Dvořák,Žluťoučký kůň");
const GREEK = table("αριθμός,όνομα", "Γιώργος Παπαδόπουλος");
const CHINESE = table("编号,姓名", "张伟的问题");
const TRADITIONAL = table("編號,姓名", "張偉的問題");
const KOREAN = table("번호,이름", "김철수 문의");
const ARABIC = table("رقم,اسم", "محمد علي");
const TURKISH = table("sıra,ad", "İsmail Şahin Iğdır");
const LATE = `id,name\n${`1,plain ascii ${"x".repeat(40)}\n`.repeat(10_000)}`;

const CP850 = { ü: 0x81, ä: 0x84, ö: 0x94, ß: 0xe1 };
/** EBCDIC (code page 500) of what is in the German table. */
const EBCDIC = Object.fromEntries([
  ...Array.from("abcdefghi", (letter, index) => [letter, 0x81 + index]),
  ...Array.from("jklmnopqr", (letter, index) => [letter, 0x91 + index]),
  ...Array.from("stuvwxyz", (letter, index) => [letter, 0xa2 + index]),
  ...Array.from("0123456789", (digit, index) => [digit, 0xf0 + index]),
  ...Object.entries({ J: 0xd1, G: 0xc7, S: 0xe2, ü: 0xdc, ö: 0xcc, ä: 0x43, ß: 0x59, " ": 0x40, ",": 0x6b }),
  ["\n", 0x25],
]) as Readonly<Record<string, number>>;

const BYTE_ORDER_MARK = "\uFEFF";
const bytes = (...parts: readonly (string | Buffer | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));

/** Files that are read without a question, with their text. */
const certain: Readonly<Record<string, readonly [Buffer, string]>> = {
  "UTF-8 with a byte order mark": [bytes(BYTE_ORDER_MARK, GERMAN), GERMAN],
  "UTF-8 with characters that replaced others": [bytes(GERMAN, "41,J\uFFFDrgen,\n"), `${GERMAN}41,J\uFFFDrgen,\n`],
  "UTF-8 with telephone numbers and escapes": [
    bytes("id,a\n1,+420-777\n2,+49 30\n3,~{x\n4,\u001B[31mred\n$Base,\t$A12\n"),
    "id,a\n1,+420-777\n2,+49 30\n3,~{x\n4,\u001B[31mred\n$Base,\t$A12\n",
  ],
  "UTF-16 with a byte order mark": [encodeUtf16(BYTE_ORDER_MARK + GERMAN), GERMAN],
  "big-endian UTF-16 with a byte order mark": [encodeUtf16(BYTE_ORDER_MARK + GERMAN, true), GERMAN],
  "UTF-16 without a byte order mark": [encodeUtf16(GERMAN), GERMAN],
  "big-endian UTF-16 without a byte order mark": [encodeUtf16(GERMAN, true), GERMAN],
  "UTF-16 without a byte order mark in Japanese": [encodeUtf16(JAPANESE), JAPANESE],
  "Windows-1252": [encodeAs("windows-1252", GERMAN), GERMAN],
};

/** Files whose encoding is asked for: what is said, and the encoding in which they are right, if one can be chosen. */
const asked: Readonly<
  Record<string, readonly [Buffer, says: string, right?: readonly [encoding: string, text: string]]>
> = {
  "Windows-1252 with words of accents alone": [
    encodeAs("windows-1252", ACCENTS),
    "row 2 isn't valid UTF-8",
    ["windows-1252", ACCENTS],
  ],
  "code page 850": [encodeBy(CP850, GERMAN), "row 2 isn't valid UTF-8"],
  "Mac OS Roman": [encodeAs("macintosh", GERMAN), "row 2 isn't valid UTF-8", ["macintosh", GERMAN]],
  EBCDIC: [encodeBy(EBCDIC, GERMAN), "row 1 isn't valid UTF-8"],
  "Windows-1251": [encodeAs("windows-1251", RUSSIAN), "row 1 isn't valid UTF-8", ["windows-1251", RUSSIAN]],
  "KOI8-R": [encodeAs("koi8-r", RUSSIAN), "row 1 isn't valid UTF-8", ["koi8-r", RUSSIAN]],
  IBM866: [encodeAs("ibm866", RUSSIAN), "row 1 isn't valid UTF-8", ["ibm866", RUSSIAN]],
  "ISO-8859-5": [encodeAs("iso-8859-5", RUSSIAN), "row 1 isn't valid UTF-8", ["iso-8859-5", RUSSIAN]],
  "Shift JIS": [encodeAs("shift_jis", JAPANESE), "row 1 isn't valid UTF-8", ["shift_jis", JAPANESE]],
  "EUC-JP": [encodeAs("euc-jp", JAPANESE), "row 1 isn't valid UTF-8", ["euc-jp", JAPANESE]],
  "Windows-1250": [encodeAs("windows-1250", CZECH), "row 1 isn't valid UTF-8", ["windows-1250", CZECH]],
  "ISO-8859-2": [encodeAs("iso-8859-2", CZECH), "row 1 isn't valid UTF-8", ["iso-8859-2", CZECH]],
  "Windows-1253": [encodeAs("windows-1253", GREEK), "row 1 isn't valid UTF-8", ["windows-1253", GREEK]],
  "GB 18030": [encodeAs("gb18030", CHINESE), "row 1 isn't valid UTF-8", ["gb18030", CHINESE]],
  Big5: [encodeAs("big5", TRADITIONAL), "row 1 isn't valid UTF-8", ["big5", TRADITIONAL]],
  "EUC-KR": [encodeAs("euc-kr", KOREAN), "row 1 isn't valid UTF-8", ["euc-kr", KOREAN]],
  "Windows-1256": [encodeAs("windows-1256", ARABIC), "row 1 isn't valid UTF-8", ["windows-1256", ARABIC]],
  "Windows-1254": [encodeAs("windows-1254", TURKISH), "row 1 isn't valid UTF-8", ["windows-1254", TURKISH]],
  "Windows-1252 in its last row alone": [
    bytes(LATE, encodeAs("windows-1252", "1,Müller\n")),
    "row 10002 isn't valid UTF-8",
    ["windows-1252", `${LATE}1,Müller\n`],
  ],
  "no encoding that there is": [bytes(LATE, [0x31, 0x2c, 0xc3, 0x81, 0x81]), "row 10002 isn't valid UTF-8"],
  ...Object.fromEntries(
    [
      ["German", GERMAN, [0xc3]],
      ["Russian", RUSSIAN, [0xd0]],
    ].map(([language, text, damage]) => [
      `UTF-8 with a bad byte in ${String(language)}`,
      [
        bytes(text as string, "99,M", damage as readonly number[], ",x\n"),
        "row 42 isn't valid UTF-8, but most others are: fix the damaged row",
      ],
    ]),
  ),
};

/** Files that are rejected. */
const rejected: Readonly<Record<string, readonly [Buffer, says: string]>> = {
  "UTF-8 with a byte order mark and a bad byte": [bytes(BYTE_ORDER_MARK, GERMAN, [0xff]), "row 42 isn't valid UTF-8"],
  "UTF-16 with half a character": [bytes(encodeUtf16(BYTE_ORDER_MARK + GERMAN), [0x41]), "row 42 isn't valid UTF-16"],
  "UTF-16 with half a surrogate pair": [
    encodeUtf16(`${BYTE_ORDER_MARK}${GERMAN}9,\uD800,x\n`),
    "row 42 isn't valid UTF-16",
  ],
  "UTF-32 with a byte order mark": [encodeUtf32(BYTE_ORDER_MARK + GERMAN), "this is UTF-32; save it as UTF-8"],
  "big-endian UTF-32 with a byte order mark": [
    encodeUtf32(BYTE_ORDER_MARK + GERMAN, true),
    "this is UTF-32; save it as UTF-8",
  ],
  "UTF-32 without a byte order mark": [encodeUtf32(GERMAN), "this looks like a binary file"],
};

const folder = mkdtempSync(join(tmpdir(), "encodings-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The text that the command reads. */
const readByCommand = async (file: Buffer, encoding?: string): Promise<string> => {
  const path = join(folder, "file.csv");
  writeFileSync(path, file);
  const opened = await openCsv(path, { encoding, delimiter: undefined, sheet: undefined });
  const text = await opened.blob.text();
  await opened.close();
  return text;
};
const readOnPage = (file: Buffer) => readFile(new File([file], "file.csv"));

describe("a file in one of many encodings", () => {
  test("whose letters are all capitals isn't offered as Hebrew, which would have points on Latin letters", async () => {
    const { doubt } = await findTextFormat(new Blob([encodeAs("windows-1252", "id,name\n1,CAFÉ\n2,Öl\n")]));
    expect(doubt?.likely.map(({ encoding }) => encoding)).toEqual(["windows-1252"]);
  });

  test.each([
    ["windows-1252", MARKS],
    ["windows-1252", "id,note\n1,€ 11\n"],
    ["macintosh", MARKS],
  ])("with more marks than letters is first offered in %s", async (right, text) => {
    const { doubt } = await findTextFormat(new Blob([encodeAs(right, text)]));
    expect(doubt?.likely[0]?.encoding).toBe(right);
  });

  test.each(Object.entries(certain))("%s is read", async (_, [file, text]) => {
    expect(await readByCommand(file)).toBe(text);
    expect((await readOnPage(file)).text).toMatchObject({ asked: undefined });
  });

  test.each(Object.entries(asked))("%s is asked about, and never read as something else", async (_, expected) => {
    const [file, says, right] = expected;
    await expect(readByCommand(file)).rejects.toThrow(says);
    const { doubt } = (await readOnPage(file)).text!.format;
    expect(doubt?.problem).toContain(says);
    expect(doubt?.likely.map(({ encoding }) => encoding)).not.toContain("utf-8");
    if (right === undefined) return;
    const [encoding, text] = right;
    await expect(readByCommand(file)).rejects.toThrow(`--encoding ${encoding}`);
    expect(doubt?.likely).toContainEqual({ encoding, values: expect.any(Array) });
    const values = doubt!.likely.find((each) => each.encoding === encoding)!.values;
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) expect(text).toContain(value);
    expect(await readByCommand(file, encoding)).toBe(text);
  });

  test.each(Object.entries(rejected))("%s is rejected", async (_, [file, says]) => {
    await expect(readByCommand(file)).rejects.toThrow(says);
    await expect(readOnPage(file)).rejects.toThrow(new RegExp(says.replaceAll("'", "’"), "i"));
  });

  test("is rejected where the encoding that was chosen has no such character", async () => {
    await expect(readByCommand(encodeBy(CP850, GERMAN), "latin1")).rejects.toThrow("row 2 isn't valid Windows-1252");
    await expect(readByCommand(bytes(LATE, [0x82]), "shift_jis")).rejects.toThrow("row 10002 isn't valid Shift JIS");
    await expect(readByCommand(encodeUtf16(BYTE_ORDER_MARK + GERMAN), "windows-1252")).rejects.toThrow(
      "the file isn't Windows-1252: it begins with a byte order mark of UTF-16",
    );
  });

  test("shows the letters that tell the likely encodings apart, wherever they are in it", async () => {
    const many = table("id,name", "Jürgen").repeat(2000);
    const file = encodeAs("windows-1254", `${many}1,Işık\n`);
    const { doubt } = (await readOnPage(file)).text!.format;
    expect(doubt?.likely.find(({ encoding }) => encoding === "windows-1254")?.values).toContain("Işık");
  });

  test("counts rows as a spreadsheet does", async () => {
    const file = encodeAs("windows-1252", 'sep=;\nid;note\n1;"a\nb"\n2;Zoë\n');
    await expect(readByCommand(file)).rejects.toThrow("row 3 isn't valid UTF-8");
    const returns = encodeAs("windows-1252", "id;note\r1;x\r2;Zoë\r");
    await expect(readByCommand(returns)).rejects.toThrow("row 3 isn't valid UTF-8");
  });
});
