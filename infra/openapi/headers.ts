import { examples } from "../../functions/routes/examples.ts";
import type { Json } from "./schema-form.ts";

const text = (description: string, example: string): Json => ({ description, schema: { type: "string" }, example });
const seconds = (description: string, example: number): Json => ({
  description,
  schema: { type: "integer", minimum: 0 },
  example,
});

/** The headers of responses, by name; `Retry-After-Job` is `Retry-After` where a job is shown. */
export const RESPONSE_HEADERS = {
  "x-request-id": {
    ...text("Id of the request, which our log has too.", "5f0c9a1e-7d3b-4c52-9e0a-2f6f6a1c9b1e"),
    required: true,
  },
  ETag: {
    ...text("Changes with everything that the body shows. Send it as `If-None-Match` or `If-Match`.", examples.etag),
    required: true,
  },
  "Retry-After": { ...seconds("Seconds to wait before the next request.", 1), required: true },
  "Retry-After-Job": seconds("Seconds after which to ask again. Absent when the job has ended.", 1),
  "RateLimit-Policy": text(
    "The limit of the organization: `q` requests at once, all of them available again within `w` seconds " +
      "(draft-ietf-httpapi-ratelimit-headers-10).",
    '"organization";q=200;w=2',
  ),
  RateLimit: text(
    "What is left of the limit: `r` requests now, all of them within `t` seconds if nothing is sent.",
    '"organization";r=199;t=1',
  ),
  "Content-Disposition": text("Name of the file for browsers.", 'attachment; filename="work_items.csv"'),
  "WWW-Authenticate": { ...text("How to authenticate.", "Bearer"), required: true },
} as const satisfies Record<string, Json>;
/** Key of a response's header. */
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** References to the headers of a response; `x-request-id` is always there. */
export const headersOf = (...keys: readonly ResponseHeader[]): Json =>
  Object.fromEntries(
    (["x-request-id", ...keys] as const).map((key) => [
      key === "Retry-After-Job" ? "Retry-After" : key,
      { $ref: `#/components/headers/${key}` },
    ]),
  );

/** The headers of responses to a valid key. */
export const LIMIT_HEADERS = ["RateLimit-Policy", "RateLimit"] as const satisfies readonly ResponseHeader[];

const parameter = (name: string, description: string, schema: Json, more: Json = {}): Json => ({
  name,
  in: "header",
  description,
  schema: { type: "string", ...schema },
  ...more,
});

const ENTITY_TAGS = String.raw`^\s*(\*|[\s,]*(W/)?"[^"]*"([\s,]*(W/)?"[^"]*")*[\s,]*)\s*$`;

/** The headers of requests that endpoints read, by name. */
export const REQUEST_HEADERS = {
  "If-Match": parameter(
    "If-Match",
    "Changes the work item only if it still has the version in this entity tag; else the response is 412. Extension.",
    { pattern: ENTITY_TAGS },
    { example: "*" },
  ),
  "If-None-Match": parameter(
    "If-None-Match",
    "Responds with 304 and no body if the representation still has this entity tag. Extension.",
    {},
    { example: examples.etag },
  ),
  "Idempotency-Key": parameter(
    "Idempotency-Key",
    "A repeated request with the same key and content has the same effect as one. Extension.",
    { minLength: 1, maxLength: 255, pattern: "^[ -~]+$" },
  ),
} as const satisfies Record<string, Json>;
