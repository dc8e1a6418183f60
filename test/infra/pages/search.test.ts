import { expect, test } from "vitest";
import { openIndex } from "../../../infra/pages/browser/docs/search-index.ts";
import { docsSite } from "../../../infra/pages/docs/site.ts";

const search = openIndex(docsSite().search);
/** The pages that a search finds first, without the places in them. */
const found = (query: string): string[] => [
  ...new Set(search(query).map(({ path }) => path.replace("docs/", "").replace(/#.*/, ""))),
];

/** What integrators ask, and the page that must come first. */
test.each([
  ["pagination", "lists"],
  ["how do I get the next page", "lists"],
  ["authentication", "keys"],
  ["bearer token", "keys"],
  ["api key", "keys"],
  ["rotate key", "keys"],
  ["webhook", "get-notified"],
  ["webhooks", "get-notified"],
  ["CORS", "questions"],
  ["call from browser", "questions"],
  ["bulk", "nightly-sync"],
  ["bulk upsert", "nightly-sync"],
  ["timeout", "questions"],
  ["undo", "undo-an-upload"],
  ["undo an import", "undo-an-upload"],
  ["rollback", "undo-an-upload"],
  ["quickstart", "first-call"],
  ["getting started", "first-call"],
  ["rate limit", "limits"],
  ["too many requests", "limits"],
  ["429", "errors"],
  ["retries", "errors-and-retries"],
  ["idempotency", "errors-and-retries"],
  ["Idempotency-Key", "errors-and-retries"],
  ["upload csv", "files"],
  ["excel", "files"],
  ["time zone", "values"],
  ["date format", "mappings"],
  ["custom attributes merge", "values"],
  ["delete a work item", "delete-work-item"],
  ["deleting work items", "delete-work-item"],
  ["create a work item", "create-work-item"],
  ["list work items", "list-work-items"],
  ["cancel upload", "cancel-work-item-upload"],
  ["failed rows", "uploads"],
  ["health check", "get-health"],
  ["versioning", "compatibility"],
  ["deprecation", "compatibility"],
  ["sandbox", "questions"],
  ["postman", "questions"],
  ["encryption", "questions"],
  ["GDPR", "questions"],
  ["audit log", "questions"],
  ["base url", "questions"],
  ["eventual consistency", "questions"],
  ["data warehouse", "keep-a-copy"],
  ["airbyte", "keep-a-copy"],
  ["If-Match", "requests"],
  ["optimistic locking", "requests"],
  ["SDK", "typescript-client"],
  ["install client", "typescript-client"],
  ["changelog", "changelog"],
])("“%s” finds its page first: %s", (query, page) => {
  expect(found(query)[0]).toBe(page);
});

test.each([
  ["pagnation", "lists"],
  ["autentication", "keys"],
  ["deprecated", "compatibility"],
  ["rotating keys", "keys"],
  ["idempotent requests", "errors-and-retries"],
])("“%s” finds its page among the first three, though it is misspelt or another form: %s", (query, page) => {
  expect(found(query).slice(0, 3)).toContain(page);
});

test("a word that no page has finds nothing", () => {
  expect(found("xylophone")).toEqual([]);
});
