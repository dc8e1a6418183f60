import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";

/** Status codes that front ends of AWS, and proxies before them, send with bodies of their own. */
const STATUSES = [200, 500, 502, 503, 504] as const;
const FOREIGN_BODIES = ["html", "empty"] as const;
const SENT = ["before", "after"] as const;

/**
 * A response that is not what the service's protocol says, in place of carrying the request out (`before`) or of its
 * response (`after`): a foreign body with any status, a body that ends too early, or a connection that breaks inside the
 * body. `wrong checksum` changes a byte of a whole object that is read, and the checksum in the response to a write. Where
 * there is no body to damage, the connection breaks before the headers.
 */
export type DamagedResponse =
  | `${(typeof FOREIGN_BODIES)[number]} ${(typeof STATUSES)[number]} ${(typeof SENT)[number]}`
  | `${"truncated" | "cut"} ${(typeof SENT)[number]}`
  | "wrong checksum";

/** All of them, except those that only S3's responses have. */
export const DAMAGED_RESPONSES: readonly DamagedResponse[] = SENT.flatMap((sent): DamagedResponse[] => [
  ...FOREIGN_BODIES.flatMap((body) => STATUSES.map((status): DamagedResponse => `${body} ${status} ${sent}`)),
  `truncated ${sent}`,
  `cut ${sent}`,
]);
const NAMES: ReadonlySet<string> = new Set([...DAMAGED_RESPONSES, "wrong checksum"]);
/** Whether a fault is a damaged response. */
export const isDamagedResponse = (fault: string): fault is DamagedResponse => NAMES.has(fault);

/** A response as the client's request handler gives it to the SDK. */
export interface WireResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

const HTML = "<html><body><b>Http/1.1 Service Unavailable</b></body></html>";
/** What the service would answer if it failed itself. */
const SERVER_FAULT = {
  json: '{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"The request processing has failed"}',
  xml: "<?xml version='1.0'?><Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>",
};

const halfOf = (body: Buffer): Buffer => body.subarray(0, Math.floor(body.length / 2));
/** The error of a connection that breaks, as `node:http` reports it. */
const broken = (): Error => Object.assign(new Error("aborted"), { code: "ECONNRESET" });
const brokenAfter = (body: Buffer): Readable =>
  Readable.from(
    (function* () {
      yield body;
      throw broken();
    })(),
  );
const whole = (statusCode: number, headers: WireResponse["headers"], body: Buffer | string): WireResponse => ({
  statusCode,
  headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
  body: Readable.from([Buffer.from(body)]),
});

const crc32Of = (body: Buffer): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString("base64");
};

/** S3 sends the checksum of a whole object, and none of a range. */
const withWrongChecksum = (method: string, { statusCode, headers, body: _body }: WireResponse, body: Buffer) => {
  if (method !== "GET") return whole(statusCode, { ...headers, "x-amz-checksum-crc32": "AAAAAA==" }, body);
  if (statusCode !== 200 || body.length === 0) return whole(statusCode, headers, body);
  const others = Object.entries(headers).filter(([name]) => !name.startsWith("x-amz-checksum"));
  const damaged = Buffer.from(body);
  damaged[Math.floor(body.length / 2)]! ^= 1;
  return whole(statusCode, { ...Object.fromEntries(others), "x-amz-checksum-crc32": crc32Of(body) }, damaged);
};

/**
 * Answers a request with a damaged response.
 * @param send carries the request out
 */
export const damage = async (
  kind: DamagedResponse,
  { method, isXml }: { readonly method: string; readonly isXml: boolean },
  send: () => Promise<WireResponse>,
): Promise<WireResponse> => {
  const [name, ...rest] = kind.split(" ");
  const isSent = rest.at(-1) !== "before";
  const response = isSent ? await send() : whole(500, {}, isXml ? SERVER_FAULT.xml : SERVER_FAULT.json);
  const { statusCode, headers } = response;
  // The connection stays open for other requests only if the body was read.
  const body = await buffer(response.body);
  const isForeign = name === "html" || name === "empty";
  const hasChecksum = kind === "wrong checksum" && method !== "HEAD";
  if (body.length === 0 && !isForeign && !hasChecksum) throw broken();
  if (hasChecksum) return withWrongChecksum(method, response, body);
  if (name === "truncated") return whole(statusCode, headers, halfOf(body));
  if (name === "cut") return { statusCode, headers, body: brokenAfter(halfOf(body)) };
  const status = Number(rest[0]);
  return name === "html" ? whole(status, { "content-type": "text/html" }, HTML) : whole(status, {}, "");
};
