import { alphabetsIn, isWritten } from "./alphabets.ts";

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
/** Encodings in which UTF-8 is often read by mistake, with the bytes of their characters. */
const MISREAD = [
  WINDOWS,
  bytesBy(String.fromCharCode(...UPPER_HALF)),
  MACINTOSH,
  ...["windows-1250", "windows-1251", "windows-1253", "ibm866", "koi8-r"].map((name) => bytesBy(upperHalfOf(name))),
  bytesBy(CP437),
];

const FOREIGN = /[^\0-\u007F]{2,}/gu;
const PUNCTUATION = /^[\u2010-\u2044\u20AC\u2122]$/u;
/** What ends a word: after a capital letter, no sign of a wrong encoding. */
const ENDS_WORD = /[«»\u2013-\u203A]$/u;

/** The text that a run of characters was, if their bytes are UTF-8 of what people write. */
function decodeRun(run: string, bytes: ReadonlyMap<string, number>): string | undefined {
  // Nearly all runs begin otherwise.
  if ((bytes.get(run[0]!) ?? 0) < 0xc2 || (bytes.get(run[1]!) ?? 0xff) > 0xbf) return undefined;
  const codes = Array.from(run, (character) => bytes.get(character) ?? 0);
  const text = new TextDecoder().decode(Uint8Array.from(codes));
  return isWritten(text) ? text : undefined;
}

/** What a run of characters outside ASCII was. @param before, after its neighbours */
function correctedRun(run: string, before: string, after: string): string | undefined {
  for (const bytes of MISREAD) {
    const found = decodeRun(run, bytes);
    if (found === undefined) continue;
    const isBesideLetter = /[a-z]$/i.test(before) || /^[a-z]/i.test(after);
    const isInSmall = /[a-z]$/.test(before) || /^[a-z]/.test(after);
    const isUsual = !isInSmall && (/^\p{Lu}+$/u.test(run) || ENDS_WORD.test(run));
    const [first = "", ...others] = found;
    if (others.length > 0 || (PUNCTUATION.test(first) && (bytes === WINDOWS || isBesideLetter))) return found;
    // One letter may be chance.
    if (isUsual || (first > "\u00FF" && alphabetsIn(first)[0] !== "latin")) continue;
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

function pairsOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(",").map((pair) => pair.split(" ") as [string, string]));
}
const MARKS = pairsOf(
  "uml \u0308,acute \u0301,grave \u0300,circ \u0302,tilde \u0303,cedil \u0327,ring \u030A,caron \u030C",
);
const ENTITIES = pairsOf(
  "amp &,lt <,gt >,quot \",apos ',nbsp \u00A0,szlig ß,oslash ø,Oslash Ø,aelig æ,AElig Æ,hellip …,ndash –,mdash —,rsquo ’,euro €",
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
];

/** U+FFFD, escapes of a Japanese file in ASCII, question marks in place of all letters, or of one within a word. */
const REPLACED =
  /\uFFFD|\p{Cc}\$[@B]|^(?=[^?]*\?[^?]*\?[^?]*\?)[\s\d?.,;:!()'"-]*$|(?:^|\s)\p{L}*\p{L}\?\p{Ll}\p{L}*(?=[\s.,;:!?)]|$)/u;
/** A quick check: nearly no text has any of these. */
const MAY_BE_LOST = /[^ -~]|[?&]|\\u/;

/** What is wrong with the letters of a text; undefined if nothing is. */
export function lostLettersIn(text: string): LostLetters | undefined {
  if (!MAY_BE_LOST.test(text)) return undefined;
  const corrected = WAYS.reduce((now, { sign, correct }) => (now.search(sign) === -1 ? now : correct(now)), text);
  if (corrected !== text && !corrected.includes("\uFFFD")) return { text, corrected };
  return /[?$\uFFFD]/.test(text) && REPLACED.test(text) ? { text, corrected: undefined } : undefined;
}

/** What speaks against a column with lost letters, as a sentence without its end. */
export function doubtsOfLetters(lost: LostLetters | undefined): string[] {
  if (lost === undefined) return [];
  const probably = lost.corrected === undefined ? "" : `: "${lost.corrected}" is probably meant`;
  return [`values such as "${lost.text}" lost letters when they were converted${probably}`];
}
