import type { APIGatewayProxyResult, Context } from "aws-lambda";
import type * as z from "zod";
import type { Clock } from "../clock.ts";
import { InvalidInputError, MalformedUrlError, NotFoundError, type Problem } from "../errors.ts";
import { parseUuid, problemsOf } from "../schema.ts";
import type { ApiEvent } from "./middleware.ts";
import { etagOf, isKnown } from "./etag.ts";
import type { UploadedFile } from "./multipart.ts";
import { readQuery } from "./request.ts";
import { jsonResponse } from "./response.ts";
import type { Route } from "./route.ts";
import { assertMayCall } from "./scopes.ts";

/** Validates a value by a schema. @returns the problems that it found, or the value if it found none */
function validate<S extends z.ZodType>(schema: S, value: unknown) {
  const { data, error } = schema.safeParse(value);
  return { value: data, problems: error === undefined ? [] : problemsOf(error) };
}

/** @throws InvalidInputError if there are problems */
function assertNoProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new InvalidInputError(problems);
}

/** A request that passed the middleware, with the input that the route's schemas accepted. */
export interface Call<R extends Route> {
  /** The ID in the path, a UUID in lower case; an empty string if the path has none. */
  readonly id: string;
  /** The same for the ID of an event. */
  readonly eventId: string;
  readonly query: z.output<R["query"]>;
  readonly body: z.output<R["body"]>;
  /** The form field `upload[file]` of a multipart request. */
  readonly file: UploadedFile | undefined;
  /** The other fields of a multipart request. */
  readonly fields: z.output<NonNullable<R["fields"]>> | undefined;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestId: string;
  /**
   * For the log, the handler notes the outcome of each work item that it writes, by id: "unknown" before it writes, so
   * that the log names the items even if the call fails.
   */
  readonly written: Map<string, string>;
  /** Milliseconds since the epoch when the function must have responded. */
  readonly deadline: number;
}

/** The response of a route's handler. */
export interface RouteResponse<R extends Route> {
  /** @default the route's status */
  readonly status?: number;
  readonly body: z.input<R["response"]>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Version of the record in the body. The entity tag starts with it. @default the record has none */
  readonly version?: number;
  /** Added to the request's log line. @default nothing */
  readonly logged?: Readonly<Record<string, string>>;
}

/** API Gateway's own limit, for invocations whose context has no remaining time, as in tests. */
const TIMEOUT_DEFAULT_MS = 29_000;
/** Reserved at the end of the function's time for the response that reports the timeout. */
export const TIMEOUT_MARGIN_MS = 500;

const NOTHING = { value: undefined, problems: [] };

/** The problem of a query parameter. A plus sign arrives as a space unless it is percent-encoded. */
function parameterProblem(problem: Problem, parameters: Readonly<Record<string, unknown>>): Problem {
  const mayHoldPlus = /\S \S/.test(String(parameters[String(problem.path[0])]));
  const hint = mayHoldPlus && problem.code === "invalid_format" ? "; write + as %2B in a query" : "";
  return { ...problem, message: problem.message + hint, isParameter: true };
}

/** Lists that can be searched for an `external_id`, in the paths of what they list. */
const SEARCHABLE = /^(\/v1\/(?:work_items|conversation_uploads))\/\{id\}/;

/** An ID in the path. @throws NotFoundError that says how to look up an `external_id`, which callers send as an ID */
function idOf({ path }: Route, event: ApiEvent, name: "id" | "event_id"): string {
  const id = parseUuid(event.pathParameters?.[name]);
  if (id !== undefined || !path.includes(`{${name}}`)) return id ?? "";
  const list = name === "id" ? SEARCHABLE.exec(path)?.[1] : undefined;
  const hint = list === undefined ? "" : `; to look up an external_id, use GET ${list}?external_id=…`;
  throw new NotFoundError(`not found: an id is a UUID${hint}`);
}

/**
 * The gateway has decoded path and query: bytes that aren't UTF-8 are U+FFFD then, like a U+FFFD that was sent.
 * @throws MalformedUrlError
 */
function assertDecoded(values: object): void {
  const wrong = Object.entries(values).find((entry) => entry.join().includes("\uFFFD"));
  if (wrong === undefined) return;
  throw new MalformedUrlError(
    `the URL is not valid UTF-8 in ${wrong[0]}: percent-encode UTF-8, for example ü as %C3%BC`,
  );
}

/**
 * Validates query and body by the route's schemas, and checks whether the key may make such a call.
 * @throws MalformedUrlError; InvalidInputError naming all problems of both; MissingScopeError; NotFoundError if the path's ID isn't a UUID
 */
export function callOf<R extends Route>(route: R, clock: Clock, event: ApiEvent, context: Context): Call<R> {
  const { caller, requestId, headers, body: read, written } = event.progress;
  const { parameters, repeated } = readQuery(event, route.repeatable);
  assertDecoded({ ...event.pathParameters, ...parameters });
  const query = validate<R["query"]>(route.query, parameters);
  const form = read?.kind === "file" ? read : undefined;
  const value = read?.kind === "json" ? read.value : undefined;
  const body = form ? NOTHING : validate<R["body"]>(route.body, value);
  const fields = form && route.fields ? validate(route.fields, form.fields) : NOTHING;
  const repetitions = repeated.map((name): Problem => ({
    path: [name],
    code: "repeated",
    message: "must be given once",
  }));
  const parameterProblems = [...repetitions, ...query.problems].map((problem) => parameterProblem(problem, parameters));
  assertNoProblems([...parameterProblems, ...body.problems, ...fields.problems]);
  assertMayCall(route, caller?.scopes ?? [], body.value ?? fields.value);
  const timeLeft = context.getRemainingTimeInMillis?.() ?? TIMEOUT_DEFAULT_MS;
  return {
    id: idOf(route, event, "id"),
    eventId: idOf(route, event, "event_id"),
    query: query.value as z.output<R["query"]>,
    body: body.value as z.output<R["body"]>,
    file: form?.file,
    fields: fields.value as z.output<NonNullable<R["fields"]>> | undefined,
    headers,
    requestId,
    written,
    deadline: clock() + timeLeft - TIMEOUT_MARGIN_MS,
  };
}

/**
 * Converts a handler's response to the gateway's result. The route's schema checks the body, so that no other field
 * leaves the service. Responses to GET and those with a version get an ETag. If the caller already has that response, it
 * becomes a 304.
 */
export function toResult<R extends Route>(
  route: R,
  event: ApiEvent,
  { status = route.status, body, headers, version, logged }: RouteResponse<R>,
): APIGatewayProxyResult {
  event.progress.logged = logged;
  const { data: parsed, error } = route.response.safeParse(body);
  if (error) throw error;
  const result =
    typeof parsed === "string" && route.contentType !== undefined
      ? {
          statusCode: status,
          headers: { "content-type": `${route.contentType}; charset=utf-8`, ...headers },
          body: parsed,
        }
      : jsonResponse(status, headers, parsed);
  const isRead = route.method === "GET";
  if (!isRead && version === undefined) return result;
  const etag = etagOf(result.body, version);
  if (isRead && isKnown(event.progress.headers["if-none-match"], etag)) {
    return { statusCode: 304, headers: { ...headers, etag }, body: "" };
  }
  return { ...result, headers: { ...result.headers, etag } };
}
