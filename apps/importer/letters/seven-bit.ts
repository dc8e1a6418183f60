import { decodeStrictly } from "./encodings.ts";
import { isWritten } from "./alphabets.ts";

const ESCAPE = "\u001B";
const JAPANESE = new RegExp(String.raw`${ESCAPE}(?:\$[@B]|\([IJ])`);
/** Signs that a file in ASCII has another encoding, which escapes to its letters: what people call it, and its decoder. */
const SIGNS = [
  { name: "ISO-2022-JP", encoding: "iso-2022-jp", pattern: JAPANESE },
  { name: "ISO-2022", encoding: undefined, pattern: new RegExp(String.raw`${ESCAPE}\$[()*+A]`) },
];

/** The first such sign in a part of a file, with its position. @param start that of the part */
export function sevenBitSignIn(text: string, start: number) {
  for (const { pattern, ...sign } of SIGNS) {
    const at = text.search(pattern);
    if (at !== -1) return { ...sign, offset: start + at };
  }
  return undefined;
}

/** The letters outside ASCII that UTF-7 has in Base64 without spare bits; undefined if it has none. */
function decodeUtf7(base64: string): string | undefined {
  const padded = base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
  if (base64.length % 4 === 1 || btoa(atob(padded)) !== padded) return undefined;
  const text = decodeStrictly(
    Uint8Array.from(atob(padded), (byte) => byte.charCodeAt(0)),
    "utf-16be",
  );
  return text !== undefined && isWritten(text) ? text : undefined;
}

/** A text without signs of seven-bit encodings. */
export function withoutSevenBit(text: string): string {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  if (JAPANESE.test(text)) return new TextDecoder("iso-2022-jp").decode(bytes);
  const chinese = text.replaceAll(/~\{((?:[!-}][!-~])+)~\}/g, (_, pairs: string) =>
    new TextDecoder("gbk").decode(Uint8Array.from(pairs, (character) => character.charCodeAt(0) | 0x80)),
  );
  return chinese.replaceAll(/\+([\d+/A-Za-z]{3,})-/g, (sign, base64: string) => decodeUtf7(base64) ?? sign);
}
