import { ROW_MAX_CHARACTERS } from "@work-items/lib/uploads/csv/csv-text.ts";
import { StrictDecoder } from "./encodings.ts";

/** A sign that ASCII characters encode other letters, as in encodings for email. */
export interface SevenBitSign {
  /** What people call the encoding. */
  readonly name: string;
  /** The encoding, if there is a decoder for it. */
  readonly encoding?: string;
  /** Position in the file. */
  readonly offset: number;
}

const ESCAPE = "\u001B";
export const SIGNS = [
  { name: "ISO-2022-JP", encoding: "iso-2022-jp", pattern: new RegExp(String.raw`${ESCAPE}(?:\$[@B]|\([IJ])`) },
  { name: "ISO-2022", pattern: new RegExp(String.raw`${ESCAPE}\$[()*+A]`) },
  { name: "HZ", pattern: /~\{(?:[!-}][!-~])+~\}/ },
];

/** The letters outside ASCII that Base64 holds without spare bits; undefined if it holds none. */
export function decodeUtf7(base64: string): string | undefined {
  try {
    const bytes = atob(base64);
    if (btoa(bytes).replaceAll("=", "") !== base64) return undefined;
    const decoder = new StrictDecoder("utf-16be");
    const text = decoder.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))) + decoder.decode();
    return /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}]+$/u.test(text) && /[^\0-\u007F]/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Looks for such signs in ASCII text that comes in pieces. */
export class SevenBitSigns {
  #found: SevenBitSign | undefined;
  /** Where UTF-7 begins, if so far the text may be UTF-7; undefined after a plus sign that UTF-7 doesn't have. */
  #utf7: { offset?: number } | undefined = {};
  #unread = "";
  #offset = 0;

  /** The first sign in the text. UTF-7 only counts if every plus sign fits it. */
  end(): SevenBitSign | undefined {
    this.#readLines(this.#unread);
    if (this.#found) return this.#found;
    return this.#utf7?.offset === undefined ? undefined : { name: "UTF-7", offset: this.#utf7.offset };
  }

  read(text: string): void {
    // A sign never spans lines.
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) this.#readLines(this.#unread + text.slice(0, end));
    this.#unread += text.slice(end);
    if (this.#unread.length > ROW_MAX_CHARACTERS) this.#readLines(this.#unread);
  }

  #readLines(text: string): void {
    if (!this.#found && (text.includes(ESCAPE) || text.includes("~{"))) {
      for (const { pattern, ...sign } of SIGNS) {
        const at = text.search(pattern);
        if (at !== -1) this.#found ??= { ...sign, offset: this.#offset + at };
      }
    }
    for (const { 0: run, 1: base64 = "", index } of this.#utf7 ? text.matchAll(/\+([\d+/A-Za-z]*)-?/g) : []) {
      if (run === "+-") continue;
      if (decodeUtf7(base64) === undefined) {
        this.#utf7 = undefined;
        break;
      }
      if (this.#utf7) this.#utf7.offset ??= this.#offset + index;
    }
    this.#offset += text.length;
    this.#unread = "";
  }
}
