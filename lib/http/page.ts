import * as z from "zod";

const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 100;

/** The query parameter that limits the number of items on a page. */
export function limitParameter(limit = PAGE_LIMIT_DEFAULT) {
  return z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, `must be a whole number from 1 to ${PAGE_LIMIT_MAX}`)
    .transform(Number)
    .default(limit)
    .meta({ override: { type: "integer", minimum: 1, maximum: PAGE_LIMIT_MAX, default: limit } });
}

/** Query parameters of every list: the number of items on a page, and where it starts. */
export function pageParameters() {
  return { limit: limitParameter(), cursor: z.string().min(1, "must not be empty").optional() };
}

/** The response body of every list. `next` is absent on the last page. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    data: z.array(item),
    meta: z.strictObject({
      page: z.strictObject({ next: z.string().optional(), limit: z.int().min(1).max(PAGE_LIMIT_MAX) }),
    }),
  });
}

/** Makes that body. @param next cursor of the next page; undefined if this is the last */
export function toPage<T>(data: T[], next: string | undefined, pageLimit: number) {
  return {
    data,
    meta: { page: { ...(next !== undefined && { next }), limit: pageLimit } },
  };
}

/** Makes parameters that a list declares but does not apply a type error: intersect the declared ones with it. */
export type NoneBesides<Applied, Declared> = Readonly<Record<Exclude<keyof Declared, keyof Applied>, never>>;
