import type { RawBody } from "./request-body.ts";

/** Parses a body with a middy parser, which replaces the body of an event by the parsed value. */
export async function parseWith(
  parser: { readonly before?: unknown },
  contentType: string,
  raw: RawBody,
): Promise<unknown> {
  const event: { headers: Record<string, string>; body: unknown; isBase64Encoded: boolean } = {
    ...raw,
    headers: { "content-type": contentType },
  };
  await (parser.before as (request: { event: typeof event }) => unknown)({ event });
  return event.body;
}
