import { cellsOf, QuoteError } from "../../../lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "../../../lib/uploads/csv/delimiter.ts";
import { RecordCut } from "./records.ts";

/** A row of a file. */
export interface FileRow {
  /** Its number as in a spreadsheet: blank lines count. */
  readonly row: number;
  readonly cells: readonly string[];
}

/** Looks at each row of a file once, in their order, and remembers what it found. */
export interface RowObserver {
  readonly observe: (row: FileRow) => void;
}

/** How a file is read to its end. */
export interface ReadingOptions {
  readonly delimiter: Delimiter;
  /** Number of the header's row. */
  readonly headerRow: number;
  /** Numbers of rows that aren't shown. */
  readonly leftOut?: ReadonlySet<number> | undefined;
  /** Ends the reading: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with the bytes that were read. */
  readonly onProgress?: (bytes: number) => void;
  /** So many bytes are read, and the row in which they end is left out. @default all */
  readonly bytesMax?: number;
}

/**
 * Shows the rows below a file's header to observers, all in one pass and in flat memory. Blank lines are left out.
 * Reading stops at a row that can't be read: the service fails the whole file then, and says why.
 * @param file CSV in UTF-8
 * @param begin makes the observers for a header
 * @returns whether the file was read to its end
 */
export async function observeRows(
  file: ReadableStream<Uint8Array>,
  { delimiter, headerRow, leftOut, signal, onProgress, bytesMax = Infinity }: ReadingOptions,
  begin: (names: readonly string[]) => readonly RowObserver[],
): Promise<boolean> {
  const decoder = new TextDecoder();
  const cut = new RecordCut();
  let observers: readonly RowObserver[] = [];
  let row = 0;
  const show = (record: string): void => {
    row += 1;
    if (row < headerRow || leftOut?.has(row) || record === "\n" || record === "\r\n" || record === "") return;
    const cells = cellsOf(record, delimiter);
    if (row === headerRow) observers = begin(cells);
    else for (const observer of observers) observer.observe({ row, cells });
  };
  const reader = file.getReader();
  let bytes = 0;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      signal?.throwIfAborted();
      cut.next(decoder.decode(read.value, { stream: true })).forEach(show);
      bytes += read.value.length;
      onProgress?.(bytes);
      if (cut.isTooLong || bytes >= bytesMax) return false;
    }
    show(cut.take() + decoder.decode());
    return true;
  } catch (error) {
    if (error instanceof QuoteError) return false;
    throw error;
  } finally {
    await reader.cancel();
  }
}
