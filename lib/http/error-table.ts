import {
  ExternalIdTakenError,
  InvalidInputError,
  NotFoundError,
  PreconditionFailedError,
  StateConflictError,
  StoreBusyError,
  TooManyRequestsError,
  UnauthenticatedError,
  WorkItemsError,
} from "../errors.ts";
import { isUnavailable } from "../runtime/aws-errors.ts";
import { jsonResponse, type Step } from "./chain.ts";
import { BodyTooLargeError, MalformedBodyError, UnsupportedMediaTypeError } from "./request-body.ts";

/** The request's path exists, but not with this method. */
export class MethodNotAllowedError extends WorkItemsError {
  readonly allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    super(`method not allowed; allowed here: ${allowed.join(", ")}`);
    this.allowed = allowed;
  }
}

interface ErrorResponse {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type ErrorClass<E extends WorkItemsError> = abstract new (...parameters: never[]) => E;

const row = <E extends WorkItemsError>(
  errorClass: ErrorClass<E>,
  status: number,
  headers: (error: E) => Record<string, string> = () => ({}),
) => ({
  responseTo: (error: unknown): ErrorResponse | undefined =>
    error instanceof errorClass ? { status, message: error.message, headers: headers(error) } : undefined,
});

const BUSY_RETRY_AFTER_SECONDS = 1;
const busyHeaders = { "retry-after": String(BUSY_RETRY_AFTER_SECONDS) };

/** The HTTP status and headers of each expected error. */
const table = [
  row(MalformedBodyError, 400),
  row(UnauthenticatedError, 401, () => ({ "www-authenticate": "Bearer" })),
  row(NotFoundError, 404),
  row(MethodNotAllowedError, 405, (error) => ({ allow: error.allowed.join(", ") })),
  row(ExternalIdTakenError, 409),
  row(StateConflictError, 409),
  row(PreconditionFailedError, 412),
  row(BodyTooLargeError, 413),
  row(UnsupportedMediaTypeError, 415),
  row(InvalidInputError, 422),
  row(TooManyRequestsError, 429, (error) => ({ "retry-after": String(error.retryAfterSeconds) })),
  row(StoreBusyError, 503, () => busyHeaders),
];

const responseTo = (error: unknown): ErrorResponse => {
  for (const { responseTo: respond } of table) {
    const found = respond(error);
    if (found) return found;
  }
  return isUnavailable(error)
    ? { status: 503, message: "the service is busy; retry later", headers: busyHeaders }
    : { status: 500, message: "internal error" };
};

/** Turns every error into `{ "error": string }`, unexpected ones without details. Attached last, so it runs first. */
export const errorTable: Step = {
  onError: (request) => {
    const { status, message, headers } = responseTo(request.error);
    request.response = jsonResponse(status, headers, { error: message });
  },
};
