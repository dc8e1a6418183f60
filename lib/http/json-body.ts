import httpJsonBodyParser from "@middy/http-json-body-parser";
import { InvalidInputError } from "../errors.ts";
import { keepsItsDigits, parseKeepingDigits } from "../json.ts";
import { parseWith } from "./request-body.ts";
import { type Headers, MalformedBodyError, openBody, type RawBody, type RequestBody } from "./request-body.ts";

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

/** Parses the body as JSON without losing digits. @throws MalformedBodyError, InvalidInputError */
export async function parseJsonBody(raw: RawBody): Promise<unknown> {
  const text = readText(raw);
  if (text.trim() === "") throw new MalformedBodyError("the request body is empty; it must be JSON");
  if (keepsItsDigits(text)) {
    try {
      if (text.length > MIDDY_MAX_CHARACTERS) return JSON.parse(text) as unknown;
      return await parseWith(jsonParser, "application/json", { body: text, isBase64Encoded: false });
    } catch {
      // It also rejects keys that are allowed here, and its errors contain the body: the code below creates the error.
    }
  }
  try {
    return parseKeepingDigits(text);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new InvalidInputError([{ path: [], code: "too_deep", message: "is nested too deeply" }]);
    }
    // V8 quotes the body in its message: only the position may be repeated.
    const position = error instanceof SyntaxError ? / \(line \d+ column \d+\)/.exec(error.message)?.[0] : undefined;
    throw new MalformedBodyError(`the request body is not valid JSON${position ?? ""}`);
  }
}

/** Reads a JSON body: a `ReadBody`. */
export async function readJsonBody(raw: RawBody, headers: Headers): Promise<RequestBody> {
  const { opened } = await openBody(raw, headers, ["application/json"]);
  return { kind: "json", value: await parseJsonBody(opened) };
}
