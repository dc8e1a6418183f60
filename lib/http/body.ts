import type { APIGatewayProxyEvent } from "aws-lambda";
import type { BodyKind } from "../../functions/routes.ts";
import { InvalidInputError, WorkItemsError } from "../errors.ts";
import { type JsonValue, parseJson } from "../json.ts";
import { type MediaType, parseMediaType } from "./media-type.ts";
import { MalformedMultipartError, type Part, parseMultipart, type UploadedFile } from "./multipart.ts";

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

const readJson = (raw: RawBody): JsonValue => {
  const text = readText(raw);
  if (text.trim() === "") throw new MalformedBodyError("the request body is empty; it must be JSON");
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

const readFile = ({ body, isBase64Encoded }: RawBody, mediaType: MediaType): UploadedFile => {
  try {
    const bytes = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8");
    return onlyFile(parseMultipart(bytes, mediaType.parameters.get("boundary")));
  } catch (error) {
    if (!(error instanceof MalformedMultipartError)) throw error;
    throw new MalformedBodyError(`the request body is not valid multipart/form-data: ${error.message}`);
  }
};

/**
 * Reads the body as the route takes it; on routes that take none, whatever was sent is ignored.
 * @throws BodyTooLargeError, UnsupportedMediaTypeError, MalformedBodyError, InvalidInputError, in this order.
 */
export const readBody = (kind: BodyKind, raw: RawBody, headers: Headers): ParsedBody => {
  if (kind === "none") return { body: undefined, file: undefined };
  if (byteLength(raw) > BODY_MAX_BYTES) {
    const way = kind === "json" ? "" : '; for larger files send { "upload": { "filename", "size" } } as JSON';
    throw new BodyTooLargeError(`the request body must be at most ${BODY_MAX_BYTES} bytes${way}`);
  }
  const mediaType = acceptedType(kind, headers);
  return mediaType.type === "application/json"
    ? { body: readJson(raw), file: undefined }
    : { body: undefined, file: readFile(raw, mediaType) };
};
