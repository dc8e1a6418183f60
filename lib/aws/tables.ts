/** The shape of the three tables, for the stores that use them and the stack that makes them. */
export const PARTITION_KEY = "pk";
export const SORT_KEY = "sk";

/** The sparse index of WorkItems that lists every listable kind. */
export const LISTING_INDEX = "listing";
export const LISTING_PARTITION_KEY = "listing_pk";
export const LISTING_SORT_KEY = "listing_sk";
/** What the index projects beside the keys: only what list filters need. */
export const LISTING_PROJECTION = ["agent_external_id", "agent_email", "type", "status"] as const;

/** Seconds since the epoch after which DynamoDB may remove a record; set on records that may go. */
export const TIME_TO_LIVE = "expires_at";
