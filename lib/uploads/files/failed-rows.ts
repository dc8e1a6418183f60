import { Readable } from "node:stream";
import { Upload } from "@aws-sdk/lib-storage";
import type { RuntimeWith } from "../../runtime/runtime.ts";
import { ERROR_COLUMN, ROW_COLUMN } from "../csv/csv-columns.ts";
import { cellValue, lineEnd, rawCells, toCell } from "../csv/csv-row.ts";
import { type Frame, readFrames } from "./segment.ts";
import { ObjectGoneError, objectKeys, type UploadObjects } from "./upload-objects.ts";
import { countOf, epochOf, type UploadJob, type UploadPart } from "../job/upload-record.ts";

/** S3's smallest part of a multipart upload. */
const PIECE_BYTES = 5 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Pieces of the report on their way at once, so that none waits for the answer to another; each is held in memory. */
const PIECES_AT_ONCE = 4;

/** There was no time for the whole report. */
export class ReportUnfinishedError extends Error {}

export interface ReportTime {
  readonly isOver: () => boolean;
  /** The report ends where time does; else `ReportUnfinishedError` is thrown. */
  readonly abridge: boolean;
}

/**
 * Writes the lines of a report of failed rows: the file's own columns in their order and bytes, then `_row` and `_error`.
 * Where the file is such a report itself, its own two give way to the new ones.
 * @param header row 1 as it is in the file
 */
export const createReportWriter = (header: string) => {
  const names = rawCells(header);
  const kept = names.flatMap((name, index) => {
    const value = cellValue(name);
    return value === ROW_COLUMN || value === ERROR_COLUMN ? [] : [index];
  });
  return {
    header: (): string => [...kept.map((index) => names[index]!), ROW_COLUMN, ERROR_COLUMN].join(",") + lineEnd(header),
    /** A row with too few cells is filled up; what a row has too many stands behind its error. */
    line: (row: number, raw: string, error: string): string => {
      const cells = rawCells(raw);
      const own = kept.map((index) => cells[index] ?? "");
      return [...own, String(row), toCell(error), ...cells.slice(names.length)].join(",") + lineEnd(raw);
    },
  };
};

/** What a report lists. */
export interface ReportContent {
  readonly rows: number;
  /** Some of the rows were deleted before they could be listed. */
  readonly hasGaps: boolean;
}

/**
 * The failed rows of one part, in file order. While one object is read, the next one is on its way.
 * @param onGap told of every object that is not there any more
 */
const createReader = (objects: UploadObjects, job: UploadJob, part: UploadPart, onGap: () => void) => {
  const count = countOf(part.failures);
  const load = async (index: number): Promise<Frame[] | undefined> => {
    if (index >= count) return undefined;
    const key = objectKeys.failedRows(job, part.number, epochOf(part.failures, index), index);
    try {
      return (await Array.fromAsync(readFrames(objects.read(key)))).flat();
    } catch (error) {
      if (!(error instanceof ObjectGoneError)) throw error;
      onGap();
      return [];
    }
  };
  const begin = (index: number): Promise<Frame[] | undefined> => {
    const loading = load(index);
    loading.catch(() => undefined); // thrown where it is awaited
    return loading;
  };
  let index = 0;
  let loading = begin(0);
  let frames: readonly Frame[] = [];
  let at = 0;
  return {
    /** The next row, past which `take` goes; undefined after the last. */
    peek: async (): Promise<Frame | undefined> => {
      while (at >= frames.length) {
        const loaded = await loading;
        if (loaded === undefined) return undefined;
        frames = loaded;
        at = 0;
        loading = begin(++index);
      }
      return frames[at];
    },
    take: (): void => {
      at++;
    },
  };
};

/** The report, row after row. @param onRow told of each */
async function* reportOf(
  job: UploadJob,
  readers: readonly ReturnType<typeof createReader>[],
  time: ReportTime,
  onRow: () => void,
): AsyncGenerator<Buffer> {
  const heads = await Promise.all(readers.map((reader) => reader.peek()));
  let chunk: Buffer[] = [Buffer.from(createReportWriter(job.header).header())];
  let size = 0;
  for (;;) {
    let next = -1;
    for (const [index, head] of heads.entries()) {
      if (head && (next === -1 || head.row < heads[next]!.row)) next = index;
    }
    const head = heads[next];
    if (head) {
      chunk.push(head.raw);
      size += head.raw.length;
      onRow();
      readers[next]!.take();
      heads[next] = await readers[next]!.peek();
    }
    if (size < CHUNK_BYTES && head) continue;
    yield Buffer.concat(chunk);
    chunk = [];
    size = 0;
    if (!head) return;
    if (!time.isOver()) continue;
    if (time.abridge) return;
    throw new ReportUnfinishedError();
  }
}

/**
 * Merges the failed rows of all parts into the job's report. Given time, the same parts always give the same report.
 * @throws ReportUnfinishedError
 */
export const createWriteReport =
  ({ s3, environment }: RuntimeWith<"uploads">, objects: UploadObjects) =>
  async (job: UploadJob, parts: readonly UploadPart[], time: ReportTime): Promise<ReportContent> => {
    let rows = 0;
    let hasGaps = false;
    const onRow = (): void => {
      rows++;
    };
    const onGap = (): void => {
      hasGaps = true;
    };
    const readers = parts.map((part) => createReader(objects, job, part, onGap));
    await new Upload({
      client: s3,
      params: {
        Bucket: environment.UPLOADS_BUCKET,
        Key: objectKeys.report(job),
        Body: Readable.from(reportOf(job, readers, time, onRow)),
        ContentType: "text/csv; charset=utf-8",
      },
      partSize: PIECE_BYTES,
      queueSize: PIECES_AT_ONCE,
      // The bucket's lifecycle clears what a killed worker leaves; this function may not.
      leavePartsOnError: true,
    }).done();
    return { rows, hasGaps };
  };

export type WriteReport = ReturnType<typeof createWriteReport>;
