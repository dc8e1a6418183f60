import { expect, test } from "vitest";
import { openIndex } from "../../../apps/pages/browser/docs/search-index.ts";
import { docsSite } from "../../../apps/pages/docs/site.ts";

const search = openIndex(docsSite().search);
/** The pages that a search finds first, without the places in them. */
const found = (query: string): string[] => [
  ...new Set(search(query).map(({ path }) => path.replace("docs/", "").replace(/#.*/, ""))),
];

/** What integrators ask, by the page that must be among the first three. */
const QUESTIONS = {
  docs: ["definition of a work item"],
  glossary: ["what is an agent", "qa score meaning", "dry run"],
  lists: ["pagnation", "pagination", "sort by created date", "cursor invalid", "change feed", "next page"],
  keys: [
    "how do I get an API key",
    "revoke key leaked",
    "bearer token",
    "rotate key",
    "permision denied",
    "autentication",
  ],
  "get-notified": ["verify webhook signature", "webhok retrys", "webhook", "webhook not arriving"],
  questions: [
    "delete customer data",
    "sandbox test environment",
    "ip allowlist firewall",
    "attachments",
    "timeout",
    "postman",
    "encryption",
    "audit log",
    "base url",
    "eventual consistency",
    "backups",
    "total number of items",
    "request id",
    "region europe",
    "support",
    "who changed this",
    "CORS error in browser",
  ],
  "nightly-sync": ["what happens if I send the same ticket twice", "bulk", "cron job", "sync every night"],
  "undo-an-import": ["undo a wrong import", "undo", "rollback", "undo import", "wrong file uploaded"],
  "first-call": ["python example", "quickstart", "getting started"],
  limits: ["rate limit", "how many requests per second", "max batch size", "maximum file size"],
  errors: [
    "too many requests",
    "429",
    "unauthorised",
    "key expired",
    "mark too old",
    "410 gone",
    "413",
    "server error 500",
  ],
  "errors-and-retries": [
    "idempotency key",
    "retries",
    "what happens if I send the same thing twice",
    "retrying safely",
  ],
  files: ["failed rows", "upload csv", "preview import", "upload progress"],
  "import-a-file": ["import excel", "excel", "how do i import a spreadsheet", "excell import", "no id column"],
  values: [
    "time zone",
    "null vs missing field",
    "clear a field",
    "remove custom attribute",
    "big numbers lose digits",
    "partial update",
  ],
  mappings: [
    "how to clear a field in a csv",
    "date format day first",
    "time zone of dates without offset",
    "map status open to pending",
    "date format",
    "daylight saving",
    "rename status values",
    "mapping columns",
  ],
  "delete-work-item": ["delete a work item", "deleting work items", "soft delete", "remove an item"],
  "create-work-item": ["create a work item"],
  "list-work-items": ["filter by agent", "list work items", "filter by status", "search by external id"],
  "cancel-work-item-upload": ["cancel upload", "stop a running import", "abort upload"],
  uploads: ["duplicate rows in csv same id", "csv encoding", "fix failed rows", "huge file"],
  "get-health": ["health check"],
  compatibility: ["versioning", "deprecation", "deprecated"],
  "keep-a-copy": [
    "sync to postgres",
    "data warehouse",
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
  "from-an-export": ["semicolon csv german", "command line tool", "fill down", "hidden rows", "leading zeros"],
};

test.each(Object.entries(QUESTIONS).flatMap(([page, all]) => all.map((question) => [question, page] as const)))(
  "“%s” finds its page among the first three: %s",
  (question, page) => {
    expect(found(question).slice(0, 3)).toContain(page);
  },
);

test.each(["umlauts", "time zone", "decimal comma", "empty cells", "statuses", "import a file"])(
  "“%s” finds the guide for people before the reference",
  (words) => expect(found(words)[0]).toBe("import-a-file"),
);

test.each([
  "status mapping",
  "resolved vs closed date",
  "date and time in separate columns",
  "change columns",
  "reopened tickets",
])("“%s” finds the guide for people", (words) => expect(found(words).slice(0, 2)).toContain("import-a-file"));

test("a word that no page has, and none like it, finds nothing", () => {
  expect(search("xylophone")).toEqual([]);
});

test("any text can be searched", () => {
  for (const query of ["", "  ", "a(", "[b", "\\\\ *", '"quoted" key)', "…", "work_items[0].type: key"]) {
    expect(() => search(query)).not.toThrow();
  }
  expect(found("(api key)")[0]).toBe("keys");
});
