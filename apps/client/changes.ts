import type { ErasedWorkItemChange, WorkItemChange } from "./openapi-types.ts";
import { ApiError, bodyOf, OutageError } from "./api-error.ts";
import type { Http } from "./http.ts";
import { waitByTimer } from "./retries.ts";

/** A work item that changed, as it is now. Delete your copy of it if `deleted_at` is set. */
export type Change = WorkItemChange | ErasedWorkItemChange;

export interface ChangesPage<T = Change> {
  readonly data: readonly T[];
  readonly meta: { readonly page: { readonly next: string; readonly more: boolean } };
}

/** Where to begin, and whether to continue. */
export interface FeedOptions {
  /** The cursor of an earlier page, the `sequence` of a change, or `now`. @default all work items, then what changed */
  readonly after?: string | number | undefined;
  /** Whether to wait for further changes at the end of the feed. @default false */
  readonly follow?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Keeps a copy of all work items. */
export interface CopyOptions extends FeedOptions {
  /** The last saved cursor. @default a first load */
  readonly after?: string | undefined;
  /** Empties the copy. Called before a first load, and if changes after the cursor are no longer available. */
  readonly startOver: () => unknown;
  /** Replaces items of the copy by `id`, or deletes them. The same changes can come twice. */
  readonly apply: (changes: readonly Change[]) => unknown;
  /** Saves the cursor to resume from. Called once everything before it has been applied. */
  readonly saveCursor: (cursor: string) => unknown;
}

type ReadPage<T> = (after: string | number | undefined) => Promise<ChangesPage<T>>;

/** Milliseconds between requests at the end of the feed. */
const FOLLOW_MS = 2000;

/** Reads page after page, to the end of the feed or until the signal is aborted. */
export async function* changePages<T>(
  readPage: ReadPage<T>,
  { after, follow = false, signal }: FeedOptions,
): AsyncGenerator<ChangesPage<T>, void, undefined> {
  let cursor = after;
  for (;;) {
    const page = await readPage(cursor);
    yield page;
    cursor = page.meta.page.next;
    if (page.meta.page.more) continue;
    if (!follow) return;
    await waitByTimer(FOLLOW_MS, signal);
  }
}

function isResyncRequired(error: unknown): boolean {
  return error instanceof ApiError && error.status === 410;
}

/** Whether the same request can succeed later. */
function isTemporary(error: unknown): boolean {
  return error instanceof OutageError || (error instanceof ApiError && (error.status === 429 || error.status >= 500));
}

/** Reads pages for a copy that follows: until the signal is aborted, whatever happens to the service. */
function readThroughOutages<T>(readPage: ReadPage<T>, signal: AbortSignal | undefined): ReadPage<T> {
  return async (after) => {
    for (;;) {
      try {
        return await readPage(after);
      } catch (error) {
        if (!isTemporary(error)) throw error;
        await waitByTimer(FOLLOW_MS, signal);
      }
    }
  };
}

/** Loads all work items or resumes, follows their changes, and starts over if changes are no longer available. */
async function copyChanges(read: ReadPage<Change>, options: CopyOptions): Promise<void> {
  const { startOver, apply, saveCursor, follow = false, signal } = options;
  const readPage = follow ? readThroughOutages(read, signal) : read;
  const readOrStartOver: ReadPage<Change> = async (after) => {
    try {
      if (after !== undefined) return await readPage(after);
    } catch (error) {
      if (!isResyncRequired(error)) throw error;
    }
    const first = await readPage(undefined);
    await startOver();
    return first;
  };
  for await (const { data, meta } of changePages(readOrStartOver, options)) {
    await apply(data);
    await saveCursor(meta.page.next);
  }
}

/** How the change feed is read. */
export interface ChangesOptions extends FeedOptions {
  /** Starts with what changed at this time or later (`2026-01-31T09:30:00Z`), instead of after a cursor. */
  readonly since?: string | undefined;
  /** Records of one request, at most 1,000. @default 100 */
  readonly limit?: number;
  /** Whether changes include the events of their items. @default false */
  readonly withEvents?: boolean;
}

/** The query for a page of the feed. `since` only says where to begin: after a cursor it isn't sent. */
export function changesQuery(
  after: string | number | undefined,
  { since, limit, withEvents = false }: Pick<ChangesOptions, "since" | "limit" | "withEvents">,
) {
  return {
    ...(after !== undefined && { after: String(after) }),
    ...(after === undefined && since !== undefined && { since }),
    ...(limit !== undefined && { limit }),
    ...(withEvents && { include: "events" as const }),
  };
}

/** Calls that follow the change feed. */
export function changeCalls(http: Http) {
  const changesReader =
    ({ signal, ...options }: Omit<ChangesOptions, "after" | "follow">) =>
    (after: string | number | undefined) => {
      const query = changesQuery(after, options);
      return bodyOf(http.GET("/v1/work_items/changes", { params: { query }, ...(signal && { signal }) }));
    };

  /** Yields all work items, or what changed after a cursor, each as it is now. @throws ApiError with 410: start over */
  const changes = async function* (options: ChangesOptions = {}) {
    for await (const { data } of changePages(changesReader(options), options)) yield* data;
  };

  /**
   * Keeps a copy of all work items: loads it first, resumes after a saved cursor, and starts over if necessary. With
   * `follow`, outages don't end it.
   */
  const copy = (options: CopyOptions & Pick<ChangesOptions, "withEvents" | "limit">): Promise<void> =>
    copyChanges(changesReader(options), options);

  return { changes, copy };
}
