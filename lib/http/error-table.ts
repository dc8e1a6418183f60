import { isUnavailable } from "../aws/error-codes.ts";
import {
  BodyTooLargeError,
  ExternalIdTakenError,
  InvalidInputError,
  MalformedBodyError,
  MalformedUrlError,
  MissingScopeError,
  NotFoundError,
  PreconditionFailedError,
  type Problem,
  ResyncRequiredError,
  StateConflictError,
  StoreBusyError,
  TooManyRequestsError,
  UnauthenticatedError,
  UndoExpiredError,
  UnsupportedMediaTypeError,
  WorkItemsError,
} from "../errors.ts";
import { toProblemDetails } from "../problem-detail.ts";
import type { ApiEvent, Middleware } from "./middleware.ts";
import { accepts, pathToRoot } from "./request.ts";
import { jsonResponse } from "./response.ts";

/** The media type of RFC 9457. */
export const PROBLEM_JSON = "application/problem+json";

/** Whether the caller accepts problem details. */
export function acceptsProblemJson(accept: string | undefined): boolean {
  return accepts(accept, PROBLEM_JSON);
}

/** The request's path exists, but not with this method. */
export class MethodNotAllowedError extends WorkItemsError {
  override readonly name: string = "MethodNotAllowedError";
  readonly allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    super(`method not allowed; allowed here: ${allowed.join(", ")}`);
    this.allowed = allowed;
  }
}

/** A kind of error, for programs. */
interface ErrorKind {
  readonly status: number;
  /** The last part of the problem's type. */
  readonly name: string;
  readonly title: string;
}

interface ErrorResponse extends ErrorKind {
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly problems?: readonly Problem[];
}

type ErrorClass<E extends WorkItemsError> = abstract new (...parameters: never[]) => E;

function row<E extends WorkItemsError>(
  errorClass: ErrorClass<E>,
  kind: ErrorKind,
  more: (error: E) => Pick<ErrorResponse, "headers" | "problems"> = () => ({}),
) {
  return {
    kind,
    responseTo: (error: unknown): ErrorResponse | undefined =>
      error instanceof errorClass ? { ...kind, message: error.message, ...more(error) } : undefined,
  };
}

const INTERNAL: ErrorKind = { status: 500, name: "internal", title: "Internal error" };

const taken: Problem = { path: ["work_item", "external_id"], code: "taken", message: "is already used" };

/** The kind and the headers of each expected error. */
const table = [
  row(MalformedBodyError, { status: 400, name: "malformed-body", title: "The body cannot be parsed" }),
  row(MalformedUrlError, { status: 400, name: "malformed-url", title: "The URL is not valid UTF-8" }),
  row(UnauthenticatedError, { status: 401, name: "unauthenticated", title: "A valid API key is required" }, () => ({
    headers: { "www-authenticate": "Bearer" },
  })),
  row(MissingScopeError, { status: 403, name: "missing-scope", title: "The API key lacks a scope" }, ({ needed }) => ({
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${needed.join(" ")}"` },
  })),
  row(NotFoundError, { status: 404, name: "not-found", title: "Not found" }),
  row(MethodNotAllowedError, { status: 405, name: "method-not-allowed", title: "Method not allowed" }, (error) => ({
    headers: { allow: error.allowed.join(", ") },
  })),
  row(ExternalIdTakenError, { status: 409, name: "external-id-taken", title: "The external_id is taken" }, () => ({
    problems: [taken],
  })),
  row(StateConflictError, { status: 409, name: "state-conflict", title: "The state does not allow it" }),
  row(ResyncRequiredError, { status: 410, name: "resync-required", title: "Everything must be loaded again" }),
  row(UndoExpiredError, { status: 410, name: "undo-expired", title: "The upload is too old to be undone" }),
  row(PreconditionFailedError, { status: 412, name: "precondition-failed", title: "The record has changed" }),
  row(BodyTooLargeError, { status: 413, name: "body-too-large", title: "The body is too large" }),
  row(UnsupportedMediaTypeError, { status: 415, name: "unsupported-media-type", title: "Unsupported media type" }),
  row(InvalidInputError, { status: 422, name: "invalid-input", title: "The input is not valid" }, (error) => ({
    problems: error.problems,
  })),
  row(TooManyRequestsError, { status: 429, name: "too-many-requests", title: "Too many requests" }, (error) => ({
    headers: { "retry-after": String(error.retryAfterSeconds) },
  })),
  row(StoreBusyError, { status: 503, name: "busy", title: "The service is busy" }, (error) => ({
    headers: { "retry-after": String(error.retryAfterSeconds) },
  })),
];

/** All kinds of errors. */
export const errorKinds: readonly ErrorKind[] = [...table.map(({ kind }) => kind), INTERNAL];

function responseTo(error: unknown): ErrorResponse {
  for (const kind of table) {
    const found = kind.responseTo(error);
    if (found) return found;
  }
  return isUnavailable(error) ? responseTo(new StoreBusyError()) : { ...INTERNAL, message: "internal error" };
}

/** The type of a kind of error: a name, not an address. */
export function problemType({ name }: Pick<ErrorKind, "name">): string {
  return `urn:work-items:problem:${name}`;
}

/** A link to what the documentation says of a kind of error (RFC 8288). */
function helpLink(event: ApiEvent, { name }: Pick<ErrorKind, "name">): string {
  return `<${pathToRoot(event)}docs/errors#${name}>; rel="help"`;
}

/**
 * Turns every error into `{ "error": string }` or, for callers that accept them, into problem details (RFC 9457), which
 * contain the same sentence. Unexpected errors are returned without details. Attached last, so it runs first.
 */
export const errorTable: Middleware = {
  onError: (request) => {
    const { requestId, headers: requestHeaders } = request.event.progress;
    const { message, headers, problems = [], ...kind } = responseTo(request.error);
    const { status, title } = kind;
    if (!acceptsProblemJson(requestHeaders["accept"])) {
      request.response = jsonResponse(status, headers, { error: message });
      return;
    }
    request.response = jsonResponse(
      status,
      { ...headers, "content-type": PROBLEM_JSON, link: helpLink(request.event, kind) },
      {
        type: problemType(kind),
        title,
        status,
        detail: message,
        instance: requestId,
        errors: toProblemDetails(problems),
        error: message,
      },
    );
  },
};
