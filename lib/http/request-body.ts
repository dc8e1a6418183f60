import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { BodyTooLargeError, InvalidInputError, MalformedBodyError, UnsupportedMediaTypeError } from "../errors.ts";
import { isRawJson, type JsonValue, keepsItsDigits, parseKeepingDigits, positionIn } from "../json.ts";
import type { UploadedFile } from "./multipart.ts";
import { type MediaType, parseMediaType } from "./request.ts";

/** Lambda accepts events of 6 MB, which is a body of 4.5 MB before base64. */
export const BODY_MAX_BYTES = 4 * 1024 * 1024;

/** The body in the gateway's event. */
export type RawBody = Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded">;
/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** The content of a request body: JSON for the route's schema, or a file and the form's other fields for theirs. */
export type RequestBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "file"; readonly file: UploadedFile; readonly fields: unknown };

/** Reads a body. @throws BodyTooLargeError, then UnsupportedMediaTypeError, MalformedBodyError, InvalidInputError */
export type ReadBody = (raw: RawBody, headers: Headers) => Promise<RequestBody>;

function tooLarge(advice: string) {
  return new BodyTooLargeError(`the request body must be at most ${BODY_MAX_BYTES} bytes${advice}`);
}

function assertSize({ body, isBase64Encoded }: RawBody, advice: string): void {
  if (Buffer.byteLength(body ?? "", isBase64Encoded ? "base64" : "utf8") > BODY_MAX_BYTES) throw tooLarge(advice);
}

const gunzipInBackground = promisify(gunzip);
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Unpacks a gzip body. API Gateway may unpack a body itself and keep the header, so the first bytes decide.
 * @throws BodyTooLargeError as soon as the unpacked body is too large; MalformedBodyError
 */
async function unpack(raw: RawBody, advice: string): Promise<RawBody> {
  const bytes = Buffer.from(raw.body ?? "", raw.isBase64Encoded ? "base64" : "utf8");
  if (!isGzip(bytes)) return raw;
  try {
    const unpacked = await gunzipInBackground(bytes, { maxOutputLength: BODY_MAX_BYTES });
    return { body: unpacked.toString("base64"), isBase64Encoded: true };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(advice);
    throw new MalformedBodyError("the request body is not valid gzip");
  }
}

function isUtf8(charset: string | undefined): boolean {
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** The coding of the body. @throws UnsupportedMediaTypeError unless it is gzip or none */
function codingOf(headers: Headers): "gzip" | "identity" {
  const coding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  if (coding === "gzip" || coding === "x-gzip") return "gzip";
  if (coding === "" || coding === "identity") return "identity";
  throw new UnsupportedMediaTypeError("Content-Encoding must be gzip or identity");
}

function acceptedType(accepted: readonly string[], headers: Headers): MediaType {
  const mediaType = parseMediaType(headers["content-type"]);
  if (mediaType === undefined || !accepted.includes(mediaType.type)) {
    throw new UnsupportedMediaTypeError(`Content-Type must be ${accepted.join(" or ")}`);
  }
  if (mediaType.type === "application/json" && !isUtf8(mediaType.parameters.get("charset"))) {
    throw new UnsupportedMediaTypeError("the charset of the body must be utf-8");
  }
  return mediaType;
}

/**
 * Checks the size and the media type of a body, and unpacks it.
 * @param accepted media types
 * @param advice what to do instead of sending a body that is too large; ends the message
 * @throws BodyTooLargeError, UnsupportedMediaTypeError, MalformedBodyError
 */
export async function openBody(
  raw: RawBody,
  headers: Headers,
  accepted: readonly string[],
  advice = "",
): Promise<{ readonly mediaType: MediaType; readonly opened: RawBody }> {
  assertSize(raw, advice);
  const mediaType = acceptedType(accepted, headers);
  return { mediaType, opened: codingOf(headers) === "gzip" ? await unpack(raw, advice) : raw };
}

/** Parses a body with a middy parser, which replaces an event's body with the parsed value. */
export async function parseWith(
  parser: { readonly before?: unknown },
  contentType: string,
  raw: RawBody,
): Promise<unknown> {
  const event: { headers: Record<string, string>; body: unknown; isBase64Encoded: boolean } = {
    ...raw,
    headers: { "content-type": contentType },
  };
  await (parser.before as (request: { event: typeof event }) => unknown)({ event });
  return event.body;
}

/** Skips middy's check of the content type, which rejects `Application/JSON`; `acceptedType` checks it. */
const jsonParser = httpJsonBodyParser({ disableContentTypeCheck: true });

/**
 * middy's parser calls back for every value: a body of 4 MiB with a million values would take seconds. It guards
 * against keys that change an object's prototype, which our schemas reject.
 */
const MIDDY_MAX_CHARACTERS = 16 * 1024;

function readText({ body, isBase64Encoded }: RawBody): string {
  if (!isBase64Encoded) return (body ?? "").replace(/^\uFEFF/, "");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(body ?? "", "base64"));
  } catch {
    throw new MalformedBodyError("the request body is not valid UTF-8");
  }
}

/** The key of the values whose numbers keep their digits. */
const EXACT_KEY = "custom_attributes";

/** Converts all other numbers to plain ones: to schemas, a number with all its digits is an object. */
function withPlainNumbers(value: JsonValue): JsonValue {
  if (isRawJson(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (typeof value !== "object" || value === null) return value;
  for (const key of Object.keys(value)) if (key !== EXACT_KEY) value[key] = withPlainNumbers(value[key]!);
  return value;
}

/** Parses the body as JSON. Custom attributes don't lose digits. @throws MalformedBodyError, InvalidInputError */
export async function parseJsonBody(raw: RawBody): Promise<unknown> {
  const text = readText(raw);
  if (text.trim() === "") throw new MalformedBodyError("the request body is empty; it must be JSON");
  if (keepsItsDigits(text)) {
    try {
      if (text.length > MIDDY_MAX_CHARACTERS) return JSON.parse(text) as unknown;
      return await parseWith(jsonParser, "application/json", { body: text, isBase64Encoded: false });
    } catch {
      // middy also rejects keys that are allowed here, and its errors contain the body. The code below makes the error.
    }
  }
  try {
    return withPlainNumbers(parseKeepingDigits(text));
  } catch (error) {
    if (error instanceof RangeError) {
      throw new InvalidInputError([{ path: [], code: "too_deep", message: "is nested too deeply" }]);
    }
    throw new MalformedBodyError(`the request body is not valid JSON${positionIn(error)}`);
  }
}

/** Reads a JSON body: a `ReadBody`. */
export async function readJsonBody(raw: RawBody, headers: Headers): Promise<RequestBody> {
  const { opened } = await openBody(raw, headers, ["application/json"]);
  return { kind: "json", value: await parseJsonBody(opened) };
}

/** Reads a JSON body that may be omitted, which means an empty object: a `ReadBody`. */
export async function readOptionalJsonBody(raw: RawBody, headers: Headers): Promise<RequestBody> {
  return raw.body ? readJsonBody(raw, headers) : { kind: "json", value: {} };
}
