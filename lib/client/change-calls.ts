import { bodyOf } from "./api-error.ts";
import { changePages, copyChanges, type CopyOptions, type FeedOptions } from "./changes.ts";
import type { Http } from "./http.ts";

/** How the change feed is read. */
export interface ChangesOptions extends FeedOptions {
  /** Whether changes include the events of their items. @default false */
  readonly withEvents?: boolean;
}

/** Calls that follow the change feed. */
export function changeCalls(http: Http) {
  const changesReader =
    ({ withEvents = false, signal }: Pick<ChangesOptions, "withEvents" | "signal">) =>
    (after: string | number | undefined) => {
      const query = {
        ...(after !== undefined && { after: String(after) }),
        ...(withEvents && { include: "events" as const }),
      };
      return bodyOf(http.GET("/v1/work_items/changes", { params: { query }, ...(signal && { signal }) }));
    };

  /** Yields all work items or what changed after a mark, each as it is now. @throws ApiError with 410: start over */
  const changes = async function* (options: ChangesOptions = {}) {
    for await (const { data } of changePages(changesReader(options), options)) yield* data;
  };

  /** Keeps a copy of all work items: loads it first, resumes after a saved mark, and starts over where it has to. */
  const copy = (options: CopyOptions & Pick<ChangesOptions, "withEvents">): Promise<void> =>
    copyChanges(changesReader(options), options);

  return { changes, copy };
}
