/** A JSON value as `parseJson` gives it: numbers that a double cannot hold are `JSON.rawJSON` objects. */
export type JsonValue = null | boolean | number | string | RawJson | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
/** A number kept digit for digit; `JSON.stringify` writes `rawJSON` as it is. */
export interface RawJson {
  readonly rawJSON: string;
}

declare global {
  /** JSON.parse source text access (https://tc39.es/proposal-json-parse-with-source/), which TypeScript does not know yet. */
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

/** Whether a value is a number kept digit for digit by `parseJson`. */
export const isRawJson = (value: unknown): value is RawJson => JSON.isRawJSON(value);

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);

const keepDigits = (_key: string, value: unknown, context: { source?: string }): unknown => {
  if (typeof value !== "number") return value;
  const { source } = context;
  return source === undefined || String(value) === source ? value : JSON.rawJSON(source);
};

/**
 * Text in which a number may stand that a double does not give back as it was written: long, with exponent or below
 * 0.000001 (which gets one), ending in 0, minus 0.
 */
const MAY_LOSE_DIGITS = /\d[\d.]{14}|\d[eE]|\.\d*0(?!\d)|-0|0\.0{6}/;

/** Whether `JSON.parse` alone gives every number back as it was written, which is several times faster. */
export const keepsItsDigits = (text: string): boolean => !MAY_LOSE_DIGITS.test(text);

/**
 * Parses JSON text and keeps every digit of every number: 2^53 + 1, 0.10000000000000000001 and 1.0 come back as they were.
 * @throws SyntaxError where the text is not JSON; RangeError where it is nested deeper than the stack holds
 */
export const parseKeepingDigits = (text: string): JsonValue => JSON.parse(text, keepDigits) as JsonValue;

/** As `parseKeepingDigits`, fast where no digit can be lost; then it takes any depth. */
export const parseJson = (text: string): JsonValue =>
  keepsItsDigits(text) ? (JSON.parse(text) as JsonValue) : parseKeepingDigits(text);

/**
 * Parses the text of a JSON object without losing digits.
 * @throws Error with what the text must be: a SyntaxError, or a RangeError where it is nested too deeply
 */
export const parseJsonObject = (text: string): JsonObject => {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError("must be a JSON object nested less deeply", { cause: error });
    throw new SyntaxError("must be a JSON object", { cause: error });
  }
  if (!isJsonObject(value)) throw new SyntaxError("must be a JSON object");
  return value;
};

/** Deep equality: object key order does not count, digits of numbers do. */
export const jsonEquals = (a: JsonValue, b: JsonValue): boolean => {
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
};
