import { ROW_MAX_CHARACTERS } from "@work-items/lib/uploads/csv/csv-text.ts";

/** A sign that a file in ASCII has another encoding, which escapes to its letters. */
export interface SevenBitSign {
  /** What people call the encoding. */
  readonly name: string;
  /** The encoding, if there is a decoder for it. */
  readonly encoding?: string;
  /** Position in the file. */
  readonly offset: number;
}

const ESCAPE = "\u001B";
const SIGNS = [
  { name: "ISO-2022-JP", encoding: "iso-2022-jp", pattern: new RegExp(String.raw`${ESCAPE}(?:\$[@B]|\([IJ])`) },
  { name: "ISO-2022", pattern: new RegExp(String.raw`${ESCAPE}\$[()*+A]`) },
];

/** Looks for such a sign in ASCII text that comes in pieces. */
export class SevenBitSigns {
  /** The first sign in the text. */
  found: SevenBitSign | undefined;
  #unread = "";
  #offset = 0;

  read(text: string): void {
    // A sign never spans lines.
    this.#unread += text;
    const end = this.#unread.length > ROW_MAX_CHARACTERS ? this.#unread.length : this.#unread.lastIndexOf("\n") + 1;
    this.#readLines(this.#unread.slice(0, end));
    this.#unread = this.#unread.slice(end);
  }

  /** @returns the first sign */
  end(): SevenBitSign | undefined {
    this.#readLines(this.#unread);
    return this.found;
  }

  #readLines(text: string): void {
    for (const { pattern, ...sign } of text.includes(ESCAPE) ? SIGNS : []) {
      const at = text.search(pattern);
      if (at !== -1) this.found ??= { ...sign, offset: this.#offset + at };
    }
    this.#offset += text.length;
  }
}
