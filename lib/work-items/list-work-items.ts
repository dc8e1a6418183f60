import { createRecordStore, keyText } from "../aws/record-store.ts";
import type { Runtime } from "../aws/runtime.ts";
import type { RecordKey } from "../aws/versioned-record.ts";
import { countFitting } from "../http/answer-size.ts";
import { decodeCursor, encodeCursor } from "../listing/cursor.ts";
import { walkListing } from "../listing/walk-listing.ts";
import type { Organization } from "../organizations/organization.ts";
import type { WorkItem, WorkItemResponse } from "./work-item.ts";
import { itemIdOf, itemKeyOf, toWorkItemResponse, WORK_ITEM_LISTING, workItemFrom } from "./work-item-record.ts";

/** Filters of the list; all that are given must hold. Times are ISO 8601 in UTC with milliseconds. */
export interface WorkItemFilters {
  readonly external_id?: string | undefined;
  readonly agent_external_id?: string | undefined;
  readonly agent_email?: string | undefined;
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly completed_from?: string | undefined;
  readonly completed_to?: string | undefined;
}

export interface WorkItemPage {
  readonly data: WorkItemResponse[];
  readonly next: string | undefined;
}

const matches = (item: WorkItem, filters: WorkItemFilters): boolean =>
  item.deleted_at === null &&
  (filters.agent_external_id === undefined || item.agent_external_id === filters.agent_external_id) &&
  (filters.agent_email === undefined || item.agent_email === filters.agent_email) &&
  (filters.type === undefined || item.type === filters.type) &&
  (filters.status === undefined || item.status === filters.status) &&
  (filters.completed_from === undefined || (item.completed_at ?? "") >= filters.completed_from) &&
  (filters.completed_to === undefined || (item.completed_at !== null && item.completed_at < filters.completed_to));

/** Places are `2#<completed_at>#…` before `1#<created_at>#…`, see `placeOf`. */
const rangeOf = ({ completed_from: from, completed_to: to }: WorkItemFilters) => ({
  low: from === undefined ? (to === undefined ? "1#" : "2#") : `2#${from}`,
  high: to === undefined ? "3#" : `2#${to}`,
});

/**
 * Lists an organization's work items, newest completion first, as they are now: the index only says which come next.
 * @throws InvalidInputError for a cursor of another list
 */
export const createListWorkItems = ({
  dynamodb,
  environment,
}: Pick<Runtime<{ workItems: { actions: []; keys: [] } }>, "dynamodb" | "environment">) => {
  const table = environment.WORK_ITEMS_TABLE;
  const records = createRecordStore({ dynamodb, table, path: "native" });

  const hydrate = async (keys: readonly RecordKey[], filters: WorkItemFilters) => {
    const read = await records.read(keys);
    return keys.map((key) => {
      const item = workItemFrom(read.get(keyText(key)));
      return item !== null && matches(item, filters) ? toWorkItemResponse(itemIdOf(key), item) : undefined;
    });
  };

  return async (
    organization: Organization,
    filters: WorkItemFilters,
    page: { readonly cursor: string | undefined; readonly limit: number },
  ): Promise<WorkItemPage> => {
    const scope = { organization, list: "work_items", filters: { ...filters } };
    const after = page.cursor === undefined ? undefined : decodeCursor(scope, page.cursor);
    if (filters.external_id !== undefined) {
      const [item] = await hydrate([itemKeyOf(organization.id, filters.external_id)], filters);
      return { data: item ? [item] : [], next: undefined };
    }
    const { agent_external_id, agent_email, type, status } = filters;
    const { entries, next } = await walkListing({
      dynamodb,
      table,
      kind: WORK_ITEM_LISTING,
      organization,
      filters: { agent_external_id, agent_email, type, status },
      range: rangeOf(filters),
      after,
      limit: page.limit,
    });
    const items = await hydrate(
      entries.map(({ pk, sk }) => ({ pk, sk })),
      filters,
    );
    const fitting = countFitting(items.map((item) => item ?? null));
    const position = fitting < items.length ? entries[fitting - 1]?.listing_sk : next;
    return {
      data: items.slice(0, fitting).filter((item) => item !== undefined),
      next: position === undefined ? undefined : encodeCursor(scope, position),
    };
  };
};
