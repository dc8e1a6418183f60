import { batchGet } from "../store/batch-get.ts";
import { leaveOutDamaged } from "../store/decode-record.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { decodeCursor, encodeCursor } from "../store/lists/cursor.ts";
import { agentSource, idAt, listingSource } from "../store/lists/partition.ts";
import { walkListing } from "../store/lists/walk.ts";
import type { Organization } from "../organizations/organization.ts";
import { resources } from "../resources.ts";
import type { NoneBesides } from "../http/page.ts";
import { countFitting } from "../http/response-size.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { storedWorkItemSchema, type WorkItem, type WorkItemResponse } from "./work-item.ts";
import { ignoresCase, matchesFilters, type WorkItemFilters } from "./work-item-filters.ts";
import { itemIdOf, itemKey, itemKeyOf, workItemFrom } from "./work-item-record.ts";
import { toWorkItemResponse } from "./work-item-response.ts";

/** Whether the current item belongs in the list; the index may be out of date. */
function isListed(item: WorkItem, filters: WorkItemFilters): boolean {
  return item.deleted_at === null && matchesFilters(item, filters);
}

/** The index that holds the fewest entries besides the wanted ones. */
function sourceOf(organization: Organization, { agent_external_id: agent }: WorkItemFilters) {
  return agent === undefined ? listingSource("LIST_ITEM", organization) : agentSource(organization, agent);
}

/** The filters by attributes that an index projects. All others are applied to the items. */
function projectedFilters(filters: WorkItemFilters, { index }: ReturnType<typeof sourceOf>) {
  const names: readonly (keyof WorkItemFilters)[] = resources.workItems.indexes[index].projection;
  const valuesOf = (some: typeof names): Record<string, string | undefined> =>
    Object.fromEntries(some.map((name) => [name, filters[name]]));
  return {
    filters: valuesOf(names.filter((name) => !ignoresCase(name))),
    filtersIgnoringCase: valuesOf(names.filter(ignoresCase)),
  };
}

/** Range of places in the index: `2#<completed_at>#…` before `1#<created_at>#…`, see `placeOf`. */
function rangeOf({ completed_from: from, completed_to: to }: WorkItemFilters) {
  return {
    low: from === undefined ? (to === undefined ? "1#" : "2#") : `2#${from}`,
    high: to === undefined ? "3#" : `2#${to}`,
  };
}

/** Removes places of records that occurred before. */
function uniqueById(places: readonly string[]): string[] {
  const seen = new Set<string>();
  return places.filter((place) => seen.size < seen.add(idAt(place)).size);
}

/** A third of a record is of no use to a list: its places in the indexes, and the writes that it remembers. */
const ATTRIBUTES_READ = ["pk", "sk", ...Object.keys(storedWorkItemSchema.shape)];

/**
 * Lists an organization's work items, newest completion first. The index only gives their order; the items are read
 * from the table.
 * @returns the items, and the cursor of the next page; undefined on the last one
 * @throws InvalidInputError for a cursor of another list
 */
export function createListWorkItems(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment } = runtime;
  const leaveOut = leaveOutDamaged(runtime);

  const readableItem = (record: Attributes): WorkItem | null => {
    try {
      return workItemFrom(record);
    } catch (error) {
      return leaveOut(error) ?? null;
    }
  };

  /** The items of a page, in order; undefined for items that do not exist or do not match any more. */
  const readItems = async (keys: readonly RecordKey[], filters: WorkItemFilters, itemIn = readableItem) => {
    const records = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys, ATTRIBUTES_READ);
    const items = new Map(records.map((record) => [record["pk"], itemIn(record)]));
    return keys.map((key) => {
      const item = items.get(key.pk);
      return item && isListed(item, filters) ? toWorkItemResponse(itemIdOf(key), item) : undefined;
    });
  };

  return async <F extends WorkItemFilters>(
    organization: Organization,
    filters: F & NoneBesides<WorkItemFilters, F>,
    page: { readonly cursor: string | undefined; readonly limit: number },
  ): Promise<{ readonly data: WorkItemResponse[]; readonly next: string | undefined }> => {
    const scope = { organization, list: "work_items", filters: { ...filters } };
    const after = page.cursor === undefined ? undefined : decodeCursor(scope, page.cursor);
    if (filters.external_id !== undefined) {
      // A damaged item fails the call: an empty list would say that there is none.
      const [item] = await readItems([itemKeyOf(organization.id, filters.external_id)], filters, workItemFrom);
      return { data: item ? [item] : [], next: undefined };
    }
    const range = rangeOf(filters);
    // DynamoDB refuses a range that ends before it begins.
    if (range.high < range.low) return { data: [], next: undefined };
    const source = sourceOf(organization, filters);
    const { places, next } = await walkListing({
      ...runtime,
      source,
      ...projectedFilters(filters, source),
      range,
      after,
      limit: page.limit,
    });
    // An item that changed its place while the shards were read may occur twice.
    const once = uniqueById(places);
    const keys = once.map((place) => itemKey(organization.id, idAt(place)));
    const items = await readItems(keys, filters);
    const fitting = countFitting(items.map((item) => item ?? null));
    const position = fitting < items.length ? once[fitting - 1] : next;
    return {
      data: items.slice(0, fitting).filter((item) => item !== undefined),
      next: position === undefined ? undefined : encodeCursor(scope, position),
    };
  };
}
