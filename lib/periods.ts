/** How long after its end an upload can be undone. */
export const UNDO_DAYS = 28;
/** How long uploaded files, their chunks and lists are kept, and what an undo needs of them. */
export const UPLOADS_KEPT_DAYS = 35;
/** How long a cursor of the change feed is valid: a segment of the log is kept for as long once a newer one follows. */
export const CURSORS_VALID_DAYS = 30;
/** A webhook that has failed for this long is disabled. */
export const FAILING_DAYS_MAX = 5;
