import type { Problem, ProblemDetail } from "./openapi-types.ts";

/** An error response. The message is the one in its body. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The first hundred problems, each with its location in the request. */
  readonly problems: readonly ProblemDetail[];
  /** Include it when you contact support: the service's log contains it, too. */
  readonly requestId: string | undefined;

  constructor(status: number, body: Partial<Problem>, requestId: string | null) {
    super(body.error ?? `the response has the status ${status}`);
    this.status = status;
    this.problems = body.errors ?? [];
    this.requestId = requestId ?? undefined;
  }
}

/**
 * A request may have been carried out, but its response was lost. It isn't sent again because repeating it has another
 * effect: a change with `If-Match`, a rotation, a trial. The message says how to find out.
 */
export class OutcomeUnknownError extends Error {
  override readonly name = "OutcomeUnknownError";

  /** @param advice how to find out @param cause why there is no response */
  constructor({ method, url }: Pick<Request, "method" | "url">, advice: string, cause: unknown) {
    super(`${method} ${new URL(url).pathname} may have been carried out: its response was lost. ${advice}`, { cause });
  }
}

/** What was sent without a response. */
interface Unanswered {
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;
  /** Whether one of the attempts may have been carried out. */
  readonly mayBeDone: boolean;
}

/** The service didn't respond for as long as a request is repeated. The message says how to go on. */
export class OutageError extends Error {
  override readonly name = "OutageError";
  readonly method: string;
  readonly path: string;
  readonly attempts: number;
  /** The key with which the request was sent. */
  readonly idempotencyKey: string | undefined;

  /** @param cause why there is no response */
  constructor({ method, url }: Pick<Request, "method" | "url">, sent: Unanswered, cause: unknown) {
    const { attempts, idempotencyKey, mayBeDone } = sent;
    const path = new URL(url).pathname;
    const isRead = method === "GET" || path.endsWith("/batch_get");
    const outcome = isRead ? "" : mayBeDone ? "It may have been carried out. " : "It wasn't carried out. ";
    const again =
      isRead || !mayBeDone || idempotencyKey === undefined
        ? "Repeat the call once the service responds."
        : `Repeat the call with { idempotencyKey: "${idempotencyKey}" } to have it carried out once.`;
    const tried = attempts === 1 ? "one attempt" : `${attempts} attempts`;
    super(`${method} ${path}: no response in ${tried}. ${outcome}${again}`, { cause });
    this.method = method;
    this.path = path;
    this.attempts = attempts;
    this.idempotencyKey = idempotencyKey;
  }
}

/** A response as openapi-fetch returns it. */
interface Outcome<T> {
  readonly data?: T;
  readonly error?: Partial<Problem> | string;
  readonly response: Response;
}

/** The body of a successful response, and its headers. @throws ApiError for any other */
export async function accepted<T>(
  outcome: Promise<Outcome<T>>,
): Promise<{ readonly body: T; readonly headers: Headers }> {
  const { data, error, response } = await outcome;
  if (data !== undefined) return { body: data, headers: response.headers };
  throw new ApiError(response.status, typeof error === "object" ? error : {}, response.headers.get("x-request-id"));
}

/** The body of a successful response. @throws ApiError for any other */
export async function bodyOf<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  return (await accepted(outcome)).body;
}

/** What a successful response holds. @throws ApiError for any other */
export async function dataOf<T>(outcome: Promise<Outcome<{ readonly data: T }>>): Promise<T> {
  return (await bodyOf(outcome)).data;
}
