import httpJsonBodyParser from "@middy/http-json-body-parser";
import httpMultipartBodyParser from "@middy/http-multipart-body-parser";
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { BodyKind } from "../../functions/routes.ts";
import { InvalidInputError, WorkItemsError } from "../errors.ts";
import { type JsonValue, parseJson } from "../json.ts";
import { type MediaType, parseMediaType } from "./media-type.ts";
import { MalformedMultipartError, type Part, scanMultipart, type UploadedFile } from "./multipart.ts";

/** Lambda takes 6 MB of request, which is 4.5 MB before base64. */
export const BODY_MAX_BYTES = 4 * 1024 * 1024;
/** The one part of a multipart upload. */
export const FILE_PART = "upload[file]";

/** The request body is larger than 4 MiB. */
export class BodyTooLargeError extends WorkItemsError {}
/** The request body is of a type that the route does not take. */
export class UnsupportedMediaTypeError extends WorkItemsError {}
/** The request body is not what its content type says. */
export class MalformedBodyError extends WorkItemsError {}

/** Content types are checked here already: middy's checks refuse quoted boundaries and `Application/JSON`. */
const jsonParser = httpJsonBodyParser({ disableContentTypeCheck: true });
const multipartParser = httpMultipartBodyParser({
  disableContentTypeCheck: true,
  busboy: { isPartAFile: (_name, _type, filename): boolean => filename !== undefined },
});

/** Hands one body to a middy parser, which reads an event and puts what it read in the place of the body. */
const parseWith = async (parser: { before?: unknown }, contentType: string, raw: RawBody): Promise<unknown> => {
  const event: { headers: Record<string, string>; body: unknown; isBase64Encoded: boolean } = {
    ...raw,
    headers: { "content-type": contentType },
  };
  await (parser.before as (request: { event: typeof event }) => unknown)({ event });
  return event.body;
};

type RawBody = Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded">;
type Headers = Readonly<Record<string, string | undefined>>;

/** What a request body holds: JSON for the route's schema, or a file. */
export interface ParsedBody {
  readonly body: JsonValue | undefined;
  readonly file: UploadedFile | undefined;
}

const byteLength = ({ body, isBase64Encoded }: RawBody): number =>
  Buffer.byteLength(body ?? "", isBase64Encoded ? "base64" : "utf8");

const isUtf8 = (charset: string | undefined): boolean => charset === undefined || /^utf-?8$/i.test(charset);

/** The media type of the body, where this route takes it. */
const acceptedType = (kind: BodyKind, headers: Headers): MediaType => {
  const accepted = kind === "json" ? ["application/json"] : ["multipart/form-data", "application/json"];
  const mediaType = parseMediaType(headers["content-type"]);
  if (mediaType === undefined || !accepted.includes(mediaType.type)) {
    throw new UnsupportedMediaTypeError(`Content-Type must be ${accepted.join(" or ")}`);
  }
  if (mediaType.type === "application/json" && !isUtf8(mediaType.parameters.get("charset"))) {
    throw new UnsupportedMediaTypeError("the charset of the body must be utf-8");
  }
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
    throw new UnsupportedMediaTypeError("the body must not be compressed (Content-Encoding)");
  }
  return mediaType;
};

const readText = ({ body, isBase64Encoded }: RawBody): string => {
  if (!isBase64Encoded) return (body ?? "").replace(/^\uFEFF/, "");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(body ?? "", "base64"));
  } catch {
    throw new MalformedBodyError("the request body is not valid UTF-8");
  }
};

/**
 * Text in which a number may stand that a double does not give back as it was written: long, with exponent or below
 * 0.000001 (which gets one), ending in 0, minus 0.
 */
const MAY_LOSE_DIGITS = /\d[\d.]{14}|\d[eE]|\.\d*0(?!\d)|-0|0\.0{6}/;

const readJson = async (raw: RawBody): Promise<JsonValue> => {
  const text = readText(raw);
  if (text.trim() === "") throw new MalformedBodyError("the request body is empty; it must be JSON");
  if (!MAY_LOSE_DIGITS.test(text)) {
    try {
      return (await parseWith(jsonParser, "application/json", { body: text, isBase64Encoded: false })) as JsonValue;
    } catch {
      // It also refuses keys that we take, and its errors hold the body: what is wrong is told below.
    }
  }
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidInputError("body: is nested too deeply");
    // V8 quotes the body in its message; only the place is ours to repeat.
    const place = error instanceof SyntaxError ? / \(line \d+ column \d+\)/.exec(error.message)?.[0] : undefined;
    throw new MalformedBodyError(`the request body is not valid JSON${place ?? ""}`);
  }
};

const onlyFile = (parts: readonly Part[]): UploadedFile => {
  const stray = parts.find((part) => part.name !== FILE_PART);
  if (stray) throw new InvalidInputError(`${stray.name}: unknown part; send one file part named ${FILE_PART}`);
  const [part, second] = parts;
  if (part === undefined) throw new InvalidInputError(`${FILE_PART}: is required`);
  if (second) throw new InvalidInputError(`${FILE_PART}: must be one file`);
  if (part.filename === undefined) throw new InvalidInputError(`${FILE_PART}: must be a file, a part with a filename`);
  return { filename: part.filename.replace(/^.*[/\\]/s, ""), content: part.content };
};

/** Whether the delimiter stands at the start of the body and of its last line, and nowhere else. */
const isPlainlyFramed = (bytes: Buffer, delimiter: string): boolean => {
  const last = bytes.lastIndexOf(delimiter);
  return bytes.indexOf(delimiter) === 0 && bytes.indexOf(delimiter, 1) === last;
};

/** The framing is checked first: on a body that breaks off, middy's parser raises an error that nobody can catch. */
const readFile = async (raw: RawBody, mediaType: MediaType): Promise<UploadedFile> => {
  const boundary = mediaType.parameters.get("boundary");
  try {
    const bytes = Buffer.from(raw.body ?? "", raw.isBase64Encoded ? "base64" : "utf8");
    const file = onlyFile(scanMultipart(bytes, boundary));
    if (!isPlainlyFramed(bytes, `--${boundary}`)) return file;
    const parts = await parseWith(multipartParser, `multipart/form-data; boundary="${boundary}"`, raw);
    const { content = file.content } = (parts as Record<string, Partial<UploadedFile>>)[FILE_PART] ?? {};
    return { filename: file.filename, content };
  } catch (error) {
    if (!(error instanceof MalformedMultipartError)) throw error;
    throw new MalformedBodyError(`the request body is not valid multipart/form-data: ${error.message}`);
  }
};

/**
 * Reads the body as the route takes it; on routes that take none, whatever was sent is ignored.
 * @throws BodyTooLargeError, UnsupportedMediaTypeError, MalformedBodyError, InvalidInputError, in this order.
 */
export const readBody = async (kind: BodyKind, raw: RawBody, headers: Headers): Promise<ParsedBody> => {
  if (kind === "none") return { body: undefined, file: undefined };
  if (byteLength(raw) > BODY_MAX_BYTES) {
    const way = kind === "json" ? "" : '; for larger files send { "upload": { "filename", "size" } } as JSON';
    throw new BodyTooLargeError(`the request body must be at most ${BODY_MAX_BYTES} bytes${way}`);
  }
  const mediaType = acceptedType(kind, headers);
  return mediaType.type === "application/json"
    ? { body: await readJson(raw), file: undefined }
    : { body: undefined, file: await readFile(raw, mediaType) };
};
