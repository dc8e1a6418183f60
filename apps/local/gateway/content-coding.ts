import { deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";

/**
 * The codings of API Gateway: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-enable-compression.html.
 */
const CODINGS = {
  gzip: { pack: gzipSync, unpack: gunzipSync },
  deflate: { pack: deflateSync, unpack: inflateSync },
} as const;
type Coding = keyof typeof CODINGS;

function isCoding(name: string): name is Coding {
  return Object.hasOwn(CODINGS, name);
}

/**
 * Unpacks the body of a request, as the gateway does before it looks for a method.
 * @param maximum size of the unpacked body in bytes
 * @returns "unsupported" for an unknown coding or a body that isn't in it, "too large" above the maximum
 */
export function unpackRequest(
  body: Buffer,
  contentEncoding: string | undefined,
  maximum: number,
): Buffer | "unsupported" | "too large" {
  // x-gzip is gzip: https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3
  const name = (contentEncoding ?? "identity")
    .trim()
    .toLowerCase()
    .replace(/^x-gzip$/, "gzip");
  if (name === "identity" || body.length === 0) return body;
  if (!isCoding(name)) return "unsupported";
  try {
    return CODINGS[name].unpack(body, { maxOutputLength: maximum });
  } catch (error) {
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return isTooLarge ? "too large" : "unsupported";
  }
}

/** The coding that a client prefers: the first with the highest weight. */
function preferredCoding(acceptEncoding: string | undefined): string | undefined {
  const offered = (acceptEncoding ?? "").split(",").map((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { name, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  return offered.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight)[0]?.name;
}

/**
 * The coding of a response; undefined for none. The gateway compresses only if the client prefers a coding that it supports. `*`
 * and a missing header name none.
 */
export function responseCoding(acceptEncoding: string | undefined): Coding | undefined {
  const preferred = preferredCoding(acceptEncoding);
  return preferred !== undefined && isCoding(preferred) ? preferred : undefined;
}

export function packResponse(body: Buffer, coding: Coding): Buffer {
  return CODINGS[coding].pack(body);
}
