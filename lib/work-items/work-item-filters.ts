import type * as z from "zod";
import { externalId, timestamp } from "../schema.ts";
import { caselessFilters, filterNames, filterShape } from "./field-definition.ts";
import { WORK_ITEM_FIELDS } from "./work-item-fields.ts";

/** Names of the filters that compare a field with a value. */
export const equalityFilterNames = filterNames(WORK_ITEM_FIELDS);

const CASELESS: ReadonlySet<string> = new Set(caselessFilters(WORK_ITEM_FIELDS));
/** Whether a filter compares without case. Its value is in lower case. */
export const ignoresCase = (name: string): boolean => CASELESS.has(name);

/** Query parameters that filter the list; items must match all of them. Times are ISO 8601 in UTC with milliseconds. */
export const workItemFilters = () => ({
  external_id: externalId.optional(),
  ...filterShape(WORK_ITEM_FIELDS),
  /** Completed at or after. */
  completed_from: timestamp().optional(),
  /** Completed before. */
  completed_to: timestamp().optional(),
});
/** Values of the filters. */
export type WorkItemFilters = {
  readonly [N in keyof ReturnType<typeof workItemFilters>]?: z.output<ReturnType<typeof workItemFilters>[N]>;
};
