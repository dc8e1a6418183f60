import { accepted, bodyOf, dataOf } from "./api-error.ts";
import { applyInBatches } from "./batches.ts";
import { type CallOptions, entriesOf, type Http, path, type QueryOf } from "./http.ts";
import { namedItemCalls } from "./named-item-calls.ts";
import type { WorkItemEventInput, WorkItemInput, WorkItemPatch } from "./schemas.ts";

/** How items are applied. */
export interface ApplyOptions extends CallOptions {
  /** Calls at the same time. @default 4 */
  readonly concurrency?: number;
  /** Whether to write nothing. @default false */
  readonly dryRun?: boolean;
  /**
   * Invalid items become results with an error (`skip`), or end `apply` with an `ApiError` that names them: nothing in
   * their call is applied, and no further calls are started. @default "refuse"
   */
  readonly onInvalid?: "refuse" | "skip";
}

/** Filters of the list. Several values match items that have one of them. */
export type Filters = {
  readonly [N in keyof QueryOf<"listWorkItems">]: QueryOf<"listWorkItems">[N] extends readonly (infer V)[] | undefined
    ? V | readonly V[] | undefined
    : QueryOf<"listWorkItems">[N];
};

const CONCURRENCY = 4;

/** Calls on work items and their events. */
export function workItemCalls(http: Http) {
  const applyBatch = async (items: readonly WorkItemInput[], options: Omit<ApplyOptions, "concurrency">) => {
    const { dryRun = false, onInvalid = "refuse", ...signal } = options;
    const body = { work_items: [...items], dry_run: dryRun, on_invalid: onInvalid };
    return (await dataOf(http.POST("/v1/work_items/batch", { body, ...signal }))).results;
  };

  return {
    ...namedItemCalls(http),
    /** Creates an item. @throws ApiError with 409 if its external_id exists */
    create: (
      item: WorkItemInput,
      { idempotencyKey = crypto.randomUUID(), ...options }: CallOptions & { readonly idempotencyKey?: string } = {},
    ) => {
      const params = { header: { "Idempotency-Key": idempotencyKey } };
      return dataOf(http.POST("/v1/work_items", { params, body: { work_item: item }, ...options }));
    },
    get: async (id: string, options: CallOptions = {}) => {
      const { body, headers } = await accepted(http.GET("/v1/work_items/{id}", { params: path(id), ...options }));
      return { ...body.data, etag: headers.get("etag") ?? "" };
    },
    /** Changes the given fields. @throws ApiError with 412 if the item no longer has the ETag of `ifMatch` */
    update: (
      id: string,
      patch: WorkItemPatch,
      { ifMatch, ...options }: CallOptions & { readonly ifMatch?: string } = {},
    ) => {
      const params = { ...path(id), ...(ifMatch !== undefined && { header: { "If-Match": ifMatch } }) };
      return dataOf(http.PATCH("/v1/work_items/{id}", { params, body: { work_item: patch }, ...options }));
    },
    delete: async (id: string, options: CallOptions = {}): Promise<void> => {
      await accepted(http.DELETE("/v1/work_items/{id}", { params: path(id), ...options }));
    },
    list: (filters: Filters = {}, options: CallOptions = {}) =>
      entriesOf((cursor) => {
        const query = { ...(filters as QueryOf<"listWorkItems">), ...cursor };
        return bodyOf(http.GET("/v1/work_items", { params: { query }, ...options }));
      }),
    /** Creates, updates or restores any number of items, and yields their results in order. */
    apply: (
      items: Iterable<WorkItemInput> | AsyncIterable<WorkItemInput>,
      { concurrency = CONCURRENCY, ...options }: ApplyOptions = {},
    ) => applyInBatches(items, (batch) => applyBatch(batch, options), concurrency),
    /** Creates the event, or updates the one with its external_id. */
    upsertEvent: (id: string, event: WorkItemEventInput, options: CallOptions = {}) =>
      dataOf(http.POST("/v1/work_items/{id}/events", { params: path(id), body: { event }, ...options })),
    deleteEvent: async (id: string, eventId: string, options: CallOptions = {}): Promise<void> => {
      const params = { path: { id, event_id: eventId } };
      await accepted(http.DELETE("/v1/work_items/{id}/events/{event_id}", { params, ...options }));
    },
    events: (id: string, options: CallOptions = {}) =>
      entriesOf((query) =>
        bodyOf(http.GET("/v1/work_items/{id}/events", { params: { ...path(id), query }, ...options })),
      ),
  };
}
