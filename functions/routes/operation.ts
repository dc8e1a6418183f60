import type { Operation } from "../../lib/http/route.ts";

type Links = NonNullable<Operation["links"]>;

/** Links to operations that take the id at a place of the response. */
export function linksById(expression: string, ...operationIds: readonly string[]): Links {
  return Object.fromEntries(
    operationIds.map((operationId) => [
      operationId,
      { operationId, parameters: { id: expression }, description: "With the id in the response." },
    ]),
  );
}

/** The link of a list to its next page. */
export function nextPage(operationId: string, parameters: Readonly<Record<string, string>> = {}): Links {
  return {
    nextPage: {
      operationId,
      parameters: { ...parameters, cursor: "$response.body#/meta/page/next" },
      description: "The next page. There is none without `next`.",
    },
  };
}

/** The example of a page. */
export function examplePage(data: readonly unknown[], next?: string) {
  return { data, meta: { page: { ...(next !== undefined && { next }), limit: 50 } } };
}

/** What the descriptions of all lists say of pages. */
export const LISTS =
  "A page may have fewer results than `limit`, even none, while `meta.page.next` is present. Continue until it is absent.";
