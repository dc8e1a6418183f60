import * as z from "zod";
import { isFourDigitYear, isoTime } from "./clock.ts";
import { parseDateTime } from "./instant.ts";
import { type JsonObject, isJsonObject, isRawJson } from "./json.ts";
import { type Problem, type ProblemCode, PROBLEM_CODES } from "./errors.ts";

/** Length limits count Unicode code points, as JSON Schema's `maxLength` does. */
const EXTERNAL_ID_MAX_CHARACTERS = 512;
const STRING_MAX_CHARACTERS = 1024;
/** 64 KiB of UTF-8. */
export const CONTENT_MAX_BYTES = 64 * 1024;
/** 256 KiB of UTF-8 JSON, so that an item with all fields at their limits stays below DynamoDB's limit of 400 KB. */
export const CUSTOM_ATTRIBUTES_MAX_BYTES = 256 * 1024;
export const CUSTOM_ATTRIBUTES_MAX_LEVELS = 32;

function characters(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

/** The parameters of a refinement: the problem's code for programs, and its message for people. */
export function rule(code: ProblemCode, error: string) {
  return { error, params: { code } };
}
function tooLong(max: number) {
  return rule("too_big", `must be at most ${max} characters`);
}
const LONE_SURROGATES = rule("not_unicode", "must not contain lone surrogates");
const NUL = rule("invalid_value", "must not contain the NUL character (U+0000)");

/** The problem of a caller's text with NUL. Files with NUL aren't accepted as text, so exports couldn't be imported. */
export function problemOfText(value: string): typeof NUL | undefined {
  return value.includes("\0") ? NUL : undefined;
}

/** A string of valid Unicode. */
function unicode() {
  return z
    .string()
    .refine((value) => problemOfText(value) === undefined, NUL)
    .refine((value) => value.isWellFormed(), LONE_SURROGATES);
}

/** A non-empty string of valid Unicode with at most `max` code points. */
export function text(max = STRING_MAX_CHARACTERS) {
  return unicode()
    .min(1, "must not be empty")
    .refine((value) => value.length <= max || characters(value) <= max, tooLong(max))
    .meta({ minLength: 1, maxLength: max });
}

/** An `external_id`. */
export const externalId = text(EXTERNAL_ID_MAX_CHARACTERS);

/** Characters before the @, between dots (RFC 5322 §3.2.3). Quoted strings and other alphabets aren't accepted. */
const EMAIL_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
/** Labels of a domain have at most 63 characters, and don't begin or end with a hyphen (RFC 1035 §2.3.1). */
const DOMAIN_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
/** The last label has only letters, or is encoded from another alphabet, such as `xn--p1ai` (RFC 5890 §2.3.2.1). */
const TOP_LABEL = "(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9-]{0,58}[A-Za-z0-9])";
const EMAIL = new RegExp(String.raw`^${EMAIL_ATOM}(?:\.${EMAIL_ATOM})*@(?:${DOMAIN_LABEL}\.)+${TOP_LABEL}$`);
/** RFC 5321 §4.5.3.1.1. */
const EMAIL_LOCAL_MAX_CHARACTERS = 64;
/** RFC 5321 §4.5.3.1.2, without the final dot of a domain in DNS. */
const EMAIL_DOMAIN_MAX_CHARACTERS = 253;
const EMAIL_MAX_CHARACTERS = EMAIL_LOCAL_MAX_CHARACTERS + 1 + EMAIL_DOMAIN_MAX_CHARACTERS;

export function email() {
  return z
    .email({ pattern: EMAIL, error: "must be an email address" })
    .refine(
      (value) =>
        value.indexOf("@") <= EMAIL_LOCAL_MAX_CHARACTERS &&
        value.length - value.indexOf("@") - 1 <= EMAIL_DOMAIN_MAX_CHARACTERS,
      rule(
        "too_big",
        `must have at most ${EMAIL_LOCAL_MAX_CHARACTERS} characters before the @ and ${EMAIL_DOMAIN_MAX_CHARACTERS} after it`,
      ),
    )
    .meta({ maxLength: EMAIL_MAX_CHARACTERS });
}

/** The content of an event. */
export function content() {
  return unicode()
    .refine(
      (value) => Buffer.byteLength(value) <= CONTENT_MAX_BYTES,
      rule("too_big", `must be at most ${CONTENT_MAX_BYTES} bytes of UTF-8`),
    )
    .meta({ maxLength: CONTENT_MAX_BYTES });
}

const DATE_TIME = rule("invalid_format", "must be an RFC 3339 date-time with offset, such as 2026-01-31T09:30:00Z");
const YEARS = rule("invalid_value", "must be in the years 0001 to 9999 (UTC)");

/** A date-time with offset (RFC 3339), converted to UTC and truncated to milliseconds. */
export function timestamp() {
  return z
    .string(DATE_TIME.error)
    .transform((value, context) => {
      const time = parseDateTime(value);
      if (isFourDigitYear(time)) return isoTime(time);
      const { error, params } = Number.isNaN(time) ? DATE_TIME : YEARS;
      context.addIssue({ code: "custom", message: error, params });
      return z.NEVER;
    })
    .meta({ format: "date-time" });
}

/** A date-time in records and responses. */
export const storedTimestamp = z.string().meta({ format: "date-time" });

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A UUID in lower case (RFC 9562 §4). @returns undefined for any other value */
export function parseUuid(value = ""): string | undefined {
  const id = value.toLowerCase();
  return UUID.test(id) ? id : undefined;
}

/** A UUID in responses. */
export const uuid = z.string().meta({ format: "uuid" });

/** A whole number from 0. */
export const count = z.int().min(0);

/** A number that may come from a cell and then still has its digits as written: `1000000.0` is the number 1000000. */
export function number<S extends z.ZodType<number>>(schema: S) {
  return z.preprocess((value) => (isRawJson(value) ? Number(value.rawJSON) : value), schema);
}

/**
 * An array of at most `max` values. The rest of a longer one isn't checked: a body of 4 MiB can have a million values, each
 * with problems.
 * @param what the values are called in the message
 */
export function boundedArray<S extends z.ZodType>(schema: S, max: number, what: string, mayBeEmpty = true) {
  const array = z.array(schema).max(max, `must have at most ${max} ${what}`);
  return z.preprocess(
    (value) => (Array.isArray(value) && value.length > max ? value.slice(0, max + 1) : value),
    mayBeEmpty ? array : array.min(1, "must not be empty"),
  );
}

/** A JSON object in a response. */
export const jsonObject = z.custom<JsonObject>(isJsonObject).meta({ type: "object", additionalProperties: true });

/**
 * The first problem in a caller's JSON: a value or key that isn't allowed.
 * @param levelsMax the most levels of arrays and objects
 * @param path of the value; the same array is used for all values
 */
export function findForbidden(value: unknown, levelsMax: number, path: (string | number)[] = []): Problem | null {
  if (typeof value === "string") {
    const problem = problemOfText(value);
    return problem ? { path: [...path], code: problem.params.code, message: problem.error } : null;
  }
  if (typeof value === "number" || isRawJson(value)) {
    const isFinite = Number.isFinite(isRawJson(value) ? Number(value.rawJSON) : value);
    return isFinite ? null : { path: [...path], code: "too_big", message: "must be a finite number" };
  }
  if (typeof value !== "object" || value === null) return null;
  if (path.length >= levelsMax) {
    return { path: [], code: "too_deep", message: `must be nested at most ${levelsMax} levels deep` };
  }
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    if (key === "__proto__")
      return { path: [...path], code: "unknown", message: "must not have a key named __proto__" };
    path.push(key);
    const inner = (value as Record<string, unknown>)[key as string];
    const found =
      (Array.isArray(value) ? null : findForbidden(key, levelsMax, path)) ?? findForbidden(inner, levelsMax, path);
    if (found) return found;
    path.pop();
  }
  return null;
}

function findTooLarge(value: JsonObject): Problem | null {
  if (Buffer.byteLength(JSON.stringify(value)) <= CUSTOM_ATTRIBUTES_MAX_BYTES) return null;
  return { path: [], code: "too_big", message: `must be at most ${CUSTOM_ATTRIBUTES_MAX_BYTES} bytes of JSON` };
}

/** The issue with which a schema reports a problem. */
export function issueOf({ path, code, message }: Problem, input: unknown): z.core.$ZodRawIssue {
  return { code: "custom", input, path: [...path], message, params: { code } };
}

/** An object with values of any type. Keys such as `constructor` and `a.b` are allowed. */
export function customAttributes() {
  return z
    .custom<JsonObject>(isJsonObject, rule("invalid_type", "must be an object"))
    .check(({ value, issues }) => {
      const found = findForbidden(value, CUSTOM_ATTRIBUTES_MAX_LEVELS) ?? findTooLarge(value);
      if (found) issues.push(issueOf(found, value));
    })
    .meta({ type: "object", additionalProperties: true });
}

type Issue = z.core.$ZodIssue;

function isCode(value: unknown): value is ProblemCode {
  return PROBLEM_CODES.some((code) => code === value);
}

/** The code of an issue. Our own rules name it in `params.code`. */
function codeOf(issue: Issue): ProblemCode {
  if (issue.code === "custom") return isCode(issue.params?.["code"]) ? issue.params["code"] : "invalid";
  if (issue.code === "invalid_union") return "invalid_value";
  return isCode(issue.code) ? issue.code : "invalid";
}

/** The name of a type with its article, if it needs one. */
function withArticle(type: string): string {
  if (type === "null" || type === "undefined" || type === "NaN") return type;
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

/** The message of an issue. Default messages of the schema library are replaced by ours. */
function messageOf(issue: Issue): string {
  const { message } = issue;
  if (issue.code === "invalid_value" && /^Invalid (option|input)/.test(message)) {
    return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
  }
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (expected === undefined || received === undefined) return message;
  return `must be ${withArticle(expected === "record" ? "object" : expected)}, not ${withArticle(received)}`;
}

/**
 * The problems in a schema's error. A value is named once, with its first problem: the schema library also checks the
 * length of a value of the wrong type, such as `[]` instead of a text.
 */
export function problemsOf({ issues }: z.ZodError): Problem[] {
  const named = new Set<string>();
  return issues.flatMap((issue): Problem[] => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...issue.path, key], code: "unknown", message: "is not known" }));
    }
    const place = JSON.stringify(issue.path);
    if (named.has(place)) return [];
    named.add(place);
    const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return [
      isMissing
        ? { path: issue.path, code: "required", message: "is required" }
        : { path: issue.path, code: codeOf(issue), message: messageOf(issue) },
    ];
  });
}
