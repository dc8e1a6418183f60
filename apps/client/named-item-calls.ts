import type { BatchDeleteResult, BatchGetResult } from "./openapi-types.ts";
import { dataOf } from "./api-error.ts";
import type { CallOptions, Http } from "./http.ts";

/** Work items, named by your own IDs or by those of the service. */
export type Names = { readonly externalIds: Iterable<string> } | { readonly ids: Iterable<string> };

/** The names in one call. */
export type NamesBody = { readonly external_ids: string[] } | { readonly ids: string[] };

const NAMES_MAX = 100;

/**
 * Sends any number of names in calls of up to a hundred, and yields the results in the order of the names. Names that
 * didn't fit into a full response are sent again.
 */
export async function* inCalls<R extends { readonly index: number; readonly status: string }>(
  names: Names,
  send: (body: NamesBody) => Promise<readonly R[]>,
): AsyncGenerator<R, void, undefined> {
  const areIds = "ids" in names;
  const all = [...(areIds ? names.ids : names.externalIds)];
  for (let from = 0; from < all.length;) {
    const sent = all.slice(from, from + NAMES_MAX);
    const results = await send(areIds ? { ids: sent } : { external_ids: sent });
    const cut = results.findIndex(({ status }) => status === "not_returned");
    const taken = cut === -1 ? results : results.slice(0, Math.max(1, cut));
    for (const result of taken) yield { ...result, index: from + result.index };
    from += taken.length;
  }
}

/** Calls on work items that are named by their IDs. */
export function namedItemCalls(http: Http) {
  return {
    /** Gets any number of items, without their events, and yields the results in the order of the names. */
    getMany: (names: Names, options: CallOptions = {}): AsyncGenerator<BatchGetResult, void, undefined> =>
      inCalls(
        names,
        async (body) => (await dataOf(http.POST("/v1/work_items/batch_get", { body, ...options }))).results,
      ),
    /** Deletes any number of items, and yields the results in the order of the names. */
    deleteMany: (
      names: Names,
      { dryRun = false, ...options }: CallOptions & { readonly dryRun?: boolean } = {},
    ): AsyncGenerator<BatchDeleteResult, void, undefined> =>
      inCalls(names, async (body) => {
        const call = http.POST("/v1/work_items/batch_delete", { body: { ...body, dry_run: dryRun }, ...options });
        return (await dataOf(call)).results;
      }),
  };
}
