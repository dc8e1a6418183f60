import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { readItems } from "../../../../apps/cli/work-items/read-items.ts";
import logMapping from "./incident-log.mapping.json" with { type: "json" };
import { mappingSchema } from "../../../../lib/uploads/mapping/mapping.ts";
import { createUploadService } from "../../../support/uploads/upload-service.ts";

const log = [
  "number,incident_state,sys_mod_count,sys_updated_by,sys_updated_at,category,assigned_to,location,resolved_at,closed_at",
  'INC1,New,0,Updated by 21,29-02-2016 01:23,Category 55,?,"Hall ""A"",\nnorth",29-02-2016 11:29,?',
  "INC2,Awaiting Vendor,0,?,?,?,?,?,?,?",
  'INC1,Resolved,2,Updated by 6,29-02-2016 08:53,Category 55,Resolver 9,"Hall ""A"",\nnorth",29-02-2016 11:29,?',
  ...Array.from({ length: 250 }, (_, row) => `INC3,Active,${row},Updated by 6,29-02-2016 08:53,?,?,Hall ${row},?,?`),
].join("\n");
const mapping = mappingSchema.parse(logMapping);
const items = () => readItems(Readable.from([Buffer.from(log)]), mapping);

it("reads a file into items for batches: rows of an item together, at most 99 events each", async () => {
  const [first, second, ...others] = await items();
  expect(first).toMatchObject({
    external_id: "INC1",
    agent_name: "Resolver 9",
    completed_at: "2016-02-29T11:29:00.000Z",
    status: "completed",
    custom_attributes: { location: 'Hall "A",\nnorth' },
    events: [
      { external_id: "INC1-0", actor_external_id: "Updated by 21", content: "New" },
      { external_id: "INC1-2", content: "Resolved", occurred_at: "2016-02-29T08:53:00.000Z" },
    ],
  });
  expect(second).toMatchObject({
    external_id: "INC2",
    status: "in_progress",
    events: [{ content: "Awaiting Vendor" }],
  });
  expect(others.map(({ external_id: id, events = [] }) => [id, events.length])).toEqual([
    ["INC3", 99],
    ["INC3", 99],
    ["INC3", 52],
  ]);
});

it("makes the same items of a file in the client and by an upload with the same mapping", async () => {
  const uploads = await createUploadService();
  expect(await uploads.runMapped(log, mapping)).toMatchObject({ failed_rows: 0, created_rows: 3 });
  const compare = async (work_items: readonly object[]) => {
    const body = { work_items, dry_run: true };
    return (await uploads.call("applyWorkItemBatch", { body })).body.data.summary;
  };
  // Each part of INC3 would change what the parts after it made, so only its last one is compared.
  const [first, second, , , last] = await items();
  expect(await compare([first!, second!, last!])).toMatchObject({ total: 3, unchanged: 3 });
  expect(await compare([{ ...first!, type: "Category 56" }])).toMatchObject({ unchanged: 0, updated: 1 });
});
