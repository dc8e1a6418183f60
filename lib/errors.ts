/** What is wrong with a value, for programs. New codes may be added. */
export const PROBLEM_CODES = [
  "required",
  "unknown",
  "repeated",
  "invalid_type",
  "invalid_value",
  "invalid_format",
  "too_small",
  "too_big",
  "too_deep",
  "not_unicode",
  "immutable",
  "reused",
  "taken",
  "unreadable_file",
  "busy",
  "invalid",
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

/** A problem with an input. */
export interface Problem {
  /** Path of keys to the wrong value; empty for the input itself. */
  readonly path: readonly PropertyKey[];
  readonly code: ProblemCode;
  /** Describes the problem, without the path and without the value. */
  readonly message: string;
  /** Whether it is in a query parameter or a header, which the path names, instead of the body. */
  readonly isParameter?: boolean;
}

/** A list with the problem, or an empty one. */
export function problemIf(isWrong: boolean, path: Problem["path"], code: ProblemCode, message: string): Problem[] {
  return isWrong ? [{ path, code, message }] : [];
}

/** A problem of a value, as a problem of the object that has the value under a key. */
export function under(key: PropertyKey, problem: Problem): Problem {
  return { ...problem, path: [key, ...problem.path] };
}

/** The most problems that a response names. A body of 4 MiB can have a million. */
export const PROBLEMS_MAX = 100;

/** The first hundred names in a message, and how many more there are: a header can have 30,000 columns. */
export function listed(names: readonly string[]): string {
  const more = names.length - PROBLEMS_MAX;
  return more > 0 ? `${names.slice(0, PROBLEMS_MAX).join(", ")} and ${more} others` : names.join(", ");
}

/** Longer keys are truncated in messages: a caller's key may have megabytes. */
const KEY_MAX_CHARACTERS = 100;

/** A key as callers see it. */
export function shownKey(key: PropertyKey): string {
  const whole = String(key);
  return whole.length > KEY_MAX_CHARACTERS ? `${whole.slice(0, KEY_MAX_CHARACTERS)}…` : whole;
}

/** One key of a path: `.name`, `[3]` or `["a.b"]`. */
function step(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`;
  const name = shownKey(key);
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** A path such as `work_items[3].custom_attributes["a.b"]`. */
function formatPath(path: readonly PropertyKey[]): string {
  return path.map(step).join("").replace(/^\./, "");
}

/** Where a problem is: the path, the name of a header, or the name of the whole value. */
function locationOf({ path, isParameter = false }: Problem, whole: string): string {
  const [name = ""] = path;
  if (isParameter && /^[\w-]+$/.test(String(name))) return shownKey(name);
  return formatPath(path) || (isParameter ? "query" : whole);
}

/**
 * Describes problems in one message, each with its location. Used for requests, payloads of direct invocations, CSV rows,
 * stored records and the environment.
 * @param whole name of the whole value, for example `body`
 * @param max how many problems to name; the others are counted
 */
export function describeProblems(problems: readonly Problem[], whole = "body", max = PROBLEMS_MAX): string {
  const named = problems
    .slice(0, max)
    .map((problem) => `${locationOf(problem, whole)}: ${problem.message}`)
    .join("; ");
  return problems.length > max ? `${named}; and ${problems.length - max} more` : named;
}

/** Base class of all expected errors. Only `lib/http/error-table.ts` knows the HTTP status of each one. */
export abstract class WorkItemsError extends Error {
  /** A string in each class, because bundling shortens the names of classes. */
  abstract override readonly name: string;
}

/** Well-formed input that breaks a rule. */
export class InvalidInputError extends WorkItemsError {
  override readonly name: string = "InvalidInputError";
  readonly problems: readonly Problem[];

  /** @param message names every problem with its location by default */
  constructor(problems: readonly Problem[], message = describeProblems(problems)) {
    super(message);
    this.problems = problems;
  }
}

/** An `Idempotency-Key` was used before for something else. */
export class IdempotencyKeyReusedError extends InvalidInputError {
  override readonly name: string = "IdempotencyKeyReusedError";
  /** @param how for example `with another body` */
  constructor(how: string) {
    super([{ path: ["Idempotency-Key"], code: "reused", message: `was used ${how}`, isParameter: true }]);
  }
}

/** The organization has nothing with that id. */
export class NotFoundError extends WorkItemsError {
  override readonly name: string = "NotFoundError";
}

/** The organization already uses the `external_id` of the item to create. */
export class ExternalIdTakenError extends WorkItemsError {
  override readonly name: string = "ExternalIdTakenError";
}

/** `If-Match` names another version than the stored one. */
export class PreconditionFailedError extends WorkItemsError {
  override readonly name: string = "PreconditionFailedError";
}

/** The resource's state doesn't allow the call, for example canceling a job that has ended. */
export class StateConflictError extends WorkItemsError {
  override readonly name: string = "StateConflictError";
}

/** The cursor of a change feed can no longer be used: its changes are no longer kept, or some may be missing. */
export class ResyncRequiredError extends WorkItemsError {
  override readonly name: string = "ResyncRequiredError";
  constructor() {
    super("not all changes after this cursor are kept; load everything again, without after");
  }
}

/** The upload ended so long ago that its changes are no longer known. */
export class UndoExpiredError extends WorkItemsError {
  override readonly name: string = "UndoExpiredError";
}

/** The request body is larger than 4 MiB. */
export class BodyTooLargeError extends WorkItemsError {
  override readonly name: string = "BodyTooLargeError";
}

/** The route doesn't accept the content type of the request body. */
export class UnsupportedMediaTypeError extends WorkItemsError {
  override readonly name: string = "UnsupportedMediaTypeError";
}

/** The request body isn't valid for its content type. */
export class MalformedBodyError extends WorkItemsError {
  override readonly name: string = "MalformedBodyError";
}

/** The path or the query isn't valid UTF-8. */
export class MalformedUrlError extends WorkItemsError {
  override readonly name: string = "MalformedUrlError";
}

/** The request has no valid API key. The message is the same for every reason. */
export class UnauthenticatedError extends WorkItemsError {
  override readonly name: string = "UnauthenticatedError";
  /** The owner of a revoked or expired key. Only for the log. */
  readonly owner: { readonly organization: string; readonly key: string } | undefined;
  constructor(owner?: { readonly organization: string; readonly key: string }) {
    super("a valid API key is required: Authorization: Bearer <API_KEY>");
    this.owner = owner;
  }
}

/** The API key is valid, but doesn't have the scopes that the call needs. */
export class MissingScopeError extends WorkItemsError {
  override readonly name: string = "MissingScopeError";
  readonly needed: readonly string[];

  /**
   * @param needed all scopes that the call needs
   * @param lacking the scopes that the key doesn't have
   */
  constructor(needed: readonly string[], lacking: readonly string[]) {
    super(`this API key lacks the ${lacking.length > 1 ? "scopes" : "scope"} ${lacking.join(" and ")}`);
    this.needed = needed;
  }
}

/** The organization has reached one of its limits for now. */
export class TooManyRequestsError extends WorkItemsError {
  override readonly name: string = "TooManyRequestsError";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The organization has reached its rate limit. */
export class RateLimitExceededError extends TooManyRequestsError {
  override readonly name: string = "RateLimitExceededError";
  constructor(retryAfterSeconds: number) {
    super(`rate limit exceeded; retry after ${retryAfterSeconds} s`, retryAfterSeconds);
  }
}

/** The store still throttled, conflicted or timed out after all retries; the caller may repeat the call. */
export class StoreBusyError extends WorkItemsError {
  override readonly name: string = "StoreBusyError";
  readonly retryAfterSeconds: number;

  constructor(message = "the service is busy; retry later", retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
