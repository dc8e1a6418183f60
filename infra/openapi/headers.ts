import { examples } from "../../functions/routes/examples.ts";
import type { Json } from "./schema-form.ts";

function text(description: string, example: string, schema: Json = {}): Json {
  return { description, schema: { type: "string", ...schema }, example };
}
function seconds(description: string, example: number): Json {
  return {
    description,
    schema: { type: "integer", minimum: 0 },
    example,
  };
}

/** The headers of responses, by name. `Retry-After-Job` is `Retry-After` in responses that show a job. */
export const RESPONSE_HEADERS = {
  "x-request-id": {
    ...text("Request ID. Include it when you contact support.", "5f0c9a1e-7d3b-4c52-9e0a-2f6f6a1c9b1e"),
    required: true,
  },
  ETag: {
    ...text(
      "Version of the response. Changes whenever the body would. Send it as `If-None-Match` or `If-Match`.",
      examples.etag,
    ),
    required: true,
  },
  "Retry-After": { ...seconds("Seconds to wait before you send the request again.", 1), required: true },
  "Retry-After-Job": seconds("Seconds to wait before you get the job again. Absent once the job has ended.", 1),
  "RateLimit-Policy": text(
    "The organization's rate limit: `q` requests at once, all available again within `w` seconds " +
      "(draft-ietf-httpapi-ratelimit-headers-10).",
    '"organization";q=200;w=2',
  ),
  RateLimit: text(
    "The rest of the rate limit: `r` requests now, and all of them again within `t` seconds.",
    '"organization";r=199;t=1',
  ),
  "Content-Disposition": text("File name for browsers.", 'attachment; filename="work_items.csv"'),
  Link: text(
    "With `Accept: application/problem+json`: a link (`rel=help`) to the documentation of this error.",
    '<../docs/errors#invalid-input>; rel="help"',
  ),
  "WWW-Authenticate": text(
    "The authentication scheme. API Gateway renames this header to `x-amzn-Remapped-WWW-Authenticate`.",
    "Bearer",
  ),
} as const satisfies Record<string, Json>;
/** Key of a response's header. */
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** References to the headers of a response, which always include `x-request-id`. */
export function headersOf(...keys: readonly ResponseHeader[]): Json {
  return Object.fromEntries(
    (["x-request-id", ...keys] as const).map((key) => [
      key === "Retry-After-Job" ? "Retry-After" : key,
      { $ref: `#/components/headers/${key}` },
    ]),
  );
}

/** The headers of responses to a valid key. */
export const LIMIT_HEADERS = ["RateLimit-Policy", "RateLimit"] as const satisfies readonly ResponseHeader[];

const ENTITY_TAGS = String.raw`^\s*(\*|[\s,]*(W/)?"[^"]*"([\s,]*(W/)?"[^"]*")*[\s,]*)\s*$`;

/** The headers of requests that endpoints read, by name. */
const HEADERS = {
  "If-Match": text(
    "Changes the work item only if it still has the version in this entity tag; otherwise returns 412. Extension.",
    "*",
    { pattern: ENTITY_TAGS },
  ),
  "If-None-Match": text(
    "Returns 304 without a body if the response would still have this entity tag. Extension.",
    examples.etag,
  ),
  "Idempotency-Key": text(
    "Any unique string. Requests with the same key and content have the effect of one, so retries are safe. For a create, the key counts together with the `external_id`. Extension.",
    examples.idempotencyKey,
    { minLength: 1, maxLength: 255, pattern: "^[ -~]+$" },
  ),
};

/** The same as parameters. */
export const REQUEST_HEADERS: Json = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [name, { name, in: "header", ...header }]),
);
