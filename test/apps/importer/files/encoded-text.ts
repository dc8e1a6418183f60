/** The bytes of each character of an encoding, which are found by decoding: Node has no encoders. */
const bytesOf = (encoding: string): ReadonlyMap<string, readonly number[]> => {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const found = new Map<string, readonly number[]>();
  const add = (...bytes: readonly number[]): void => {
    try {
      const text = decoder.decode(Uint8Array.from(bytes));
      if (Array.from(text).length === 1 && !found.has(text)) found.set(text, bytes);
    } catch {
      // No character has these bytes.
    }
  };
  for (let first = 0; first < 256; first++) add(first);
  if (!/^(?:windows|iso|koi8|ibm|macintosh)/.test(encoding)) {
    for (let first = 0x81; first < 255; first++) for (let second = 0x40; second < 255; second++) add(first, second);
  }
  return found;
};

const tables = new Map<string, ReadonlyMap<string, readonly number[]>>();

/** A text in an encoding of the Encoding Standard that has one or two bytes for a character. */
export const encodeAs = (encoding: string, text: string): Buffer => {
  const table = tables.get(encoding) ?? bytesOf(encoding);
  tables.set(encoding, table);
  return Buffer.from(
    Array.from(text).flatMap((character) => {
      const bytes = table.get(character);
      if (!bytes) throw new Error(`${encoding} has no ${character}`);
      return bytes;
    }),
  );
};

/** A text by a table of the characters that aren't ASCII. */
export const encodeBy = (table: Readonly<Record<string, number>>, text: string): Buffer =>
  Buffer.from(Array.from(text).map((character) => table[character] ?? character.charCodeAt(0)));

export const encodeUtf16 = (text: string, isBigEndian = false): Buffer => {
  const bytes = Buffer.from(text, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
};

export const encodeUtf32 = (text: string, isBigEndian = false): Buffer => {
  const bytes = Buffer.alloc(Array.from(text).length * 4);
  Array.from(text).forEach((character, index) => bytes.writeUInt32LE(character.codePointAt(0)!, index * 4));
  return isBigEndian ? bytes.swap32() : bytes;
};
