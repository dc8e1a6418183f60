/** A JSON value as `parseJson` returns it. Numbers that a double can't hold are `JSON.rawJSON` objects. */
export type JsonValue = null | boolean | number | string | RawJson | JsonValue[] | JsonObject;
/** A JSON object as `parseJson` returns it. */
export interface JsonObject {
  [key: string]: JsonValue;
}
/** A number with all its digits; `JSON.stringify` writes `rawJSON` unchanged. */
export interface RawJson {
  readonly rawJSON: string;
}

declare global {
  /** JSON.parse source text access (https://tc39.es/proposal-json-parse-with-source/), unknown to TypeScript. */
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

/** Whether a value is a number with all its digits, from `parseJson`. */
export function isRawJson(value: unknown): value is RawJson {
  return JSON.isRawJSON(value);
}

/** Whether a value is a JSON object: neither an array nor a number with all its digits. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);
}

function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number") return value;
  const { source } = context;
  return source === undefined || String(value) === source ? value : JSON.rawJSON(source);
}

/**
 * Matches text that may contain a number that a double would change: a long number, one with an exponent, a fraction that
 * ends in 0, minus 0, or a number below 0.000001, which JavaScript writes with an exponent. Numbers stand between
 * delimiters, so the times and ids in most texts don't match; other strings may.
 */
const MAY_LOSE_DIGITS =
  /(?:^|[:,[\s])(?:-?\d[\d.]{14,}|-?\d+(?:\.\d+)?[eE][-+]?\d+|-?\d+\.\d*0|-0|-?0\.0{6}\d*)(?=[,\]}\s]|$)/;

/** Whether `JSON.parse` alone, which is several times faster, keeps every number as it was written. */
export function keepsItsDigits(text: string): boolean {
  return !MAY_LOSE_DIGITS.test(text);
}

/**
 * Parses JSON text and keeps every digit of every number, for example of 2^53 + 1, 0.10000000000000000001 and 1.0.
 * @throws SyntaxError if the text isn't JSON; RangeError if it is nested too deeply for the call stack
 */
export function parseKeepingDigits(text: string): JsonValue {
  return JSON.parse(text, keepDigits) as JsonValue;
}

/** Like `parseKeepingDigits`. If no digit can be lost, it is faster and parses any depth. */
export function parseJson(text: string): JsonValue {
  return keepsItsDigits(text) ? (JSON.parse(text) as JsonValue) : parseKeepingDigits(text);
}

/**
 * Parses the text of a JSON object without losing digits.
 * @throws SyntaxError, or RangeError if it is nested too deeply; the message says what the text must be
 */
export function parseJsonObject(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError("must be a JSON object nested less deeply", { cause: error });
    throw new SyntaxError("must be a JSON object", { cause: error });
  }
  if (!isJsonObject(value)) throw new SyntaxError("must be a JSON object");
  return value;
}

/**
 * Where a text isn't JSON, as V8 says it: ` (line 1 column 2)`, or nothing. The rest of V8's message quotes the text, which must not
 * be repeated.
 */
export function positionIn(error: unknown): string {
  return (error instanceof SyntaxError && / \(line \d+ column \d+\)/.exec(error.message)?.[0]) || "";
}

/** Deep equality: the order of object keys doesn't matter, but the digits of numbers do. */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (isRawJson(a) || isRawJson(b)) return isRawJson(a) && isRawJson(b) && a.rawJSON === b.rawJSON;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((value, index) => jsonEquals(value, b[index] as JsonValue))
    );
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEquals(a[key] as JsonValue, b[key] as JsonValue))
  );
}
