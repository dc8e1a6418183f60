import type { ProblemCode } from "../../../lib/errors.ts";

/** When each kind of error occurs, and what to do, by the last part of its type. */
export const ERROR_HELP: Readonly<Record<string, readonly [when: string, action: string]>> = {
  "malformed-body": [
    "The body isn't valid JSON, isn't a valid form, or can't be unpacked.",
    "Fix the request. The message names the line and column of JSON that can't be parsed.",
  ],
  unauthenticated: [
    "The `Authorization` header is missing, or the key is mistyped, expired, revoked or from another region.",
    "Send `Authorization: Bearer <API_KEY>` with a valid key for this region.",
  ],
  "missing-scope": [
    "The key is valid but doesn't have the [scope](/docs/keys#scopes) that this call needs.",
    "Use another key, or ask your administrator for one with the scope in `WWW-Authenticate`.",
  ],
  "not-found": [
    "Nothing in your organization has this ID, or there is no such path. IDs of other organizations get the same response.",
    "Check the ID and the path.",
  ],
  "method-not-allowed": ["The path exists, but not with this method.", "Use one of the methods in the `Allow` header."],
  "external-id-taken": [
    "You created a work item whose `external_id` already exists.",
    "Use a batch, which creates or updates. To retry a create safely, send an `Idempotency-Key`.",
  ],
  "state-conflict": [
    "The current state doesn't allow the call, such as canceling an upload that has finished.",
    "Read the current state first. Retrying doesn't help.",
  ],
  "resync-required": [
    "The mark is older than 30 days, or changes after it may be missing.",
    "Call the change feed without `after` and replace your copy.",
  ],
  "undo-expired": [
    "The upload that you want to undo ended more than 28 days ago.",
    "Correct its work items with a batch or another upload.",
  ],
  "precondition-failed": [
    "The work item has changed since you read the version in `If-Match`.",
    "Read it again, apply your change to the new version, and send that version's `ETag`.",
  ],
  "body-too-large": [
    "The body, as sent or unpacked, is larger than the [limit](/docs/limits).",
    "Send smaller batches, or upload large files with a presigned form.",
  ],
  "unsupported-media-type": [
    "The endpoint doesn't accept this `Content-Type` or `Content-Encoding`.",
    "Send `application/json`, or `multipart/form-data` for a file upload.",
  ],
  "invalid-input": [
    "A value in the body, the query or a header isn't valid. Nothing is saved.",
    "Fix the values. The message names each one, and `errors` has a [code](#codes) for each.",
  ],
  "too-many-requests": [
    "Your organization has reached its rate limit or its limit of open uploads.",
    "Wait for the seconds in `Retry-After`, then send the request again.",
  ],
  internal: [
    "An unexpected error on our side.",
    "Retry once. If it happens again, contact support with the `x-request-id`.",
  ],
  busy: [
    "The database is busy or unavailable, or the call ran out of time. A write may have been saved.",
    "Wait for the seconds in `Retry-After`, then send the request again. Retries never create duplicates, except creates and uploads without an `Idempotency-Key`.",
  ],
};

/** What each code of a value says. */
export const CODE_HELP: Readonly<Record<ProblemCode, string>> = {
  required: "The value is missing or empty. Send one.",
  unknown: "There is no field, column or query parameter with this name. Check the spelling.",
  repeated: "The name or value occurs twice. Send it once.",
  invalid_type: "The value has the wrong JSON type, such as a number instead of a string.",
  invalid_value: "The value isn't one of the allowed values. The message lists them.",
  invalid_format: "The text doesn't have the expected format, such as an email address or a date and time.",
  too_small: "The number is too small, the text too short or the list empty.",
  too_big: "The number is too big, the text too long, or there are too many entries. See [limits](/docs/limits).",
  too_deep: "The JSON is nested too deeply. See [limits](/docs/limits).",
  not_unicode: "The text contains half of a surrogate pair, which isn't valid Unicode.",
  immutable: "The field can't be changed after the item is created.",
  reused: "The `Idempotency-Key` was already used with different content. Use a new key.",
  taken: "Another work item of your organization has this `external_id`.",
  unreadable_file: "The file can't be read as CSV. The message says why.",
  busy: "Other writers changed this item at the same time. Send it again.",
  invalid: "The value isn't valid for another reason. The message says which.",
};
