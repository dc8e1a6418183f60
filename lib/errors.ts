import { describeProblems, type Problem } from "./problem.ts";

/** Base class of all expected errors. Only `lib/http/error-table.ts` knows the HTTP status of each one. */
export abstract class WorkItemsError extends Error {
  /** Each class writes its own: a bundle shortens the names of classes, but not texts. */
  abstract override readonly name: string;
}

/** Well-formed input that breaks a rule. */
export class InvalidInputError extends WorkItemsError {
  override readonly name: string = "InvalidInputError";
  readonly problems: readonly Problem[];

  /** @param message by default it names every problem with its place */
  constructor(problems: readonly Problem[], message = describeProblems(problems)) {
    super(message);
    this.problems = problems;
  }
}

/** An `Idempotency-Key` was used before, for something else. */
export class IdempotencyKeyReusedError extends InvalidInputError {
  override readonly name: string = "IdempotencyKeyReusedError";
  /** @param what it was used for */
  constructor(what: string) {
    super([{ path: ["Idempotency-Key"], code: "reused", message: `was used ${what}`, isParameter: true }]);
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

/** The resource's state does not allow the call, for example to cancel a job that has ended. */
export class StateConflictError extends WorkItemsError {
  override readonly name: string = "StateConflictError";
}

/** The request has no valid API key. The message is the same for every reason. */
export class UnauthenticatedError extends WorkItemsError {
  override readonly name: string = "UnauthenticatedError";
  constructor() {
    super("a valid API key is required: Authorization: Bearer <API_KEY>");
  }
}

/** The API key is valid, but it may not do this. */
export class MissingScopeError extends WorkItemsError {
  override readonly name: string = "MissingScopeError";
  readonly scope: string;

  /** @param scope what the key would need */
  constructor(scope: string) {
    super(`this API key lacks the scope ${scope}`);
    this.scope = scope;
  }
}

/** The organization has used up one of its limits for now. */
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
}
