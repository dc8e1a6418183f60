import { StrictDecoder } from "./encodings.ts";

/** A text whose letters aren't those that somebody wrote, and the text as it may have been; undefined if that is lost. */
export interface LostLetters {
  readonly text: string;
  readonly corrected: string | undefined;
}

/** Code page 437, in which Windows prints to a terminal: the characters of the bytes from 0x80 on. */
const CP437 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";

const UPPER_HALF = Uint8Array.from({ length: 128 }, (_, index) => 128 + index);

function upperHalfOf(encoding: string): string {
  return new TextDecoder(encoding).decode(UPPER_HALF);
}

/** The bytes of the characters of an encoding. */
function bytesBy(characters: string): ReadonlyMap<string, number> {
  return new Map(Array.from(characters, (character, index) => [character, 128 + index] as const));
}

const PRINTED = upperHalfOf("windows-1252");
const WINDOWS = bytesBy(PRINTED);
const MACINTOSH = bytesBy(upperHalfOf("macintosh"));
/** Encodings in which UTF-8 is often read by mistake, each with how such a run of characters looks. */
const MISREAD = [
  WINDOWS,
  bytesBy(String.fromCharCode(...UPPER_HALF)),
  MACINTOSH,
  ...["windows-1250", "windows-1251", "windows-1253", "ibm866", "koi8-r"].map((name) => bytesBy(upperHalfOf(name))),
  bytesBy(CP437),
].map((bytes) => {
  const of = (first: number, last: number): string =>
    `[${[...bytes].flatMap(([character, byte]) => (byte >= first && byte <= last ? character : [])).join("")}]`;
  const next = of(0x80, 0xbf);
  const sequences = `${of(0xc2, 0xdf)}${next}|${of(0xe0, 0xef)}${next}{2}|${of(0xf0, 0xf4)}${next}{3}`;
  return { bytes, pattern: new RegExp(`^(?:${sequences})+$`) };
});

const FOREIGN = /[^\0-\u007F]{2,}/gu;
/** Letters and signs that people write, among those of two or three bytes; all others are chance. */
const USUAL =
  /^[\u00A0-\u017F\u0218-\u021B\u0386-\u03CE\u0401-\u045F\u0490-\u0491\u05D0-\u05EA\u0621-\u064A\u0660-\u0669\u067E-\u06CC\u0E01-\u0E5B\u1E00-\u1EF9\u2010-\u2044\u20AC\u2122\u3001-\u30FF\u4E00-\u9FFF\uAC00-\uD7A3\uFF01-\uFF5E\p{Emoji}\uFE0F]+$/u;
const LATIN_ONE = /^[\u00A0-\u017F\u0218-\u021B\u1E00-\u1EF9]$/u;
const PUNCTUATION = /^[\u2010-\u2044\u20AC\u2122]$/u;
/** What ends a word: after a capital letter, no sign of a wrong encoding. */
const ENDS_WORD = /[«»\u2013-\u203A]$/u;

/** What a run of characters outside ASCII was. @param before, after its neighbours */
function correctedRun(run: string, before: string, after: string): string | undefined {
  for (const { bytes, pattern } of MISREAD) {
    const found = pattern.test(run)
      ? new TextDecoder().decode(Uint8Array.from(run, (character) => bytes.get(character)!))
      : "";
    if (!USUAL.test(found)) continue;
    const letters = Array.from(found);
    const isBesideLetter = /[a-z]$/i.test(before) || /^[a-z]/i.test(after);
    const isInSmall = /[a-z]$/.test(before) || /^[a-z]/.test(after);
    const isUsual = !isInSmall && (/^\p{Lu}+$/u.test(run) || ENDS_WORD.test(run));
    const [first = ""] = letters;
    if (letters.length > 1 || (PUNCTUATION.test(first) && (bytes === WINDOWS || isBesideLetter))) return found;
    // One letter may be chance.
    if (!LATIN_ONE.test(first) || isUsual) continue;
    if (isBesideLetter || run.startsWith("Ã")) return found;
  }
  return undefined;
}

/** A text without what reading UTF-8 in another encoding, once or twice, made of it. */
function withoutMisreading(text: string): string {
  const corrected = text.replaceAll(
    FOREIGN,
    (run, at: number) => correctedRun(run, text.slice(0, at), text.slice(at + run.length)) ?? run,
  );
  return corrected === text ? text : withoutMisreading(corrected);
}

/** Characters of one encoding that were read in another of single bytes. */
function reread(from: ReadonlyMap<string, number>, encoding: string): (characters: string) => string {
  return (characters) =>
    new TextDecoder(encoding).decode(
      Uint8Array.from(characters, (character) => from.get(character) ?? character.codePointAt(0)!),
    );
}

const MARKS = new Map(
  "uml \u0308,acute \u0301,grave \u0300,circ \u0302,tilde \u0303,cedil \u0327,ring \u030A,caron \u030C"
    .split(",")
    .map((pair) => pair.split(" ") as [string, string]),
);
const ENTITIES = new Map(
  "amp &,lt <,gt >,quot \",apos ',nbsp \u00A0,szlig ß,oslash ø,Oslash Ø,aelig æ,AElig Æ,hellip …,ndash –,mdash —,rsquo ’,euro €"
    .split(",")
    .map((pair) => pair.split(" ") as [string, string]),
);
const ENTITY = new RegExp(
  `&(?:#(\\d{2,6})|#x([\\da-f]{2,5})|([a-z])(${[...MARKS.keys()].join("|")})|(${[...ENTITIES.keys()].join("|")}));`,
  "gi",
);

function withoutEntities(text: string): string {
  return text.replaceAll(ENTITY, (entity, decimal?: string, hex?: string, letter?: string, mark = "", name = "") => {
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    if (letter !== undefined) return (letter + (MARKS.get(mark.toLowerCase()) ?? "")).normalize();
    return Number.isNaN(code) ? (ENTITIES.get(name) ?? entity) : String.fromCodePoint(Math.min(code, 0x10_ffff));
  });
}

/** A word of an email's header. */
const ENCODED_WORD = /=\?([\w-]+)\?([BQ])\?([^? ]*)\?=/gi;

function withoutEncodedWords(text: string): string {
  return text.replaceAll(ENCODED_WORD, (word, encoding: string, kind: string, content: string) => {
    const ofHex = (_: string, hex: string): string => String.fromCodePoint(Number.parseInt(hex, 16));
    try {
      const bytes = /b/i.test(kind) ? atob(content) : content.replaceAll("_", " ").replaceAll(/=([\da-f]{2})/gi, ofHex);
      return new TextDecoder(encoding).decode(Uint8Array.from(bytes, (byte) => byte.codePointAt(0)!));
    } catch {
      return word;
    }
  });
}

/** The letters outside ASCII that UTF-7 has in Base64 without spare bits; undefined if it has none. */
function decodeUtf7(base64: string): string | undefined {
  try {
    const bytes = atob(base64);
    if (btoa(bytes).replaceAll("=", "") !== base64) return undefined;
    const decoder = new StrictDecoder("utf-16be");
    const text = decoder.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))) + decoder.decode();
    return USUAL.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** A text without signs of seven-bit encodings. */
function withoutSevenBit(text: string): string {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  if (/\p{Cc}(?:\$[@B]|\([IJ])/u.test(text)) return new TextDecoder("iso-2022-jp").decode(bytes);
  const chinese = text.replaceAll(/~\{((?:[!-}][!-~])+)~\}/g, (_, pairs: string) =>
    new TextDecoder("gbk").decode(Uint8Array.from(pairs, (character) => character.charCodeAt(0) | 0x80)),
  );
  return chinese.replaceAll(/\+([\d+/A-Za-z]{3,})-/g, (sign, base64: string) => decodeUtf7(base64) ?? sign);
}

/** Ways by which texts lost their letters, each with the sign of it and what brings them back. */
const WAYS: readonly { readonly sign: RegExp; readonly correct: (text: string) => string }[] = [
  { sign: /[^\0-\u007F]{2}/, correct: withoutMisreading },
  {
    sign: /[\u0080-\u0084\u0086-\u009F]/,
    correct: (text) =>
      text.replaceAll(/[\u0080-\u009F]/g, (control) => {
        const character = PRINTED[control.charCodeAt(0) - 128]!;
        return character === control ? CP437[control.charCodeAt(0) - 128]! : character;
      }),
  },
  // Windows-1252 that was read as Mac OS Roman, and the reverse.
  {
    sign: /\p{L}[¸ˆ‰‡ﬂ](?=\p{L})/u,
    correct: (text) => text.replaceAll(/(?<=\p{L})[¸ˆ‰‡ﬂ](?=\p{L})/gu, reread(MACINTOSH, "windows-1252")),
  },
  {
    sign: /\p{Ll}[ŠŽŸ](?=\p{Ll}|$)|\p{L}Ÿ(?=\p{Ll})/u,
    correct: (text) =>
      text.replaceAll(/(?<=\p{Ll})[ŠŽŸ](?=\p{Ll}|$)|(?<=\p{L})Ÿ(?=\p{Ll})/gu, reread(WINDOWS, "macintosh")),
  },
  {
    sign: /\\u[\da-f]{4}/i,
    correct: (text) =>
      text.replaceAll(/\\u([\da-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  },
  { sign: ENCODED_WORD, correct: withoutEncodedWords },
  { sign: ENTITY, correct: withoutEntities },
  { sign: /\p{Cc}[$(]|~\{|\+[\d+/A-Za-z]{3,}-/u, correct: withoutSevenBit },
];

/** U+FFFD, question marks in place of all letters, or of one within a word. */
const REPLACED =
  /\uFFFD|^(?=[^?]*\?[^?]*\?[^?]*\?)[\s\d?.,;:!()'"-]*$|(?:^|\s)\p{L}*\p{L}\?\p{Ll}\p{L}*(?=[\s.,;:!?)]|$)/u;
/** A quick check: nearly no text has any of these. */
const MAY_BE_LOST = /[^ -~]|[?&]|\\u|~\{|\+.*-/;

/** What is wrong with the letters of a text; undefined if nothing is. */
export function lostLettersIn(text: string): LostLetters | undefined {
  if (!MAY_BE_LOST.test(text)) return undefined;
  const corrected = WAYS.reduce((now, { sign, correct }) => (now.search(sign) === -1 ? now : correct(now)), text);
  if (corrected !== text && !corrected.includes("\uFFFD")) return { text, corrected };
  return /[?\uFFFD]/.test(text) && REPLACED.test(text) ? { text, corrected: undefined } : undefined;
}

/** What speaks against a column with lost letters, as a sentence without its end. */
export function doubtsOfLetters(lost: LostLetters | undefined): string[] {
  if (lost === undefined) return [];
  const probably = lost.corrected === undefined ? "" : `: "${lost.corrected}" is probably meant`;
  return [`values such as "${lost.text}" lost letters when they were converted${probably}`];
}
