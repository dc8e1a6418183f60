import type * as z from "zod";

const parsedOnce = new WeakSet<z.ZodType>();

/**
 * Parses a value by a schema, as the schema's own `safeParse`. Before zod parses an object it compiles a function for its
 * schema, which takes longer than some hundred parses without: the first parse goes without, because a cold start
 * parses by each schema only once.
 */
export function safeParse<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  const jitless = !parsedOnce.has(schema);
  if (jitless) parsedOnce.add(schema);
  return schema.safeParse(value, { jitless });
}
