import { parseMediaType } from "./request.ts";

/** One file of a multipart request. */
export interface UploadedFile {
  readonly filename: string;
  readonly content: Buffer;
}

/** A field of a `multipart/form-data` body (a "part" in RFC 7578). */
export interface FormField {
  readonly name: string;
  /** Undefined if the field is not a file. */
  readonly filename: string | undefined;
  /** A view of the body, not a copy. */
  readonly content: Buffer;
}

/** The body is not valid `multipart/form-data`. */
export class MalformedMultipartError extends Error {
  override readonly name: string = "MalformedMultipartError";
}

/** The most fields in a body. A form with one file has far fewer. */
export const FIELDS_MAX = 100;
/** RFC 2046 §5.1.1 allows 70 characters, but some clients send a few more. */
const BOUNDARY_MAX_CHARACTERS = 200;

const CRLF = "\r\n";
const HEADERS_END = Buffer.from(CRLF + CRLF);

/** Decodes `filename*=utf-8''gr%C3%B6%C3%9Fe.csv` (RFC 5987), which some clients send with or without `filename`. */
function decodeExtended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? "")?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function parseField(bytes: Buffer): FormField {
  const headersEnd = bytes.indexOf(HEADERS_END);
  if (headersEnd === -1) throw new MalformedMultipartError("the headers of a part don't end");
  const headers = new Map(
    bytes
      .toString("utf8", 0, headersEnd)
      .split(CRLF)
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
  );
  const disposition = parseMediaType(headers.get("content-disposition"));
  const name = disposition?.parameters.get("name");
  if (disposition?.type !== "form-data" || !name) {
    throw new MalformedMultipartError("a part has no Content-Disposition: form-data with a name");
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!["7bit", "8bit", "binary"].includes(encoding)) {
    throw new MalformedMultipartError(`a part has the Content-Transfer-Encoding ${encoding}; send it as binary`);
  }
  const filename = decodeExtended(disposition.parameters.get("filename*")) ?? disposition.parameters.get("filename");
  return { name, filename, content: bytes.subarray(headersEnd + HEADERS_END.length) };
}

/**
 * Finds the fields of a complete `multipart/form-data` body (RFC 7578), with any boundary that clients use.
 * @throws MalformedMultipartError if the body is incomplete, has more than 100 fields, or a field has no name
 */
export function scanMultipart(body: Buffer, boundary: string | undefined): FormField[] {
  if (!boundary) throw new MalformedMultipartError("the Content-Type has no boundary");
  if (boundary.length > BOUNDARY_MAX_CHARACTERS) throw new MalformedMultipartError("the boundary is too long");
  const delimiter = Buffer.from(`${CRLF}--${boundary}`);
  // The first delimiter may be at the start of the body, without a line end before it.
  const bytes = Buffer.concat([Buffer.from(CRLF), body]);
  const fields: FormField[] = [];
  let fieldStart: number | undefined;
  let at = bytes.indexOf(delimiter);
  while (at !== -1) {
    const after = at + delimiter.length;
    const closes = bytes.toString("latin1", after, after + 2) === "--";
    const line = /^[ \t]*\r\n/.exec(bytes.toString("latin1", after, after + 80));
    if (closes || line) {
      if (fieldStart !== undefined) fields.push(parseField(bytes.subarray(fieldStart, at)));
      if (closes) return fields;
      if (fields.length >= FIELDS_MAX) throw new MalformedMultipartError(`more than ${FIELDS_MAX} parts`);
      fieldStart = after + (line?.[0].length ?? 0);
    }
    // A line that only starts with the delimiter is content.
    at = bytes.indexOf(delimiter, after);
  }
  throw new MalformedMultipartError("the body ends before its closing boundary");
}
