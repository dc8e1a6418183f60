import { cellsOf, QuoteError, RecordCut, ROW_MAX_CHARACTERS } from "@work-items/lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { NUL_BYTE } from "@work-items/lib/uploads/csv/file-kind.ts";
import type { FileRow } from "../ids/repeated-ids.ts";

/** Gets each row of a file once, in order. Ends the reading with `false`. */
export interface RowObserver {
  readonly observe: (row: FileRow) => unknown;
}

/** How a file is read to its end. */
export interface ReadingOptions {
  readonly delimiter: Delimiter;
  /** Number of the header's row. */
  readonly headerRow: number;
  /** Numbers of rows to skip. */
  readonly leftOut?: ReadonlySet<number> | undefined;
  /** Stops reading, which rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with the bytes read so far. */
  readonly onProgress?: (bytes: number) => void;
  /** Limit of the bytes to read. The row at the limit is left out. @default all */
  readonly bytesMax?: number;
}

/** What is read at once: few enough bytes that a page isn't blocked for long. */
const PART_BYTES = 64 * 1024;
/** After this time, a page gets to react to clicks and to show progress. */
const TURN_MS = 30;

function partsOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / PART_BYTES);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES));
}

/** Lets other tasks run. Unlike timers, messages aren't slowed down in a tab in the background. */
function otherTasks(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

/** The cells of a record, as the service reads it. @throws QuoteError */
function cellsIn(record: string, delimiter: Delimiter): string[] {
  const cells = cellsOf(record, delimiter);
  if (record.length > ROW_MAX_CHARACTERS) throw new QuoteError("isTooLong");
  return cells;
}

/**
 * Cuts a file into its records in flat memory. The chunks of a file are often ready at once, so reading alone lets no other
 * task run.
 * @param show returns whether to continue
 * @returns whether the file was read to its end
 * @throws QuoteError at a row that is too long
 */
async function readRecords(
  file: ReadableStream<Uint8Array>,
  { signal, onProgress, bytesMax = Infinity }: Pick<ReadingOptions, "signal" | "onProgress" | "bytesMax">,
  show: (record: string) => boolean,
): Promise<boolean> {
  const decoder = new TextDecoder();
  const cut = new RecordCut();
  const reader = file.getReader();
  let bytes = 0;
  let since = performance.now();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      for (const part of partsOf(read.value)) {
        if (performance.now() - since > TURN_MS) {
          await otherTasks();
          since = performance.now();
        }
        signal?.throwIfAborted();
        if (!cut.next(decoder.decode(part, { stream: true })).every(show)) return false;
        bytes += part.length;
        onProgress?.(bytes);
        if (bytes >= bytesMax) return false;
        if (cut.isTooLong) throw new QuoteError("isTooLong");
      }
    }
    const last = cut.take() + decoder.decode();
    return last === "" || show(last);
  } finally {
    await reader.cancel();
  }
}

/**
 * Shows the rows below a file's header to observers, in one pass and in flat memory. Skips blank lines. Stops at a row
 * that can't be read: the service then fails the whole file and says why.
 * @param file CSV in UTF-8
 * @param begin makes the observers for a header
 * @returns whether the file was read to its end
 */
export async function observeRows(
  file: ReadableStream<Uint8Array>,
  { delimiter, headerRow, leftOut, ...options }: ReadingOptions,
  begin: (names: readonly string[]) => readonly RowObserver[],
): Promise<boolean> {
  let observers: readonly RowObserver[] = [];
  let row = 0;
  const show = (record: string): boolean => {
    row += 1;
    if (row < headerRow || leftOut?.has(row) || record === "\n" || record === "\r\n") return true;
    const cells = cellsIn(record, delimiter);
    if (row === headerRow) observers = begin(cells);
    else for (const observer of observers) if (observer.observe({ row, cells }) === false) return false;
    return true;
  };
  try {
    return await readRecords(file, options, show);
  } catch (error) {
    if (error instanceof QuoteError) return false;
    throw error;
  }
}

/** Reading the first rows stops after this many characters. */
const FIRST_ROWS_CHARACTERS = 512 * 1024;

/**
 * Reads the first rows of a file as cells, blank lines included.
 * @param file CSV in UTF-8
 * @returns also the service's error for the row after them; undefined if it can be read
 */
export async function readFirstRows(file: ReadableStream<Uint8Array>, delimiter: Delimiter, rowsMax: number) {
  const rows: (readonly string[])[] = [];
  let problem: string | undefined;
  let characters = 0;
  const show = (record: string): boolean => {
    if (record.includes("\0")) problem = NUL_BYTE;
    else rows.push(cellsIn(record, delimiter));
    characters += record.length;
    return problem === undefined && rows.length < rowsMax && characters < FIRST_ROWS_CHARACTERS;
  };
  try {
    await readRecords(file, {}, show);
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error;
    problem = `row ${rows.length + 1}: ${error.message}`;
  }
  return { rows, problem };
}
