import type * as z from "zod";
import { externalId, timestamp } from "../scalars.ts";
import { filterShape } from "./field-definition.ts";
import { WORK_ITEM_FIELDS } from "./work-item-fields.ts";

/** Filters that compare a field with a value. */
const EQUALITY_FILTERS = filterShape(WORK_ITEM_FIELDS);
/** Names of these filters. */
export const equalityFilterNames = Object.keys(EQUALITY_FILTERS) as (keyof typeof EQUALITY_FILTERS)[];

/** Query parameters that filter the list; items must match all of them. Times are ISO 8601 in UTC with milliseconds. */
export const workItemFilters = {
  external_id: externalId.optional(),
  ...EQUALITY_FILTERS,
  /** Completed at or after. */
  completed_from: timestamp.optional(),
  /** Completed before. */
  completed_to: timestamp.optional(),
};
/** Values of the filters. */
export type WorkItemFilters = {
  readonly [N in keyof typeof workItemFilters]?: z.output<(typeof workItemFilters)[N]>;
};
