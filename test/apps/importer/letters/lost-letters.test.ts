import { expect, test } from "vitest";
import { lostLettersIn } from "../../../../apps/importer/letters/lost-letters.ts";
import { proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";

const PEOPLE = ["Иван Петров", "Γιώργος", "Jürgen Müller", "Łukasz Żółć", "Nguyễn Văn", "山田太郎", "שלום", "Ñandú"];
const ENCODINGS = ["windows-1252", "windows-1250", "windows-1251", "macintosh", "ibm866", "koi8-r"];

test.each(ENCODINGS)("knows people whose UTF-8 was read as %s, and no one who is spelled right", (encoding) => {
  const misread = (text: string): string => new TextDecoder(encoding).decode(new TextEncoder().encode(text));
  expect(PEOPLE.map((person) => lostLettersIn(misread(person))?.corrected)).toEqual(PEOPLE);
  expect(PEOPLE.map(lostLettersIn).filter(Boolean)).toEqual([]);
});

test("knows letters that were lost in other ways, and what they were", () => {
  const lost =
    "M├╝ller|Müller;Jos├⌐|José;OΓÇÖNeil|O’Neil;MÃƒÂ¼ller|Müller;Ã–zil|Özil;JosÃ©|José;Oâ€™Neil|O’Neil;J¸rgen|Jürgen;MŸller|Müller;M\u0081ller|Müller;" +
    "M\\u00f6ller|Möller;=?utf-8?Q?J=C3=BCrgen_M?=|Jürgen M;=?utf-8?B?SsO8?=|Jü;???? ??????|;J?rg|;Zo\uFFFD|";
  const pairs = [
    ...lost.split(";").map((pair) => pair.split("|")),
    ["M&uuml;ller &#38; Co", "Müller & Co"],
    ["10Ã·2", "10÷2"],
    ["\u001B$B;3ED\u001B(B", ""],
  ];
  for (const [text = "", corrected] of pairs) {
    expect(lostLettersIn(text), text).toEqual({ text, corrected: corrected || undefined });
  }
  const right =
    "её»;«Ёлка»;CAFÉ…;PĂŞUNE;IRMÃ…;„Spaß“;allé…»;VÄXJÖ–MALMÖ;Paris–Évry;√π und √2;Žižka;Why? Because;pourquoi ???;" +
    "a.php?id=3;C:\\users;A+B-C;AT&T; x;10×½;5 °C;Şişli Ğ;T+3-Tage";
  expect(right.split(";").filter(lostLettersIn)).toEqual([]);
});

test("asks about every column that people read", () => {
  const rows = [
    ["T-1", "Closed", "DrÃ¼cker", "gut"],
    ["T-2", "Open", "Maus", "sch├╢n"],
  ];
  const names = ["Ticket ID", "Status", "Subject", "Note"];
  const { columns, fileDoubt } = proposeMapping({ names, rows, delimiter: ",", timeZone: "UTC", now: 0 });
  expect(columns.map(({ certainty }) => certainty)).toEqual(["certain", "certain", "likely", "unknown"]);
  expect(fileDoubt).toBe(
    'in "Note", values such as "sch├╢n" lost letters when they were converted: "schön" is probably meant',
  );
  const lost = [...rows, ["T-3", "Open", "Mouse", "#REF!"]].map(([id = "", status = "", , note = ""]) => [
    id,
    status,
    "",
    note,
  ]);
  const other = proposeMapping({ names, rows: lost.slice(2), delimiter: ",", timeZone: "UTC", now: 0 });
  expect(other.fileDoubt).toBe('in "Note", "#REF!" stands in place of values that were lost');
});
