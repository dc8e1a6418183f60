import * as z from "zod";
import { type DecimalMark, readValue } from "../cell-value.ts";
import { type JsonObject, jsonEquals, parseJsonObject } from "../json.ts";
import {
  content,
  CONTENT_MAX_BYTES,
  CUSTOM_ATTRIBUTES_MAX_BYTES,
  CUSTOM_ATTRIBUTES_MAX_LEVELS,
  customAttributes,
  email,
  jsonObject,
  number,
  storedTimestamp,
  text,
  timestamp,
} from "../schema.ts";

/** How the values of fields are sent, stored, shown, merged and read from cells. */
export interface Kind<Given, Stored, Shown, Initial> {
  /** What a cell or a form contains. */
  readonly name: "text" | "time" | "number" | "choice" | "json";
  /** Makes the schema of the values that callers send. */
  input(this: void): z.ZodType<Given>;
  readonly stored: z.ZodType<Stored>;
  /** Schema of the values in responses. */
  readonly response: z.ZodType<Shown>;
  /** Value in a new record, and in records older than the field. If it is null, callers may send null. */
  readonly initial: Initial;
  /** A cell of the template for CSV files. */
  readonly sample: string;
  /** What the API's document says about sending values. */
  readonly note?: string;
  /** All values. @default any that the schema accepts */
  readonly choices?: readonly string[];
  /** Whether filters compare without case. @default false */
  readonly ignoresCase?: boolean;
  /** Converts a cell to an input. @throws Error that says what the cell must be. @default the cell itself */
  fromCell?(this: void, cell: string, decimal: DecimalMark): unknown;
  /** Merges what is sent into the stored value. @default it replaces the stored value */
  merge?(this: void, stored: Stored, given: Given): Stored;
  /** Converts the stored value for responses. @default the stored value itself */
  show?(this: void, stored: Stored): Shown;
}

/** A kind whose values are stored and shown as they are sent. Null clears its fields. */
function plain<V>(row: Omit<Kind<V, V, V, null>, "response" | "initial" | "merge" | "show">): Kind<V, V, V, null> {
  return { ...row, response: row.stored, initial: null };
}

/** JSON of an object without keys. */
const NO_ATTRIBUTES = "{}";

/** Replaces top-level keys of `stored` with those of `given`. Returns the same text if none differs. */
function mergeAttributes(stored: string, given: JsonObject): string {
  if (stored === NO_ATTRIBUTES) return JSON.stringify(given);
  const attributes = parseJsonObject(stored);
  const changed = Object.entries(given).filter(
    ([key, value]) => !Object.hasOwn(attributes, key) || !jsonEquals(attributes[key] ?? null, value),
  );
  return changed.length === 0 ? stored : JSON.stringify({ ...attributes, ...Object.fromEntries(changed) });
}

const attributes: Kind<JsonObject, string, JsonObject, string> = {
  name: "json",
  input: customAttributes,
  // JSON text, because DynamoDB's maps lose digits, some keys and deep nesting.
  stored: z.string(),
  response: jsonObject,
  initial: NO_ATTRIBUTES,
  sample: '{"product": "printer", "minutes": 12}',
  note: `Keys that you send replace stored ones; others stay. At most ${CUSTOM_ATTRIBUTES_MAX_BYTES / 1024} KiB of JSON and ${CUSTOM_ATTRIBUTES_MAX_LEVELS} levels; no key \`__proto__\`.`,
  fromCell: parseJsonObject,
  merge: mergeAttributes,
  show: parseJsonObject,
};

/** The kinds of fields. */
export const KINDS = {
  text: plain({ name: "text", input: text, stored: z.string(), sample: "text" }),
  longText: plain({
    name: "text",
    input: content,
    stored: z.string(),
    sample: "text",
    note: `At most ${CONTENT_MAX_BYTES / 1024} KiB of UTF-8.`,
  }),
  email: plain({
    name: "text",
    input: email,
    stored: z.string(),
    sample: "ada@example.com",
    // Systems write the same address in several ways.
    ignoresCase: true,
  }),
  time: plain({ name: "time", input: timestamp, stored: storedTimestamp, sample: "2026-01-31T09:30:00Z" }),
  /** A whole number in a range. */
  wholeNumber: (min: number, max: number) => {
    const range = `must be a whole number from ${min} to ${max}`;
    return plain({
      name: "number",
      input: () => number(z.int(range).min(min, range).max(max, range)),
      // Without the range: records may be older than it.
      stored: z.int(),
      sample: String(min),
      fromCell: (cell, decimal) => readValue(cell, "number", decimal),
    });
  },
  /** One of a few words. @param id name of its schema in the document @param about description of that schema */
  choice: <const C extends readonly [string, ...string[]]>(id: string, about: string, choices: C) => {
    const schema = z.enum(choices).meta({ id, description: about });
    return { ...plain({ name: "choice", input: () => schema, stored: schema, sample: choices[0] }), choices };
  },
  attributes,
};
