import { cellsOf } from "../csv/csv-text.ts";
import type { Delimiter } from "../csv/delimiter.ts";

/**
 * A frame is the number of a row and a length (uint32 each, little-endian), and the row's bytes. Chunks, and the objects with lines
 * of lists, are frames one after the other.
 */
const WORD = 4;
const FRAME_HEAD = 2 * WORD;
const START_BYTES = 64 * 1024;

/** One row, or a line about one. */
export interface Frame {
  readonly row: number;
  readonly raw: Buffer;
}

/** Size of a frame in bytes. */
export function frameBytes({ raw }: Frame): number {
  return FRAME_HEAD + raw.length;
}

/** Where the frame at a byte ends; Infinity if the bytes end before its length. */
function frameEnd(bytes: Buffer, at: number): number {
  return at + FRAME_HEAD > bytes.length ? Infinity : at + FRAME_HEAD + bytes.readUInt32LE(at + WORD);
}

/** The frame at a byte; undefined if the bytes end before the frame does. */
export function frameAt(bytes: Buffer, at: number): Frame | undefined {
  const end = frameEnd(bytes, at);
  return end > bytes.length ? undefined : { row: bytes.readUInt32LE(at), raw: bytes.subarray(at + FRAME_HEAD, end) };
}

/** Appends frames to a growing buffer that is reused. */
export class FrameWriter {
  #buffer = Buffer.alloc(0);
  #length = 0;

  /** Bytes of all frames. */
  get length(): number {
    return this.#length;
  }

  add({ row, raw }: Frame): void {
    const at = this.#begin(row, raw.length);
    raw.copy(this.#buffer, at);
  }

  addText(row: number, text: string): void {
    const at = this.#begin(row, Buffer.byteLength(text));
    this.#buffer.write(text, at);
  }

  /** The frames as a view of the buffer, valid until the next `add`. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Makes room for a frame and writes its head. @returns where its bytes belong */
  #begin(row: number, bytes: number): number {
    const at = this.#length + FRAME_HEAD;
    const end = at + bytes;
    if (end > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, 2 * this.#buffer.length, START_BYTES));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.writeUInt32LE(row, this.#length);
    this.#buffer.writeUInt32LE(bytes, this.#length + WORD);
    this.#length = end;
    return at;
  }
}

/** One row of a chunk, as text. A thousand wait in memory, and a text takes less of it than a view of the chunk's bytes. */
export interface Row {
  /** Number of the row in the file. */
  readonly row: number;
  readonly text: string;
  /** The values of its cells. */
  readonly values: readonly string[];
  /** Size of its frame in bytes. */
  readonly bytes: number;
}

/** Reads the rows after a row from frames. Each piece of the source yields the rows that it completes. */
export async function* readRows(
  source: AsyncIterable<Uint8Array>,
  delimiter: Delimiter,
  after = 0,
): AsyncGenerator<Row[]> {
  let unread: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    unread = Buffer.concat([unread, piece]);
    const rows: Row[] = [];
    let at = 0;
    for (let end = frameEnd(unread, at); end <= unread.length; end = frameEnd(unread, at)) {
      const row = unread.readUInt32LE(at);
      if (row > after) {
        const text = unread.toString("utf8", at + FRAME_HEAD, end);
        rows.push({ row, text, values: cellsOf(text, delimiter), bytes: end - at });
      }
      at = end;
    }
    unread = unread.subarray(at);
    if (rows.length > 0) yield rows;
  }
}
