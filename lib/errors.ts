/** Base class of all expected errors. Only `lib/http/error-table.ts` knows the HTTP status of each one. */
export abstract class WorkItemsError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Well-formed input that breaks a rule; the message names every offending path. */
export class InvalidInputError extends WorkItemsError {}

/** The organization has nothing with that id. */
export class NotFoundError extends WorkItemsError {}

/** The organization already uses the `external_id` of the item to create. */
export class ExternalIdTakenError extends WorkItemsError {}

/** `If-Match` names another version than the stored one. */
export class PreconditionFailedError extends WorkItemsError {}

/** The resource's state does not allow the call, for example to cancel a job that has ended. */
export class StateConflictError extends WorkItemsError {}

/** The store still throttled, conflicted or timed out after all retries; the caller may repeat the call. */
export class StoreBusyError extends WorkItemsError {}
