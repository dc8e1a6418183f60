import { isFourDigitYear } from "../../clock.ts";
import { CellError, type DecimalMark, quoted } from "../../cell-value.ts";
import { instantOf, writtenTime, type WrittenTime } from "../../instant.ts";
import { createPatternReader, hasOffset } from "./date-pattern.ts";
import { toInstant } from "./time-zone.ts";

/** How date-times are written. */
export interface TimeFormat {
  /** `iso`, `unix`, `unix_ms`, or a pattern of Unicode date fields. */
  readonly format: string;
  /** IANA zone of date-times without an offset. */
  readonly timeZone: string | undefined;
}

const DATE = String.raw`(?<year>\d{4})(?<dash>-?)(?<month>\d\d)\k<dash>(?<day>\d\d)`;
const TIME = String.raw`(?<hour>\d\d)(?<colon>:?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?`;
const OFFSET = String.raw`(?:(?<utc>Z|UTC)|(?<sign>[+-])(?<hours>\d\d)(?::?(?<minutes>\d\d))?)`;
/** ISO 8601 with or without dashes and colons, seconds and offset, with a T or a space before the time; or a bare date. */
const ISO = new RegExp(`^${DATE}(?:[T ]${TIME}(?: ?${OFFSET})?)?$`, "i");

const NO_TIME: WrittenTime = { time: Number.NaN, hasOffset: true, isSecond60: false };

function readIso(text: string): WrittenTime {
  const found = ISO.exec(text)?.groups;
  return found === undefined ? NO_TIME : writtenTime(found);
}

function expectedOf(format: string, isLocal: boolean): string {
  const example = isLocal ? "2026-01-31 09:30" : "2026-01-31T09:30:00Z";
  if (format === "iso") return `isn't a date and time; use, for example, ${example}`;
  if (format === "unix") return "isn't a Unix time in seconds, such as 1769851800";
  if (format === "unix_ms") return "isn't a Unix time in milliseconds, such as 1769851800000";
  return `doesn't match the format ${format}`;
}

/** Days since 1900, as spreadsheets store dates, from 1954 to 2173. */
const SPREADSHEET_DAYS = /^\s*[2-9]\d{4}(?:[.,]\d+)?\s*$/;
function adviceOn(text: string): string {
  return SPREADSHEET_DAYS.test(text)
    ? "; if it is a spreadsheet's day number, format the column as a date there and save the file again"
    : "";
}

function createRead(format: string, decimal: DecimalMark): (text: string) => WrittenTime {
  if (format === "iso") return readIso;
  if (format === "unix" || format === "unix_ms") {
    const number = decimal === "," ? /^-?\d+(?:,\d+)?$/ : /^-?\d+(?:\.\d+)?$/;
    const factor = format === "unix" ? 1000 : 1;
    return (text) => ({
      ...NO_TIME,
      time: number.test(text) ? Math.floor(Number(text.replace(",", ".")) * factor) : Number.NaN,
    });
  }
  const read = createPatternReader(format);
  const isAbsolute = hasOffset(format);
  return (text) => ({ ...NO_TIME, time: read(text), hasOffset: isAbsolute });
}

/**
 * Makes the function that converts a cell to ISO 8601 in UTC with milliseconds.
 * @returns a function that throws CellError
 */
export function createTimeReader({ format, timeZone }: TimeFormat, decimal: DecimalMark): (text: string) => string {
  const read = createRead(format, decimal);
  return (text) => {
    const written = read(text.trim());
    const needsZone = !written.hasOffset && !Number.isNaN(written.time);
    if (needsZone && timeZone === undefined) {
      throw new CellError(`${quoted(text)} has no UTC offset; set time_zone in the mapping`);
    }
    const time = instantOf(needsZone ? { ...written, time: toInstant(written.time, timeZone!) } : written);
    const expected = expectedOf(format, timeZone !== undefined);
    if (Number.isNaN(time)) throw new CellError(`${quoted(text)} ${expected}${adviceOn(text)}`);
    if (!isFourDigitYear(time)) throw new CellError(`${quoted(text)} is outside the years 0001 to 9999`);
    return new Date(time).toISOString();
  };
}
