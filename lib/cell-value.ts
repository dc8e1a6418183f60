import { type JsonValue, parseJson } from "./json.ts";

/** A cell doesn't have the expected form. The message quotes the text and says what it should be. */
export class CellError extends Error {
  override readonly name: string = "CellError";
}

/** Longer texts are truncated in messages: a cell may have megabytes. */
const SHOWN_MAX_CHARACTERS = 100;

/** A text in quotes, for messages. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_MAX_CHARACTERS ? `${text.slice(0, SHOWN_MAX_CHARACTERS)}…` : text);
}

/** What the text of a cell can be converted to. */
export const VALUE_KINDS = ["text", "number", "boolean", "json"] as const;
/** One of `VALUE_KINDS`. */
export type ValueKind = (typeof VALUE_KINDS)[number];

/** The mark before a number's fraction. */
export type DecimalMark = "." | ",";

/** Sign, digits, fraction and exponent. Thousands separators aren't accepted. */
const NUMBERS = {
  ".": /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/,
  ",": /^([+-]?)(\d+)(?:,(\d+))?(?:[eE]([+-]?\d+))?$/,
} as const satisfies Record<DecimalMark, RegExp>;

/** Converts a number without losing digits. */
function readNumber(text: string, decimal: DecimalMark): JsonValue {
  const found = NUMBERS[decimal].exec(text.trim());
  if (found === null) {
    const advice = `use the decimal mark "${decimal}" and no thousands separators`;
    throw new CellError(`${quoted(text)} isn't a number; ${advice}`);
  }
  const [, sign, whole = "", fraction, exponent] = found;
  let json = sign === "-" ? "-" : "";
  json += whole.replace(/^0+(?=\d)/, "");
  if (fraction !== undefined) json += `.${fraction}`;
  if (exponent !== undefined) json += `e${exponent}`;
  return parseJson(json);
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["1", true],
  ["false", false],
  ["no", false],
  ["0", false],
]);

function readBoolean(text: string): boolean {
  const value = BOOLEANS.get(text.trim().toLowerCase());
  if (value === undefined) throw new CellError(`${quoted(text)} isn't one of true, yes, 1, false, no, 0`);
  return value;
}

function readJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    throw new CellError(`${quoted(text)} isn't valid JSON`);
  }
}

/** Converts the text of a cell to a value. @throws CellError */
export function readValue(text: string, kind: ValueKind, decimal: DecimalMark): JsonValue {
  if (kind === "number") return readNumber(text, decimal);
  if (kind === "boolean") return readBoolean(text);
  return kind === "json" ? readJson(text) : text;
}
