import { expect, test } from "vitest";
import { openIndex } from "../../../apps/pages/browser/docs/search-index.ts";
import { docsSite } from "../../../apps/pages/docs/site.ts";

const search = openIndex(docsSite().search);
/** The pages that a search finds first, without the places in them. */
const found = (query: string): string[] => [
  ...new Set(search(query).map(({ id }) => id.replace("docs/", "").replace(/#.*/, ""))),
];

/** What integrators ask, by the page that must come first. */
const QUESTIONS = {
  lists: [
    "pagination",
    "how do I get the next page",
    "pagnate",
    "sort by created date",
    "cursor invalid",
    "change feed",
    "next page",
  ],
  keys: ["authentication", "bearer token", "api key", "rotate key", "leaked api key", "permision denied"],
  "get-notified": ["webhook", "webhooks", "signature verification", "webhook not arriving", "webhok"],
  questions: [
    "CORS",
    "call from browser",
    "timeout",
    "sandbox",
    "postman",
    "encryption",
    "GDPR",
    "audit log",
    "base url",
    "eventual consistency",
    "ip allowlist",
    "backups",
    "is it GDPR compliant",
    "data retention",
    "count items",
    "total number of items",
    "request id",
    "region europe",
    "delete everything",
    "support",
    "who changed this",
    "CORS error in browser",
  ],
  "nightly-sync": ["bulk", "bulk upsert", "cron job", "sync every night"],
  "undo-an-upload": ["undo", "undo an import", "rollback", "undo import", "wrong file uploaded"],
  "first-call": ["quickstart", "getting started"],
  limits: ["rate limit", "too many requests", "how many requests per second", "max batch size", "maximum file size"],
  errors: ["429", "unauthorised", "key expired", "mark too old", "410 gone", "413", "server error 500"],
  "errors-and-retries": [
    "retries",
    "idempotency",
    "Idempotency-Key",
    "what happens if I send the same thing twice",
    "retrying safely",
  ],
  files: ["upload csv", "excel", "how do i import a spreadsheet", "excell import", "preview import", "upload progress"],
  values: [
    "time zone",
    "custom attributes merge",
    "null vs missing field",
    "clear a field",
    "remove custom attribute",
    "big numbers lose digits",
    "quality score",
    "partial update",
  ],
  mappings: ["date format", "daylight saving", "rename status values", "mapping columns"],
  "delete-work-item": ["delete a work item", "deleting work items", "soft delete", "remove an item"],
  "create-work-item": ["create a work item"],
  "list-work-items": ["list work items", "filter by status", "search by external id"],
  "cancel-work-item-upload": ["cancel upload", "stop a running import", "abort upload"],
  uploads: ["failed rows", "fix failed rows", "huge file"],
  "get-health": ["health check"],
  compatibility: ["versioning", "deprecation"],
  "keep-a-copy": [
    "data warehouse",
    "airbyte",
    "get only what changed since yesterday",
    "snowflake",
    "power bi",
    "delta load",
  ],
  requests: ["If-Match", "optimistic locking", "etag", "concurrent updates overwrite each other"],
  "typescript-client": ["SDK", "install client", "python client", "java sdk", "nodejs"],
  changelog: ["changelog", "release notes"],
  "get-me": ["test connection", "whoami"],
  "get-work-item-batch": ["find item by my id"],
  "upsert-work-item-event": ["add a note to an item", "add event"],
  "get-openapi-document": ["swagger", "openapi"],
  "from-an-export": ["command line tool", "cli install", "csv separator semicolon"],
};

test.each(Object.entries(QUESTIONS).flatMap(([page, all]) => all.map((question) => [question, page] as const)))(
  "“%s” finds its page first: %s",
  (question, page) => {
    expect(found(question)[0]).toBe(page);
  },
);

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
