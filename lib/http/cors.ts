/** Headers of responses that pages of allowed origins may read, beside those that every page may. */
export const EXPOSED_HEADERS = "ETag, Retry-After, RateLimit, RateLimit-Policy, x-request-id";
/** Headers that pages of allowed origins may send, beside those that every page may. */
const ALLOWED_HEADERS = "Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, If-None-Match";
/** Browsers cap it at two hours or less. */
const PREFLIGHT_SECONDS = 7200;

/**
 * The headers by which a page of another origin may read the response
 * (https://fetch.spec.whatwg.org/#http-cors-protocol).
 * @returns undefined if the origin is not allowed, or the request has none
 */
export function corsHeaders(
  allowedOrigins: readonly string[],
  origin: string | undefined,
): Readonly<Record<string, string>> | undefined {
  return origin !== undefined && allowedOrigins.includes(origin)
    ? { "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED_HEADERS }
    : undefined;
}

/** The headers of the response to a preflight request, in addition to those above. */
export function preflightHeaders(methods: readonly string[]): Readonly<Record<string, string>> {
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": String(PREFLIGHT_SECONDS),
  };
}
