import * as z from "zod";
import { errorKinds, PROBLEM_JSON, problemType } from "../../lib/http/error-table.ts";
import { BODY_MAX_BYTES } from "../../lib/http/request-body.ts";
import { CURSORS_VALID_DAYS, UNDO_DAYS } from "../../lib/periods.ts";
import { problemDetailSchema } from "../../lib/problem-detail.ts";
import { examples } from "../../functions/routes/examples.ts";
import { headersOf, LIMIT_HEADERS, type ResponseHeader } from "./headers.ts";
import type { Json } from "./schema-form.ts";

interface ErrorResponse {
  /** Name of the component. */
  readonly name: string;
  readonly description: string;
  /** The message in the example. */
  readonly example: string;
  readonly errors?: readonly Json[];
  readonly headers?: readonly ResponseHeader[];
}

/** The error responses that endpoints share, by status. */
const ERRORS = {
  400: {
    name: "BadRequest",
    description: "The body can't be parsed, or the URL isn't UTF-8.",
    example: "the request body is not valid JSON (line 1 column 2)",
  },
  401: {
    name: "Unauthorized",
    description: "The API key is missing, unknown, expired, revoked or from another region.",
    example: "a valid API key is required: Authorization: Bearer <API_KEY>",
    headers: ["WWW-Authenticate"],
  },
  403: {
    name: "Forbidden",
    description:
      "The API key lacks a scope that this call needs; `error` names it. Keys created without scopes have all of them.",
    example: "this API key lacks the scope write",
    headers: ["WWW-Authenticate"],
  },
  404: {
    name: "NotFound",
    description: "Your organization has nothing with this ID.",
    example: "work item not found",
  },
  409: {
    name: "Conflict",
    description: "The request conflicts with the current state.",
    example: "external_id: is already used by a work item of this organization",
    errors: [{ pointer: "/work_item/external_id", code: "taken", message: "is already used" }],
  },
  410: {
    name: "ResyncRequired",
    description:
      `What the call needs is no longer kept. Change feed: the cursor is older than ${CURSORS_VALID_DAYS} days, or changes ` +
      `after it may be missing; call without \`after\`. Undo: the upload ended more than ${UNDO_DAYS} days ago.`,
    example: "not all changes after this cursor are kept; load everything again, without after",
  },
  412: {
    name: "PreconditionFailed",
    description: "The work item has changed since the version in `If-Match`.",
    example: "the record has changed: If-Match names another version than the stored one",
  },
  413: {
    name: "ContentTooLarge",
    description: `The body is larger than ${BODY_MAX_BYTES / 1024 ** 2} MiB, as sent or unpacked.`,
    example: `the request body must be at most ${BODY_MAX_BYTES} bytes`,
  },
  415: {
    name: "UnsupportedMediaType",
    description: "The endpoint doesn't accept this `Content-Type` or `Content-Encoding`.",
    example: "Content-Type must be application/json",
  },
  422: {
    name: "UnprocessableContent",
    description: "A value isn't valid. Nothing is saved.",
    example: "work_items[3].agent_email: must be an email address",
    errors: [examples.problem],
  },
  429: {
    name: "TooManyRequests",
    description: "Your organization has reached a limit for now.",
    example: "rate limit exceeded; retry after 1 s",
    headers: ["Retry-After"],
  },
  500: { name: "InternalServerError", description: "An unexpected error.", example: "internal error" },
  503: {
    name: "ServiceUnavailable",
    description:
      "The database is busy or unavailable, too many calls are running, or the call ran out of time. Send the request again.",
    example: "the service is busy; retry later",
    headers: ["Retry-After"],
  },
} as const satisfies Record<number, ErrorResponse>;
/** Status of a shared error response. */
export type ErrorStatus = keyof typeof ERRORS;

function problemExample(status: number, { example, errors = [] }: ErrorResponse): Json {
  const kind = errorKinds.find((errorKind) => errorKind.status === status);
  if (kind === undefined) throw new Error(`no error has the status ${status}`);
  return {
    type: problemType(kind),
    title: kind.title,
    status,
    detail: example,
    instance: "5f0c9a1e-7d3b-4c52-9e0a-2f6f6a1c9b1e",
    errors,
    error: example,
  };
}

function responseOf(status: ErrorStatus, error: ErrorResponse): Json {
  const isMetered = status !== 401;
  return {
    description: error.description,
    headers: headersOf(...(isMetered ? LIMIT_HEADERS : []), ...(error.headers ?? []), "Link"),
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/Error" }, example: { error: error.example } },
      [PROBLEM_JSON]: {
        schema: { $ref: "#/components/schemas/Problem" },
        example: problemExample(status, error),
      },
    },
  };
}

/** The schemas of error bodies. */
export const errorSchemas = {
  Error: z
    .strictObject({ error: z.string().describe("Message for people. Names each problem and its location.") })
    .describe("An error."),
  Problem: z
    .strictObject({
      type: z.string().meta({ format: "uri" }).describe("Type of the error."),
      title: z.string().describe("Type of the error, for people."),
      status: z.int().min(400).max(599).describe("HTTP status of the response."),
      detail: z.string().describe("Same as `error`."),
      instance: z.string().describe("ID of the request, as in `x-request-id`."),
      errors: z
        .array(problemDetailSchema)
        .describe("The first hundred problems. Empty for errors that aren't about a value."),
      error: z.string().describe("The message, as in errors without `application/problem+json`."),
    })
    .describe("An error, for callers that accept `application/problem+json` (RFC 9457). Extension."),
};

const statuses = Object.keys(ERRORS).map(Number) as ErrorStatus[];

/** The gateway rejects such a request before the service sees it, so the body may be another. */
const HEADERS_TOO_LARGE = {
  name: "RequestHeaderFieldsTooLarge",
  description:
    "The request line and the headers are too large together, such as a long query. The body may lack `error`.",
};

/** The components of all error responses. */
export function errorComponents(): Json {
  const { name, description } = HEADERS_TOO_LARGE;
  const components = statuses.map((status) => [ERRORS[status].name, responseOf(status, ERRORS[status])]);
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return Object.fromEntries([...components, [name, { description, content }]]);
}

/** References to error responses, by status. Any request can have headers that are too large. */
export function errorsOf(...included: readonly ErrorStatus[]): Json {
  const own = statuses.filter((status) => included.includes(status)).map((status) => [status, ERRORS[status].name]);
  return Object.fromEntries(
    [...own, [431, HEADERS_TOO_LARGE.name]].map(([status, name]) => [
      status,
      { $ref: `#/components/responses/${name}` },
    ]),
  );
}
