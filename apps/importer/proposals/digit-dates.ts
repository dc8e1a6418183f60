/** The digits that each field of a date can have. */
const FIELDS: Readonly<Record<string, string>> = {
  yyyy: String.raw`[12]\d{3}`,
  yy: String.raw`\d\d`,
  MM: "(?:0[1-9]|1[0-2])",
  dd: String.raw`(?:0[1-9]|[12]\d|3[01])`,
  HH: String.raw`(?:[01]\d|2[0-3])`,
  mm: String.raw`[0-5]\d`,
  ss: String.raw`[0-5]\d`,
  SSS: String.raw`\d{3}`,
};

function digitFormat(format: string) {
  const fields = format.match(/(\w)\1*/g) ?? [];
  return { format, pattern: new RegExp(`^${fields.map((field) => FIELDS[field]).join("")}$`) };
}

const DATES = ["yyyyMMdd", "ddMMyyyy", "MMddyyyy"];
const SHORT_DATES = ["yyMMdd", "ddMMyy", "MMddyy"];
/** Texts with fewer digits may be any number. */
const FORMATS = [
  ...["", "HHmm", "HHmmss"].flatMap((time) => DATES.map((date) => date + time)),
  ...["HHmm", "HHmmss"].flatMap((time) => SHORT_DATES.map((date) => date + time)),
  "yyyyMMddHH",
  "yyyyMMddHHmmssSSS",
].map(digitFormat);
const BY_LENGTH = Map.groupBy(FORMATS, ({ format }) => format.length);

/** Formats of dates of digits only, except `20240613`, which `iso` reads. */
export const DIGIT_FORMATS: readonly string[] = FORMATS.map(({ format }) => format).filter(
  (format) => format !== "yyyyMMdd",
);

export function isDigits(text: string): boolean {
  return /^\d+$/.test(text);
}

/** The formats that fit a text of digits. */
export function digitFormatsOf(digits: string): string[] {
  return (BY_LENGTH.get(digits.length) ?? []).filter(({ pattern }) => pattern.test(digits)).map(({ format }) => format);
}
