import type { ErasedWorkItemChange, WorkItemChange } from "./api.ts";
import { ApiError } from "./api-error.ts";
import { waitByTimer } from "./retries.ts";

/** A work item that changed, as it is now. Delete your copy of it if `deleted_at` is set. */
export type Change = WorkItemChange | ErasedWorkItemChange;

/** A page of the change feed. */
export interface ChangesPage<T = Change> {
  readonly data: readonly T[];
  readonly meta: { readonly page: { readonly next: string; readonly more: boolean } };
}

/** Where to begin, and whether to continue. */
export interface FeedOptions {
  /** The mark of an earlier page, the `sequence` of a change, or `now`. @default all work items, then what changed */
  readonly after?: string | number | undefined;
  /** Whether to wait for further changes at the end of the feed. @default false */
  readonly follow?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Keeps a copy of all work items. */
export interface CopyOptions extends FeedOptions {
  /** The last mark that was saved. @default a first load */
  readonly after?: string | undefined;
  /** Empties the copy. Called before a first load, also if the changes after the mark are not kept any more. */
  readonly startOver: () => unknown;
  /** Replaces items of the copy by `id`, or deletes them. The same changes can come twice. */
  readonly apply: (changes: readonly Change[]) => unknown;
  /** Saves the mark to resume from. Called once what came before it has been applied. */
  readonly saveMark: (mark: string) => unknown;
}

/** Reads the page after a mark. */
type ReadPage<T> = (after: string | number | undefined) => Promise<ChangesPage<T>>;

/** Milliseconds between requests at the end of the feed. */
const FOLLOW_MS = 2000;

/** Reads page after page, to the end of the feed or until the signal is aborted. */
export async function* changePages<T>(
  readPage: ReadPage<T>,
  { after, follow = false, signal }: FeedOptions,
): AsyncGenerator<ChangesPage<T>, void, undefined> {
  for (let mark = after; ;) {
    const page = await readPage(mark);
    yield page;
    mark = page.meta.page.next;
    if (page.meta.page.more) continue;
    if (!follow) return;
    await waitByTimer(FOLLOW_MS, signal);
  }
}

function isResyncRequired(error: unknown): boolean {
  return error instanceof ApiError && error.status === 410;
}

/** Loads all work items or resumes, follows their changes, and starts over where changes are not kept. */
export async function copyChanges(readPage: ReadPage<Change>, options: CopyOptions): Promise<void> {
  const { startOver, apply, saveMark } = options;
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
    await saveMark(meta.page.next);
  }
}
