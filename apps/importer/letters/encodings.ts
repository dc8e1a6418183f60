/** The encoding in which files are sent. */
export const UTF_8 = "utf-8";

/** What people call the encodings of text files, by their names in the Encoding Standard; the most common first. */
export const ENCODINGS: Readonly<Record<string, string>> = {
  [UTF_8]: "UTF-8",
  "utf-16le": "UTF-16 (little-endian)",
  "utf-16be": "UTF-16 (big-endian)",
  "windows-1252": "Windows-1252 (Western European)",
  "windows-1250": "Windows-1250 (Central European)",
  "iso-8859-2": "ISO-8859-2 (Central European)",
  "windows-1251": "Windows-1251 (Cyrillic)",
  "koi8-r": "KOI8-R (Cyrillic)",
  ibm866: "IBM866 (Cyrillic, DOS)",
  "iso-8859-5": "ISO-8859-5 (Cyrillic)",
  "windows-1253": "Windows-1253 (Greek)",
  "windows-1254": "Windows-1254 (Turkish)",
  "windows-1255": "Windows-1255 (Hebrew)",
  "windows-1256": "Windows-1256 (Arabic)",
  "windows-1257": "Windows-1257 (Baltic)",
  "windows-1258": "Windows-1258 (Vietnamese)",
  "windows-874": "Windows-874 (Thai)",
  shift_jis: "Shift JIS (Japanese)",
  "euc-jp": "EUC-JP (Japanese)",
  "iso-2022-jp": "ISO-2022-JP (Japanese)",
  gb18030: "GB 18030 or GBK (Simplified Chinese)",
  big5: "Big5 (Traditional Chinese)",
  "euc-kr": "EUC-KR (Korean)",
  "iso-8859-15": "ISO-8859-15 (Western European)",
  macintosh: "Mac OS Roman",
};

export function encodingName(encoding: string): string {
  return ENCODINGS[encoding]?.replace(/ \(.*/, "") ?? encoding;
}

/** Tables don't contain the control characters U+0080 to U+009F: decoders return them for undefined bytes. */
const UNDEFINED_BYTES = /[\u0080-\u009F]/;

/** Decodes text in pieces, without replacing anything in it. */
export class StrictDecoder {
  readonly #decoder;

  /** @throws RangeError if the encoding doesn't exist */
  constructor(encoding: string) {
    this.#decoder = new TextDecoder(encoding, { fatal: true });
  }

  /**
   * The text of the next bytes; without bytes, the end of the text.
   * @throws TypeError if they aren't text in this encoding
   */
  decode(bytes?: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: bytes !== undefined });
    if (!this.#decoder.encoding.startsWith("utf-") && UNDEFINED_BYTES.test(text)) {
      throw new TypeError(`bytes that ${this.#decoder.encoding} doesn't define`);
    }
    return text;
  }
}

/** Bytes as a text without replacing anything in it; undefined if they aren't text in this encoding. */
export function decodeStrictly(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    const decoder = new StrictDecoder(encoding);
    return decoder.decode(bytes) + decoder.decode();
  } catch {
    return undefined;
  }
}
