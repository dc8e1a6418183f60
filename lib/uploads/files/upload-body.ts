import httpMultipartBodyParser from "@middy/http-multipart-body-parser";
import { InvalidInputError, MalformedBodyError, type ProblemCode, shownKey } from "../../errors.ts";
import {
  openBody,
  parseJsonBody,
  parseWith,
  type RawBody,
  type ReadBody,
  type RequestBody,
} from "../../http/request-body.ts";
import type { MediaType } from "../../http/request.ts";
import { type FormField, MalformedMultipartError, scanMultipart, type UploadedFile } from "../../http/multipart.ts";
import { positionIn } from "../../json.ts";
import { problemOfText } from "../../schema.ts";

/** The form field with the file of a multipart upload. */
const FILE_FIELD = "upload[file]";

const ADVICE = '; for larger files send { "upload": { "filename", "size" } } as JSON';
/** @throws InvalidInputError that names the field as in the form, without quotes */
function refuseField(name: string, code: ProblemCode, message: string): never {
  throw new InvalidInputError([{ path: [name], code, message }], `${shownKey(name)}: ${message}`);
}

function readJsonField({ name, content }: FormField): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch (error) {
    return refuseField(name, "invalid_format", `must be JSON${positionIn(error)}`);
  }
}

/** Clients write what their language prints: `True` is Python's. */
function readBooleanField({ content }: FormField): unknown {
  const text = content.toString();
  const word = text.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : text;
}

/** The other form fields, by their keys in a JSON request. They may come with or without a filename. */
const OTHER_FIELDS: Readonly<Record<string, { readonly key: string; readonly read: (field: FormField) => unknown }>> = {
  "upload[mapping]": { key: "mapping", read: readJsonField },
  "upload[dry_run]": { key: "dry_run", read: readBooleanField },
};
const FIELD_NAMES = [FILE_FIELD, ...Object.keys(OTHER_FIELDS)];

/** Skips middy's check of the content type, which rejects quoted boundaries; `acceptedType` checks it. */
const multipartParser = httpMultipartBodyParser({ disableContentTypeCheck: true });

/** The form fields by their names. @throws InvalidInputError if one is unknown or given twice */
function byName(fields: readonly FormField[]): ReadonlyMap<string, FormField> {
  const stray = fields.find(({ name }) => !FIELD_NAMES.includes(name));
  if (stray) refuseField(stray.name, "unknown", `unknown part; parts are ${FIELD_NAMES.join(", ")}`);
  const found = new Map(fields.map((field) => [field.name, field]));
  const repeated = fields.find((field) => found.get(field.name) !== field);
  if (repeated) refuseField(repeated.name, "repeated", "must be given once");
  return found;
}

function fileIn(fields: ReadonlyMap<string, FormField>): UploadedFile {
  const field = fields.get(FILE_FIELD);
  if (field === undefined) return refuseField(FILE_FIELD, "required", "is required");
  if (field.filename === undefined) {
    return refuseField(FILE_FIELD, "invalid_type", "must be a file, a part with a filename");
  }
  const problem = problemOfText(field.filename);
  if (problem) refuseField(FILE_FIELD, problem.params.code, `filename ${problem.error}`);
  return { filename: field.filename.replace(/^.*[/\\]/s, ""), content: field.content };
}

function othersIn(fields: ReadonlyMap<string, FormField>) {
  return {
    upload: Object.fromEntries(
      Object.entries(OTHER_FIELDS).flatMap(([name, { key, read }]) => {
        const field = fields.get(name);
        return field ? [[key, read(field)]] : [];
      }),
    ),
  };
}

/** How common clients begin a form. With other boundaries middy's parser throws; with long headers it ends the process. */
const PLAIN_START = new RegExp(
  String.raw`^--[\w'()+,./:=? -]{1,70}\r\nContent-Disposition: form-data; name="upload\[file\]"; filename="[\w ().-]{0,255}"\r\n(?:Content-Type: [\w./+-]{1,127}\r\n)?\r\n`,
);
const PLAIN_START_MAX_BYTES = 1024;

/** Whether the form has one file and begins plainly, and the delimiter occurs only at its start and end. */
function isPlain(bytes: Buffer, delimiter: string): boolean {
  const last = bytes.lastIndexOf(delimiter);
  return (
    bytes.indexOf(delimiter) === 0 &&
    bytes.indexOf(delimiter, 1) === last &&
    PLAIN_START.test(bytes.toString("latin1", 0, PLAIN_START_MAX_BYTES))
  );
}

/** Scans the body first, because middy's parser throws an error that can't be caught if the body is incomplete. */
async function readForm(raw: RawBody, mediaType: MediaType): Promise<RequestBody> {
  const boundary = mediaType.parameters.get("boundary");
  try {
    const bytes = Buffer.from(raw.body ?? "", raw.isBase64Encoded ? "base64" : "utf8");
    const scanned = byName(scanMultipart(bytes, boundary));
    const file = fileIn(scanned);
    const fields = othersIn(scanned);
    if (!isPlain(bytes, `--${boundary}`)) return { kind: "file", file, fields };
    const parsed = await parseWith(multipartParser, `multipart/form-data; boundary="${boundary}"`, raw);
    const { content = file.content } = (parsed as Record<string, Partial<UploadedFile>>)[FILE_FIELD] ?? {};
    return { kind: "file", file: { filename: file.filename, content }, fields };
  } catch (error) {
    if (!(error instanceof MalformedMultipartError)) throw error;
    throw new MalformedBodyError(`the request body is not valid multipart/form-data: ${error.message}`);
  }
}

/** Reads file and fields from a multipart body, or a JSON body that requests an upload form. */
export const readUploadBody: ReadBody = async (raw, headers) => {
  const { mediaType, opened } = await openBody(raw, headers, ["multipart/form-data", "application/json"], ADVICE);
  return mediaType.type === "application/json"
    ? { kind: "json", value: await parseJsonBody(opened) }
    : readForm(opened, mediaType);
};
