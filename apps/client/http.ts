import type { Client } from "openapi-fetch";
import type { operations, paths } from "./openapi-types.ts";

/** Sends requests to every endpoint, with the types of the OpenAPI document. */
export type Http = Client<paths>;

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The filters of a list. */
export type QueryOf<Name extends keyof operations> = Omit<
  NonNullable<operations[Name]["parameters"]["query"]>,
  "cursor"
>;

export function path(id: string) {
  return { path: { id } };
}

/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly page: { readonly next?: string | undefined } };
}

/** All entries of a list, page after page. A page is read when its first entry is requested. */
export const entriesOf = async function* <T>(
  readPage: (cursor: { readonly cursor?: string }) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await readPage(cursor === undefined ? {} : { cursor });
    yield* page.data;
    cursor = page.meta.page.next;
  } while (cursor !== undefined);
};
