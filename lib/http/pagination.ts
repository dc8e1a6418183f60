import * as z from "zod";
import { rule } from "../schema.ts";

const PAGE_LIMIT_DEFAULT = 50;
const PAGE_LIMIT_MAX = 100;

/** The query parameter that limits the number of items on a page. */
export function limitParameter(limit = PAGE_LIMIT_DEFAULT, max = PAGE_LIMIT_MAX) {
  const error = `must be a whole number from 1 to ${max}`;
  return z
    .string()
    .regex(/^-?(?:0|[1-9]\d*)$/, { error, abort: true })
    .transform(Number)
    .refine((value) => value >= 1, rule("too_small", error))
    .refine((value) => value <= max, rule("too_big", error))
    .default(limit)
    .meta({
      description: "Maximum number of results per page.",
      override: { type: "integer", minimum: 1, maximum: max, default: limit },
    });
}

/** Query parameters of every list: the number of items on a page, and the cursor at which it starts. */
export function pageParameters() {
  return {
    limit: limitParameter(),
    cursor: z
      .string()
      .min(1, "must not be empty")
      .optional()
      .describe("`meta.page.next` of the previous page. Keep all other parameters the same."),
  };
}

/**
 * Schema of a page's position in its list.
 * @param next schema of the next page's cursor
 * @param max the highest limit
 */
export function pageMeta<N extends z.ZodType, M extends z.ZodRawShape>(next: N, more: M, max = PAGE_LIMIT_MAX) {
  return z
    .strictObject({
      page: z
        .strictObject({
          next: next.describe("Pass it as `cursor` (in the change feed, as `after`) to get the next page."),
          limit: z.int().min(1).max(max).describe("Maximum number of results in this page."),
          ...more,
        })
        .describe("Position in the list."),
    })
    .describe("Information about the response.");
}

/** The response body of every list. `next` is absent on the last page. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ data: z.array(item).describe("The result."), meta: pageMeta(z.string().optional(), {}) });
}

/** Makes the response body of a list. @param next cursor of the next page; undefined if this is the last */
export function toPage<T>(data: T[], next: string | undefined, pageLimit: number) {
  return {
    data,
    meta: { page: { ...(next !== undefined && { next }), limit: pageLimit } },
  };
}
