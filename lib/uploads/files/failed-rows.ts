import { Readable } from "node:stream";
import { Upload } from "@aws-sdk/lib-storage";
import type { RuntimeWith } from "../../runtime/runtime.ts";
import { type CsvFormat, delimiterOf } from "../csv/csv-format.ts";
import { cellValue, lineEnd, rawCells, toCell } from "../csv/csv-row.ts";
import { isReportColumn, REPORT_COLUMNS } from "../csv/header-names.ts";
import type { RowError } from "../csv/row-reader.ts";
import { type Frame, readFrames } from "./segment.ts";
import { ObjectGoneError, objectKeys, type UploadObjects } from "./upload-objects.ts";
import { mappingOf } from "../job/job-format.ts";
import { countOf, epochOf, type UploadJob, type UploadPart } from "../job/upload-record.ts";

/** Before a first header in quotes it would hide the opening quote. */
const BYTE_ORDER_MARK = "\uFEFF";
/** Size of the pieces of the report's multipart upload: the smallest that S3 accepts. */
const PIECE_BYTES = 5 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Pieces that are sent at the same time, so that none waits for the response to another. Each is held in memory. */
const PIECES_AT_ONCE = 4;

/** The time was too short for the whole report. */
export class ReportUnfinishedError extends Error {
  override readonly name: string = "ReportUnfinishedError";
}

/** How long writing a report may take. */
export interface ReportTime {
  readonly isOver: () => boolean;
  /** Whether the report ends when the time is over; otherwise `ReportUnfinishedError` is thrown. */
  readonly abridge: boolean;
}

/** Longer values are cut in the report, which holds the whole cell beside them. */
const VALUE_MAX_CHARACTERS = 200;

/**
 * Writes the lines of a report of failed rows: the unchanged columns of the file, then those of the report. If the file
 * is such a report itself, the new columns replace its own.
 * @param header row 1 of the file
 */
export const createReportWriter = ({ header, delimiter }: Pick<CsvFormat, "header" | "delimiter">) => {
  const mark = header.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const names = rawCells(header.slice(mark.length), delimiter);
  const kept = names.flatMap((name, index) => (isReportColumn(cellValue(name)) ? [] : [index]));
  return {
    header: (): string =>
      mark + [...kept.map((index) => names[index]!), ...REPORT_COLUMNS].join(delimiter) + lineEnd(header),
    /** Missing cells are added as empty ones; surplus cells follow the report's own. */
    line: (row: number, raw: string, { message, column, value }: RowError): string => {
      const cells = rawCells(raw, delimiter);
      const own = kept.map((index) => cells[index] ?? "");
      const added = [String(row), message, column, value.slice(0, VALUE_MAX_CHARACTERS)];
      const all = [...own, ...added.map((cell) => toCell(cell, delimiter)), ...cells.slice(names.length)];
      return all.join(delimiter) + lineEnd(raw);
    },
  };
};

/** The content of a report. */
export interface ReportContent {
  /** Number of listed rows. */
  readonly rows: number;
  /** Whether rows are missing because their objects were deleted before. */
  readonly hasGaps: boolean;
}

/**
 * Reads the failed rows of one part, in file order. The next object is loaded while the rows of one are read.
 * @param onGap called for every object that was deleted
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
    loading.catch(() => undefined); // the error is thrown by `await`
    return loading;
  };
  let index = 0;
  let loading = begin(0);
  let frames: readonly Frame[] = [];
  let at = 0;
  return {
    /** Returns the next row without taking it; undefined after the last. */
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
    /** Takes the row that `peek` returned. */
    take: (): void => {
      at++;
    },
  };
};

/** The report in chunks, with the rows in file order. @param onRow called for every row */
async function* reportOf(
  job: UploadJob,
  readers: readonly ReturnType<typeof createReader>[],
  time: ReportTime,
  onRow: () => void,
): AsyncGenerator<Buffer> {
  const heads = await Promise.all(readers.map((reader) => reader.peek()));
  let chunk: Buffer[] = [
    Buffer.from(createReportWriter({ header: job.header, delimiter: delimiterOf(mappingOf(job)) }).header()),
  ];
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
 * Merges the failed rows of all parts into the job's report. The same parts give the same report unless it is abridged.
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
      // This function may not delete incomplete uploads; the bucket's lifecycle rule does.
      leavePartsOnError: true,
    }).done();
    return { rows, hasGaps };
  };

/** Writes the report of a job. */
export type WriteReport = ReturnType<typeof createWriteReport>;
