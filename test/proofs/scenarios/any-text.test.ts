import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ITEM_CSV_HEADER, itemCsvLine } from "../../../apps/importer/files/item-csv.ts";
import { findTextFormat, toUtf8 } from "../../../apps/importer/files/text-file.ts";
import type { WorkItem } from "../../../apps/client/client.ts";
import { exportOrganization } from "../../../apps/operator/data/export-organization.ts";
import { importOrganization } from "../../../apps/operator/data/import-organization.ts";
import { workItemInputSchema } from "../../../lib/work-items/work-item.ts";
import { createCustomer, type Customer } from "../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../support/uploads/upload-harness.ts";

/** Texts that files, spreadsheets and terminals take for something else. */
const ODD = [
  ...Array.from("\0\t\r\n\u001B\u007F\u0080\u0085\u009F\u00A0\u00AD\u2028\u2029\uFEFF\uFFFD\uFFFE\uFFFF'\"=+-@,;\\ "),
  "\r\n",
  "\uD800",
  "\uDFFF",
  "\u{1F469}\u200D\u{1F680}",
  "\u{10FFFF}",
  "e\u0301",
  "NULL",
];
/** As an export writes `=1`: what isn't an export must keep them. */
const LIKE_A_PREFIX = ["'=1", "''=1", "'+1-A", "=1"];
const text = fc
  .oneof(
    fc.constantFrom(...LIKE_A_PREFIX),
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom(...ODD), { maxLength: 6 }).map((parts) => parts.join("")),
  )
  .filter((value) => value.length <= 512);
const optional = fc.option(text);
const json = fc.letrec((tie) => ({
  value: fc.oneof(text, fc.integer(), fc.constant(null), fc.array(tie("value"), { maxLength: 2 })),
})).value;
const item = fc.record(
  {
    external_id: text,
    agent_name: optional,
    agent_external_id: optional,
    type: text,
    custom_attributes: fc.dictionary(text, json, { maxKeys: 3, noNullPrototype: true }),
    events: fc.uniqueArray(
      fc.record({ external_id: text, actor_name: optional, actor_external_id: optional, content: optional }),
      { selector: ({ external_id: id }) => id, maxLength: 2 },
    ),
  },
  { requiredKeys: ["external_id"] },
);
/** Only the schema says what is valid. */
const validItems = fc.uniqueArray(
  item.filter((each) => workItemInputSchema.safeParse(each).success),
  { selector: ({ external_id: id }) => id, minLength: 20, maxLength: 80 },
);

let runtime: TestRuntime;
let elsewhere: TestRuntime;
beforeAll(async () => {
  runtime = await createTestRuntime();
  elsewhere = await createTestRuntime();
});

const itemsOf = async ({ send }: Customer): Promise<WorkItem[]> => {
  const { body } = await send("listWorkItems", { query: { limit: 100 } });
  return body.data;
};
/** What a caller has sent of the items, in an order of their own. */
const contentOf = (items: readonly WorkItem[]): string[] =>
  items.map(({ id: _id, created_at: _at, updated_at: _last, ...sent }) => JSON.stringify(sent)).toSorted();

/** Imports a file as the page and the command do. @returns the job's id */
const importFile = async (
  { organization, send }: Customer,
  from: TestRuntime,
  csv: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const file = new Blob([csv]);
  const converted = toUtf8(file, await findTextFormat(file)) ?? file.stream();
  const bytes = await buffer(Readable.fromWeb(converted as never));
  const { body, text: shown } = await send("uploadWorkItems", multipart(bytes, fields));
  expect(body.data?.id, shown).toBeDefined();
  const uploads = createUploadHarness(from);
  const { id } = body.data;
  await uploads.split(sqsEvent(splitMessage({ organization: organization.id, id })), lambdaContext(120_000));
  await uploads.drain();
  return id;
};

describe("every text that the API takes", () => {
  it("comes back from an organization's export, from exported items, and as the id in the results of an import", async () => {
    await fc.assert(
      fc.asyncProperty(validItems, async (items) => {
        const acme = await createCustomer(runtime);
        const { body, text: shown } = await acme.apply(...items);
        expect(body, shown).toMatchObject({ data: { summary: { error: 0 } } });
        const before = await itemsOf(acme);
        expect(before).toHaveLength(items.length);

        const { id } = acme.organization;
        const moved = await createCustomer(elsewhere, id);
        let lines = "";
        await exportOrganization(runtime, id, async (chunk) => void (lines += chunk));
        await Array.fromAsync(importOrganization(elsewhere, id, Readable.from(lines.trimEnd().split("\n"))));
        expect(await itemsOf(moved)).toEqual(before);
        for (const { id: itemId } of before) {
          const [was, is] = await Promise.all(
            [acme, moved].map(({ send }) => send("getWorkItem", { params: { id: itemId } })),
          );
          expect(is?.text).toBe(was?.text);
        }

        const copy = await createCustomer(runtime);
        const csv = [ITEM_CSV_HEADER, ...before.map(itemCsvLine), ""].join("\r\n");
        const job = await importFile(copy, runtime, csv);
        expect(contentOf(await itemsOf(copy))).toEqual(contentOf(before));

        const results = await copy.send("getWorkItemUploadResults", { params: { id: job } });
        const report = await (await fetch(results.body.data.url!)).text();
        const mapping = { fields: { external_id: { column: "external_id" } }, others: "ignore" };
        const again = await importFile(copy, runtime, report, { mapping });
        const { body: ended } = await copy.send("getWorkItemUpload", { params: { id: again } });
        // With a mapping a cell of spaces alone is an empty one: such a row fails, and says so.
        const blank = items.filter(({ external_id: name }) => name.trim() === "").length;
        const unchanged = items.length - blank;
        expect(ended.data).toMatchObject({ created_rows: 0, unchanged_rows: unchanged, failed_rows: blank });
      }),
      { numRuns: 6, endOnFailure: true },
    );
  }, 60_000);
});
