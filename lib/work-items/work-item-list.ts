import type { RecordKey } from "../store/versioned-record.ts";
import { agentSource, listingIndexes, listingSource } from "../store/lists/partition.ts";
import { type CountFitting, readPage } from "../store/lists/page.ts";
import type { Organization } from "../organizations/organization.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { storedWorkItemSchema, type WorkItemResponse } from "./work-item.ts";
import { ignoresCase, matchesFilters, type WorkItemFilters } from "./work-item-filters.ts";
import { itemIdOf, itemKey, itemKeyOf, workItemFrom } from "./work-item-record.ts";
import { toWorkItemResponse } from "./work-item-response.ts";

/** The index with the fewest entries that the list doesn't need. */
function sourceOf(organization: Organization, { agent_external_id: agent }: WorkItemFilters) {
  return agent === undefined ? listingSource("LIST_ITEM", organization) : agentSource(organization, agent);
}

/** The filters by attributes that an index projects. All others are applied to the items. */
function projectedFilters(filters: WorkItemFilters, { index }: ReturnType<typeof sourceOf>) {
  const names: readonly (keyof WorkItemFilters)[] = listingIndexes[index].projection;
  const valuesOf = (some: typeof names) => Object.fromEntries(some.map((name) => [name, filters[name]]));
  return {
    filters: valuesOf(names.filter((name) => !ignoresCase(name))),
    filtersIgnoringCase: valuesOf(names.filter(ignoresCase)),
  };
}

/** Range of sort keys in the index: `2#<completed_at>#…` before `1#<created_at>#…`, see `sortKeyOf`. */
function rangeOf({ completed_from: from, completed_to: to }: WorkItemFilters) {
  if (from === undefined && to === undefined) return { low: "1#", high: "3#" };
  return { low: `2#${from ?? ""}`, high: to === undefined ? "3#" : `2#${to}` };
}

/** What to read from the index. */
function indexQueryOf(organization: Organization, filters: WorkItemFilters) {
  const source = sourceOf(organization, filters);
  return { source, ...projectedFilters(filters, source), range: rangeOf(filters) };
}

/** A list doesn't need a third of a record: its entries in the indexes, its applied rows and its layers. */
export const ATTRIBUTES_READ = ["pk", "sk", ...Object.keys(storedWorkItemSchema.shape)];

/** A type error for parameters that a list declares but doesn't apply: intersect the declared ones with it. */
type NoneBesides<Applied, Declared> = Readonly<Record<Exclude<keyof Declared, keyof Applied>, never>>;

/**
 * Lists an organization's work items, newest completion first. The index gives their order; the items are read from the
 * table.
 * @returns the items, and the cursor of the next page; undefined on the last one
 * @throws InvalidInputError for a cursor of another list
 */
export function createListWorkItems(runtime: RuntimeWith<"workItems">, countFitting: CountFitting) {
  return async <F extends WorkItemFilters>(
    organization: Organization,
    filters: F & NoneBesides<WorkItemFilters, F>,
    page: { readonly cursor: string | undefined; readonly limit: number },
  ): Promise<{ readonly data: WorkItemResponse[]; readonly next: string | undefined }> =>
    readPage(runtime, {
      ...page,
      scope: { organization, list: "work_items", filters: { ...filters } },
      from:
        filters.external_id === undefined
          ? indexQueryOf(organization, filters)
          : itemKeyOf(organization.id, filters.external_id),
      keyOf: (id) => itemKey(organization.id, id),
      attributes: ATTRIBUTES_READ,
      show: (record) => {
        const item = workItemFrom(record);
        // The index may be out of date.
        return item?.deleted_at === null && matchesFilters(item, filters)
          ? toWorkItemResponse(itemIdOf(record as Attributes & RecordKey), item)
          : undefined;
      },
      countFitting,
    });
}
