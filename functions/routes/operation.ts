import * as z from "zod";
import type { Operation } from "../../lib/http/route.ts";
import { uuid } from "../../lib/schema.ts";

type Links = NonNullable<Operation["links"]>;

/** Links to operations on the id in the response. @param expression its location, as a runtime expression */
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

/** The response to a deletion. @param what was deleted */
export function deletionOf(what: string) {
  const data = z.strictObject({
    id: uuid.describe(`ID of the ${what}.`),
    deleted: z.boolean().describe("Always true."),
  });
  return z.strictObject({ data: data.describe("The result.") });
}

/** The example of a page. */
export function examplePage(data: readonly unknown[], next?: string) {
  return { data, meta: { page: { ...(next !== undefined && { next }), limit: 50 } } };
}

/** What the descriptions of all lists say about pages. */
export const LISTS =
  "A page may have fewer results than `limit`, even none, while `meta.page.next` is present. Continue until it is absent.";
