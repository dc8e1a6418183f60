import readWorkbook from "read-excel-file/universal";
import { toCell } from "../../lib/uploads/csv/csv-text.ts";
import { COMMA } from "../../lib/uploads/csv/delimiter.ts";
import { isReportHeader, withoutPrefix } from "./cell-prefix.ts";

/** A sheet of a workbook. */
export interface Sheet {
  readonly name: string;
  /** Its rows as CSV with commas. */
  readonly csv: string;
}

/** A workbook cannot be read. The message is a sentence for people that says what to do. */
export class WorkbookError extends Error {
  override readonly name: string = "WorkbookError";
}

/** The day from which workbooks count. The reader puts times of day and durations on it and on those that follow. */
const DAY_ZERO_MS = Date.parse("1899-12-30T00:00:00Z");
const DAY_MS = 86_400_000;
/** Workbooks count a February 29, 1900 that never was: the reader takes days before it for those before them. */
const MARCH_1900_MS = Date.parse("1900-03-01T00:00:00Z");
/** What spreadsheets show for a date after the last one that they have. */
const NO_DATE = "#####";

const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Workbooks count in days, of which a second isn't an exact fraction: a time may be a millisecond short of it. */
function withoutSlip(time: number): number {
  const second = Math.round(time / 1000) * 1000;
  return Math.abs(time - second) <= 1 ? second : time;
}

/** Hours, minutes and seconds. */
function textOfDuration(milliseconds: number): string {
  const hours = Math.floor(milliseconds / 3_600_000);
  return `${String(hours).padStart(2, "0")}${new Date(milliseconds)
    .toISOString()
    .slice(13, -1)
    .replace(/\.000$/, "")}`;
}

/**
 * A date, a time of day or both, as ISO 8601 without offset: workbooks have no time zones. They keep durations as times of
 * the first days that they have, where real dates are rare: `30:05:00`.
 */
function textOfDate(date: Date): string {
  const time = withoutSlip(date.getTime());
  if (Number.isNaN(time) || time > LAST_MS) return NO_DATE;
  const elapsed = time - DAY_ZERO_MS;
  const isEarly = elapsed >= 0 && time < MARCH_1900_MS;
  if (isEarly && (elapsed < DAY_MS || elapsed % DAY_MS !== 0)) return textOfDuration(elapsed);
  const [day = "", clock = ""] = new Date(isEarly ? time + DAY_MS : time)
    .toISOString()
    .replace(/(?:\.000)?Z$/, "")
    .split("T");
  return clock === "00:00:00" ? day : `${day} ${clock}`;
}

function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  if (cell instanceof Date) return textOfDate(cell);
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}

function unreadable(error: unknown): WorkbookError {
  const place = /row (\d+),? col (\d+)/.exec(error instanceof Error ? error.message : "");
  const where = place === null ? "" : ` The cell in row ${place[1]}, column ${place[2]} is damaged.`;
  return new WorkbookError(`This workbook cannot be read.${where} Save it as .xlsx or CSV.`, { cause: error });
}

/**
 * Reads the sheets of an .xlsx workbook that have rows. Of formulas it takes the results; results that are errors, such
 * as #N/A, are empty cells.
 * @throws WorkbookError if it isn't one, or has no rows
 */
export async function readSheets(file: Blob): Promise<[Sheet, ...Sheet[]]> {
  const read = await readWorkbook(file, { trim: false }).catch((error: unknown) => {
    throw unreadable(error);
  });
  const [first, ...others] = read
    .filter(({ data }) => data.length > 0)
    .map(({ sheet, data }) => {
      const rows = data.map((row) => row.map(textOf));
      const isReport = isReportHeader(rows.find((row) => row.some((text) => text !== "")) ?? []);
      const cellOf = (text: string): string => toCell(isReport ? text : withoutPrefix(text), COMMA);
      return { name: sheet, csv: rows.map((row) => `${row.map(cellOf).join(COMMA)}\n`).join("") };
    });
  if (first === undefined) throw new WorkbookError("This workbook has no rows.");
  return [first, ...others];
}
