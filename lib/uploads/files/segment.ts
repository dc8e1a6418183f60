/**
 * A segment is an immutable object with the rows of a range of the file, grouped by part:
 * a table of `parts + 1` offsets (uint32, little-endian), then one block of frames for each part.
 * A frame is a row number, a length (uint32 each) and the row's bytes. Reading can resume between any two frames.
 */
const WORD = 4;
const FRAME_HEAD = 2 * WORD;
const BLOCK_START_BYTES = 64 * 1024;

/** Byte range `[from, to)` of a segment that holds the offsets of a part's block. */
export const tableEntry = (part: number): { readonly from: number; readonly to: number } => ({
  from: WORD * part,
  to: WORD * (part + 2),
});

/** Byte range `[from, to)` of a part's block in the segment. @param bytes the bytes in the range of `tableEntry` */
export const readTableEntry = (bytes: Buffer): { readonly from: number; readonly to: number } => ({
  from: bytes.readUInt32LE(0),
  to: bytes.readUInt32LE(WORD),
});

/** One row in a block. */
export interface Frame {
  readonly row: number;
  readonly raw: Buffer;
}

/** Size of a frame in bytes. */
export const frameBytes = ({ raw }: Frame): number => FRAME_HEAD + raw.length;

/** Where the frame that begins at a byte ends; Infinity if the bytes do not tell. */
const frameEnd = (bytes: Buffer, at: number): number =>
  at + FRAME_HEAD > bytes.length ? Infinity : at + FRAME_HEAD + bytes.readUInt32LE(at + WORD);

/** The frame that begins at a byte; undefined if the bytes end before the frame does. */
export const frameAt = (bytes: Buffer, at: number): Frame | undefined => {
  const end = frameEnd(bytes, at);
  return end > bytes.length ? undefined : { row: bytes.readUInt32LE(at), raw: bytes.subarray(at + FRAME_HEAD, end) };
};

/** Appends frames to a growing buffer that is reused. */
export const createFrameWriter = () => {
  let buffer = Buffer.alloc(0);
  let length = 0;
  /** Makes room for a frame and writes its head. @returns where its bytes belong */
  const begin = (row: number, bytes: number): number => {
    const at = length + FRAME_HEAD;
    const end = at + bytes;
    if (end > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, 2 * buffer.length, BLOCK_START_BYTES));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    buffer.writeUInt32LE(row, length);
    buffer.writeUInt32LE(bytes, length + WORD);
    length = end;
    return at;
  };
  return {
    add: ({ row, raw }: Frame): void => {
      const at = begin(row, raw.length);
      raw.copy(buffer, at);
    },
    addText: (row: number, text: string): void => {
      const at = begin(row, Buffer.byteLength(text));
      buffer.write(text, at);
    },
    /** The frames as a view of the buffer, valid until the next `add`. */
    bytes: (): Buffer => buffer.subarray(0, length),
    clear: (): void => {
      length = 0;
    },
  };
};

/** Collects rows and makes segments of them, one after the other. */
export const createSegmentWriter = (parts: number) => {
  const blocks = Array.from({ length: parts }, createFrameWriter);
  const tableBytes = WORD * (parts + 1);
  let size = 0;
  /** The memory of all segments: V8 would let several of them wait before it collects them. */
  let segment = Buffer.alloc(0);
  return {
    add: (part: number, frame: Frame): void => {
      blocks[part]?.add(frame);
      size += frameBytes(frame);
    },
    /** Size of all blocks in bytes. */
    size: (): number => size,
    /** Returns the segment, valid until the next one is taken, and begins an empty one. */
    take: (): Buffer => {
      if (tableBytes + size > segment.length) segment = Buffer.allocUnsafe(tableBytes + size);
      let offset = tableBytes;
      for (const [part, block] of blocks.entries()) {
        segment.writeUInt32LE(offset, WORD * part);
        offset += block.bytes().copy(segment, offset);
        block.clear();
      }
      segment.writeUInt32LE(offset, WORD * parts);
      size = 0;
      return segment.subarray(0, offset);
    },
  };
};

/** One row of a block, as text. A thousand of them wait together: a text takes less than a view of the block's bytes. */
export interface RowText {
  readonly row: number;
  readonly text: string;
  /** Size of its frame in bytes. */
  readonly bytes: number;
}

/** Reads the rows of frames; for each chunk of the source, those that it completes. */
export async function* readRows(source: AsyncIterable<Uint8Array>): AsyncGenerator<RowText[]> {
  let unread: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    unread = Buffer.concat([unread, chunk]);
    const rows: RowText[] = [];
    let at = 0;
    for (let end = frameEnd(unread, at); end <= unread.length; end = frameEnd(unread, at)) {
      rows.push({
        row: unread.readUInt32LE(at),
        text: unread.toString("utf8", at + FRAME_HEAD, end),
        bytes: end - at,
      });
      at = end;
    }
    unread = unread.subarray(at);
    if (rows.length > 0) yield rows;
  }
}

/** Groups rows into windows of at most `rows` rows and about `bytes` bytes, with at least one row each. */
export async function* windowsOf(
  source: AsyncIterable<RowText[]>,
  limits: { readonly rows: number; readonly bytes: number },
): AsyncGenerator<RowText[]> {
  let window: RowText[] = [];
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
