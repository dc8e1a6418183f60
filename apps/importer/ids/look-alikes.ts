/**
 * Letters that look like other ones in most fonts: Cyrillic and Greek ones like Latin ones, and kana like kana or
 * ideographs (a selection of https://www.unicode.org/Public/security/latest/confusables.txt). Case stays.
 */
const LOOKS = new Map<string, string>(
  [
    ["АВЕЅІЈКМНОРСТУХ", "ABESIJKMHOPCTYX"],
    ["аеѕіјорсух", "aesijopcyx"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo"],
    ["へべぺ力口工夕二八卜一", "ヘベペカロエタニハトー"],
    ["‐‑‒–—―−’‘ʼ", "-------'''"],
  ].flatMap(([from = "", to = ""]) => Array.from(from, (letter, index) => [letter, to.charAt(index)] as const)),
);

/** What a text looks like: texts with the same looks are written with other characters or with other white space. */
export function looksOf(text: string): string {
  // Nearly all IDs: ASCII without spaces looks like itself.
  if (/^[!-~]*$/.test(text)) return text;
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}|\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/\P{ASCII}/gu, (letter) => LOOKS.get(letter) ?? letter)
    .replaceAll(/\s+/g, " ")
    .trim();
}
