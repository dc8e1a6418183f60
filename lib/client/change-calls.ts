import { bodyOf } from "./api-error.ts";
import { changePages, copyChanges, type CopyOptions, type FeedOptions } from "./changes.ts";
import type { Http } from "./http.ts";

/** How the change feed is read. */
export interface ChangesOptions extends FeedOptions {
  /** Starts with what changed at this time or later (`2026-01-31T09:30:00Z`), instead of after a mark. */
  readonly since?: string | undefined;
  /** Records of one request, at most 1,000. @default 100 */
  readonly limit?: number;
  /** Whether changes include the events of their items. @default false */
  readonly withEvents?: boolean;
}

/** Calls that follow the change feed. */
export function changeCalls(http: Http) {
  const changesReader =
    ({
      withEvents = false,
      since,
      limit,
      signal,
    }: Omit<ChangesOptions, keyof FeedOptions> & Pick<FeedOptions, "signal">) =>
    (after: string | number | undefined) => {
      const query = {
        // A time only says where to begin.
        ...(after === undefined ? since !== undefined && { since } : { after: String(after) }),
        ...(limit !== undefined && { limit }),
        ...(withEvents && { include: "events" as const }),
      };
      return bodyOf(http.GET("/v1/work_items/changes", { params: { query }, ...(signal && { signal }) }));
    };

  /** Yields all work items or what changed after a mark, each as it is now. @throws ApiError with 410: start over */
  const changes = async function* (options: ChangesOptions = {}) {
    for await (const { data } of changePages(changesReader(options), options)) yield* data;
  };

  /** Keeps a copy of all work items: loads it first, resumes after a saved mark, and starts over where it has to. */
  const copy = (options: CopyOptions & Pick<ChangesOptions, "withEvents" | "limit">): Promise<void> =>
    copyChanges(changesReader(options), options);

  return { changes, copy };
}
