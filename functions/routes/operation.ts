/** Where a response's body leads: parameters of another operation, as runtime expressions. */
interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** What the document says of an endpoint beside what follows from its row. */
export interface Operation {
  readonly description: string;
  /** Value of the path parameter `id` in examples. */
  readonly id?: string;
  /** The example of a JSON body. */
  readonly body?: object;
  /** Headers of requests that the endpoint reads beside those of every endpoint. */
  readonly requestHeaders?: readonly ("Idempotency-Key" | "If-Match")[];
  /** What the response with the row's status holds. */
  readonly response: string;
  /** What other successful responses hold, by status. They have the same body. */
  readonly otherResponses?: Readonly<Record<number, string>>;
  readonly example: object | string;
  /** Headers of successful responses; `Retry-After-Job` is `Retry-After` where a job is shown. */
  readonly headers?: readonly ("Content-Disposition" | "ETag" | "Retry-After-Job")[];
  readonly links?: Readonly<Record<string, Link>>;
  /** Errors in addition to those that follow from the row. */
  readonly errors?: readonly (409 | 410 | 412)[];
}

/** An operation for each row of a table. */
export type OperationsOf<Rows> = Readonly<Record<keyof Rows, Operation>>;

/** Links to operations that take the id at a place of the response. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Callers name the table of the operations.
export function linksById<Rows>(expression: string, ...operationIds: readonly (keyof Rows & string)[]) {
  return Object.fromEntries(
    operationIds.map((operationId): [string, Link] => [
      operationId,
      { operationId, parameters: { id: expression }, description: "With the id in the response." },
    ]),
  );
}

/** The link of a list to its next page. */
export function nextPage<Rows>(operationId: keyof Rows & string, parameters: Readonly<Record<string, string>> = {}) {
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
