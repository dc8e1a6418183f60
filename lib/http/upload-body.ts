import httpMultipartBodyParser from "@middy/http-multipart-body-parser";
import { InvalidInputError } from "../errors.ts";
import { type ProblemCode, shownKey } from "../problem.ts";
import { parseJsonBody } from "./json-body.ts";
import type { MediaType } from "./media-type.ts";
import { parseWith } from "./middy-parser.ts";
import { type FormField, MalformedMultipartError, scanMultipart, type UploadedFile } from "./multipart.ts";
import { MalformedBodyError, openBody, type RawBody, type ReadBody } from "./request-body.ts";

/** The only form field of a multipart upload. */
const FILE_FIELD = "upload[file]";

const ADVICE = '; for larger files send { "upload": { "filename", "size" } } as JSON';

/** Without middy's check of the content type, which refuses quoted boundaries; `acceptedType` checks it. */
const multipartParser = httpMultipartBodyParser({
  disableContentTypeCheck: true,
  busboy: { isPartAFile: (_name, _type, filename): boolean => filename !== undefined },
});

/** @throws InvalidInputError that names the field as the form does, without quotes */
const refuseField = (name: string, code: ProblemCode, message: string): never => {
  throw new InvalidInputError([{ path: [name], code, message }], `${shownKey(name)}: ${message}`);
};

const onlyFile = (fields: readonly FormField[]): UploadedFile => {
  const stray = fields.find(({ name }) => name !== FILE_FIELD);
  if (stray) return refuseField(stray.name, "unknown", `unknown part; send one file part named ${FILE_FIELD}`);
  const [field, second] = fields;
  if (field === undefined) return refuseField(FILE_FIELD, "required", "is required");
  if (second) return refuseField(FILE_FIELD, "repeated", "must be one file");
  if (field.filename === undefined) {
    return refuseField(FILE_FIELD, "invalid_type", "must be a file, a part with a filename");
  }
  return { filename: field.filename.replace(/^.*[/\\]/s, ""), content: field.content };
};

/** Whether the delimiter occurs only at the start of the body and at the start of its last line. */
const isPlainlyFramed = (bytes: Buffer, delimiter: string): boolean => {
  const last = bytes.lastIndexOf(delimiter);
  return bytes.indexOf(delimiter) === 0 && bytes.indexOf(delimiter, 1) === last;
};

/** Scans the body first: for an incomplete body, middy's parser throws an error that cannot be caught. */
const readFile = async (raw: RawBody, mediaType: MediaType): Promise<UploadedFile> => {
  const boundary = mediaType.parameters.get("boundary");
  try {
    const bytes = Buffer.from(raw.body ?? "", raw.isBase64Encoded ? "base64" : "utf8");
    const file = onlyFile(scanMultipart(bytes, boundary));
    if (!isPlainlyFramed(bytes, `--${boundary}`)) return file;
    const fields = await parseWith(multipartParser, `multipart/form-data; boundary="${boundary}"`, raw);
    const { content = file.content } = (fields as Record<string, Partial<UploadedFile>>)[FILE_FIELD] ?? {};
    return { filename: file.filename, content };
  } catch (error) {
    if (!(error instanceof MalformedMultipartError)) throw error;
    throw new MalformedBodyError(`the request body is not valid multipart/form-data: ${error.message}`);
  }
};

/** Reads a file from a multipart body, or a JSON body that requests an upload form. */
export const readUploadBody: ReadBody = async (raw, headers) => {
  const { mediaType, opened } = await openBody(raw, headers, ["multipart/form-data", "application/json"], ADVICE);
  return mediaType.type === "application/json"
    ? { kind: "json", value: await parseJsonBody(opened) }
    : { kind: "file", file: await readFile(opened, mediaType) };
};
