/** A JSON value as `parseJson` gives it: numbers that a double cannot hold are `JSON.rawJSON` objects. */
export type JsonValue = null | boolean | number | string | RawJson | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
/** A number kept digit for digit; `JSON.stringify` writes `rawJSON` as it is. */
export interface RawJson {
  readonly rawJSON: string;
}

interface PreciseJson {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}
const json = JSON as unknown as PreciseJson;

/** Whether a value is a number kept digit for digit by `parseJson`. */
export const isRawJson = (value: unknown): value is RawJson => json.isRawJSON(value);

/** A `JSON.parse` reviver that keeps every digit of every number: 2^53 + 1, 0.10000000000000000001 and 1.0 come back as they were. */
export const keepDigits = (_key: string, value: unknown, context?: { source?: string }): unknown => {
  if (typeof value !== "number") return value;
  const source = context?.source;
  return source === undefined || String(value) === source ? value : json.rawJSON(source);
};

/**
 * Parses JSON text without losing digits.
 * @throws SyntaxError where the text is not JSON; RangeError where it is nested deeper than the stack holds.
 */
export const parseJson = (text: string): JsonValue => json.parse(text, keepDigits) as JsonValue;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);

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
