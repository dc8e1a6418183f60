import { rawCells } from "../csv/csv-text.ts";
import type { Delimiter } from "../csv/delimiter.ts";

/**
 * A segment is an immutable object with the rows of a range of the file, grouped by part:
 * a table of `parts + 1` offsets (uint32, little-endian), then one block of frames for each part.
 * A frame is a row number, a length (uint32 each) and the row's bytes. Reading can resume between any two frames.
 */
const WORD = 4;
const FRAME_HEAD = 2 * WORD;
const BLOCK_START_BYTES = 64 * 1024;

/** Byte range `[from, to)` of a segment that holds the offsets of a part's block. */
export function tableEntry(part: number): { readonly from: number; readonly to: number } {
  return {
    from: WORD * part,
    to: WORD * (part + 2),
  };
}

/** Byte range `[from, to)` of a part's block in the segment. @param bytes the bytes in the range of `tableEntry` */
export function readTableEntry(bytes: Buffer): { readonly from: number; readonly to: number } {
  return {
    from: bytes.readUInt32LE(0),
    to: bytes.readUInt32LE(WORD),
  };
}

/** One row in a block. */
export interface Frame {
  readonly row: number;
  readonly raw: Buffer;
}

/** Size of a frame in bytes. */
export function frameBytes({ raw }: Frame): number {
  return FRAME_HEAD + raw.length;
}

/** Where the frame that begins at a byte ends; Infinity if the bytes don't show it. */
function frameEnd(bytes: Buffer, at: number): number {
  return at + FRAME_HEAD > bytes.length ? Infinity : at + FRAME_HEAD + bytes.readUInt32LE(at + WORD);
}

/** The frame that begins at a byte; undefined if the bytes end before the frame does. */
export function frameAt(bytes: Buffer, at: number): Frame | undefined {
  const end = frameEnd(bytes, at);
  return end > bytes.length ? undefined : { row: bytes.readUInt32LE(at), raw: bytes.subarray(at + FRAME_HEAD, end) };
}

/** Appends frames to a growing buffer that is reused. */
export class FrameWriter {
  #buffer = Buffer.alloc(0);
  #length = 0;

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
      const larger = Buffer.allocUnsafe(Math.max(end, 2 * this.#buffer.length, BLOCK_START_BYTES));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.writeUInt32LE(row, this.#length);
    this.#buffer.writeUInt32LE(bytes, this.#length + WORD);
    this.#length = end;
    return at;
  }
}

/** Collects rows and makes segments of them, one after the other. */
export class SegmentWriter {
  readonly #blocks: readonly FrameWriter[];
  readonly #tableBytes: number;
  #size = 0;
  /** The memory of all segments: V8 would let several of them wait before it collects them. */
  #segment = Buffer.alloc(0);

  constructor(parts: number) {
    this.#blocks = Array.from({ length: parts }, () => new FrameWriter());
    this.#tableBytes = WORD * (parts + 1);
  }

  /** Size of all blocks in bytes. */
  get size(): number {
    return this.#size;
  }

  add(part: number, frame: Frame): void {
    this.#blocks[part]?.add(frame);
    this.#size += frameBytes(frame);
  }

  /** Returns the segment, valid until the next one is taken, and begins an empty one. */
  take(): Buffer {
    const bytes = this.#tableBytes + this.#size;
    if (bytes > this.#segment.length) this.#segment = Buffer.allocUnsafe(bytes);
    let offset = this.#tableBytes;
    for (const [part, block] of this.#blocks.entries()) {
      this.#segment.writeUInt32LE(offset, WORD * part);
      offset += block.bytes().copy(this.#segment, offset);
      block.clear();
    }
    this.#segment.writeUInt32LE(offset, WORD * this.#blocks.length);
    this.#size = 0;
    return this.#segment.subarray(0, offset);
  }
}

/** One row of a part, as text. A thousand of them wait together: a text takes less than a view of the block's bytes. */
export interface Row {
  /** Number of the row in the file. */
  readonly row: number;
  readonly text: string;
  /** Its cells as they are in the text, with their quotes. */
  readonly cells: readonly string[];
  /** Size of its frame in bytes. */
  readonly bytes: number;
}

/** Reads the rows of frames; for each chunk of the source, those that it completes. */
export async function* readRows(source: AsyncIterable<Uint8Array>, delimiter: Delimiter): AsyncGenerator<Row[]> {
  let unread: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    unread = Buffer.concat([unread, chunk]);
    const rows: Row[] = [];
    let at = 0;
    for (let end = frameEnd(unread, at); end <= unread.length; end = frameEnd(unread, at)) {
      const text = unread.toString("utf8", at + FRAME_HEAD, end);
      rows.push({ row: unread.readUInt32LE(at), text, cells: rawCells(text, delimiter), bytes: end - at });
      at = end;
    }
    unread = unread.subarray(at);
    if (rows.length > 0) yield rows;
  }
}

/** Groups rows into windows of at most `rows` rows and about `bytes` bytes, with at least one row each. */
export async function* windowsOf(
  source: AsyncIterable<Row[]>,
  limits: { readonly rows: number; readonly bytes: number },
): AsyncGenerator<Row[]> {
  let window: Row[] = [];
  let size = 0;
  for await (const rows of source) {
    for (const row of rows) {
      window.push(row);
      size += row.bytes;
      if (window.length < limits.rows && size < limits.bytes) continue;
      yield window;
      window = [];
      size = 0;
    }
  }
  if (window.length > 0) yield window;
}
