import type * as z from "zod";
import { externalId, timestamp } from "../schema.ts";
import { fieldFilters, type Filter } from "./field-definition.ts";
import { WORK_ITEM_FIELDS } from "./work-item-fields.ts";
import type { WorkItem } from "./work-item.ts";

function filter<Q extends z.ZodType>(row: Filter<WorkItem, Q>) {
  return row;
}

/** Filters of the list by query parameter. Items must match all given ones. Times are ISO 8601 in UTC with milliseconds. */
const WORK_ITEM_FILTERS = {
  external_id: filter({
    parameter: () => externalId.describe("Only the result with this `external_id`."),
    matches: (item, value) => item.external_id === value,
  }),
  ...fieldFilters(WORK_ITEM_FIELDS),
  completed_from: filter({
    parameter: () =>
      timestamp().describe("Only work items completed at or after this time. In a URL, write `+` as `%2B`. Extension."),
    matches: ({ completed_at: at }, from) => at !== null && at >= from,
  }),
  completed_to: filter({
    parameter: () =>
      timestamp().describe("Only work items completed before this time. In a URL, write `+` as `%2B`. Extension."),
    matches: ({ completed_at: at }, to) => at !== null && at < to,
  }),
};
type Filters = typeof WORK_ITEM_FILTERS;
type FilterName = keyof Filters;
type ParameterOf<N extends FilterName> = ReturnType<Filters[N]["parameter"]>;

/** Values of the filters. */
export type WorkItemFilters = { readonly [N in FilterName]?: z.output<ParameterOf<N>> | undefined };

/** Names of the filters. */
export const workItemFilterNames = Object.keys(WORK_ITEM_FILTERS) as FilterName[];

/** Names of the filters that may be given several times. */
export const repeatableFilters = workItemFilterNames.filter((name) => {
  const { repeats = false }: Filter<WorkItem, z.ZodType> = WORK_ITEM_FILTERS[name];
  return repeats;
});

/** Shape of the schema for the list's query parameters that filter. */
export function workItemFilters() {
  return Object.fromEntries(
    workItemFilterNames.map((name) => [name, WORK_ITEM_FILTERS[name].parameter().optional()]),
  ) as {
    readonly [N in FilterName]: z.ZodOptional<ParameterOf<N>>;
  };
}

/** Whether a filter compares without case. Its value is in lower case. */
export function ignoresCase(name: FilterName): boolean {
  return WORK_ITEM_FILTERS[name].ignoresCase === true;
}

/** Whether an item matches all filters. */
export function matchesFilters(item: WorkItem, filters: WorkItemFilters): boolean {
  return workItemFilterNames.every((name) => {
    const { matches }: Filter<WorkItem, z.ZodType> = WORK_ITEM_FILTERS[name];
    return filters[name] === undefined || matches(item, filters[name]);
  });
}
