/** What can go wrong, in the words of the domain. Only `lib/http/error-table.ts` knows which status each one becomes. */
export abstract class WorkItemsError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Well-formed input that breaks a rule; the message names every offending path. */
export class InvalidInputError extends WorkItemsError {}

/** Nothing this organization can see has that id. */
export class NotFoundError extends WorkItemsError {}

/** Create met an `external_id` that this organization already uses. */
export class ExternalIdTakenError extends WorkItemsError {}

/** `If-Match` names another version than the stored one. */
export class PreconditionFailedError extends WorkItemsError {}

/** The thing is in a state in which the call makes no sense, for example cancelling a job that has ended. */
export class StateConflictError extends WorkItemsError {}

/** The store throttles, conflicts or times out beyond our retries; the call may be repeated. */
export class StoreBusyError extends WorkItemsError {}
