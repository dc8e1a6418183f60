/**
 * Letters that look like other ones in most fonts: Cyrillic and Greek ones like Latin ones, kana like kana or ideographs, and
 * dashes like hyphens (a selection of https://www.unicode.org/Public/security/latest/confusables.txt). Case stays.
 */
const ALPHABETS = [
  ["АВЕЅІЈКМНОРСТУХаеѕіјорсух", "ABESIJKMHOPCTYXaesijopcyx"],
  ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo"],
  ["へべぺ力口工夕二八卜一", "ヘベペカロエタニハトー"],
  ...Array.from("‐‑‒–—―−", (dash) => [dash, "-"]),
  ...Array.from("’‘ʼ", (mark) => [mark, "'"]),
].map(([from = "", to = ""]) => Array.from(from, (letter, index) => [letter, to.charAt(index)] as const));
const LOOKS = new Map(ALPHABETS.flat());
/** For each alphabet, the letters that look like the usual ones. */
const OTHERS = ALPHABETS.map((letters) => new Map(letters.map(([letter, usual]) => [usual, letter])));

/** Whether a text is in ASCII without spaces, as nearly all IDs are: it looks like itself. */
export function isPlain(text: string): boolean {
  return /^[!-~]*$/.test(text);
}

/** What a text looks like: texts with the same looks are written with other characters or with other white space. */
export function looksOf(text: string): string {
  if (isPlain(text)) return text;
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}|\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/\P{ASCII}/gu, (letter) => LOOKS.get(letter) ?? letter)
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Other likely spellings of an ID: of other alphabets, full width, and with composed or decomposed letters. Digits have none. */
export function otherSpellings(id: string): string[] {
  if (/^\d*$/.test(id)) return [];
  const looks = looksOf(id);
  const replaced = OTHERS.map((letters) => Array.from(looks, (letter) => letters.get(letter) ?? letter).join(""));
  const wide = looks.replaceAll(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
  const forms = ["NFC", "NFD", "NFKD"].map((form) => looks.normalize(form));
  return [...new Set([looks, ...forms, ...replaced, wide])].filter((spelling) => spelling !== id);
}
