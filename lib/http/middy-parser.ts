import type { RawBody } from "./request-body.ts";

/** Hands one body to a middy parser, which reads an event and puts what it read in the place of the body. */
export const parseWith = async (
  parser: { readonly before?: unknown },
  contentType: string,
  raw: RawBody,
): Promise<unknown> => {
  const event: { headers: Record<string, string>; body: unknown; isBase64Encoded: boolean } = {
    ...raw,
    headers: { "content-type": contentType },
  };
  await (parser.before as (request: { event: typeof event }) => unknown)({ event });
  return event.body;
};
