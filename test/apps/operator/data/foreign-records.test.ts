import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { workItemId } from "../../../../lib/identity.ts";
import { eraseItem } from "../../../../apps/operator/data/erase-item.ts";
import { exportOrganization } from "../../../../apps/operator/data/export-organization.ts";
import { partitionOf } from "../../../../lib/work-items/work-item-record.ts";
import { createCustomer, type Customer, fill, tracesOf } from "../../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

let runtime: TestRuntime;
let acme: Customer;
let id: string;
const exported = async () => {
  let lines = "";
  await exportOrganization(runtime, acme.organization.id, async (text) => void (lines += text));
  return lines.split("\n").slice(1).toSorted();
};
const addForeignRecords = async () => {
  const pk = partitionOf(acme.organization.id, id);
  // Below the events' sort keys, between them, and above them.
  for (const sk of ["#NOTE", "COMMENT#1", "EVENT$", "EVENTS#1", "NOTE#1"]) {
    await runtime.dynamodb.send(
      new PutCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Item: { pk, sk, note: "of another kind" } }),
    );
  }
};
beforeEach(async () => {
  runtime = await createTestRuntime();
  acme = await createCustomer(runtime);
  await fill(runtime, acme);
  id = workItemId(acme.organization.id, "kept");
});

describe("records of another kind under a work item", () => {
  it.each(["getWorkItem", "listWorkItemEvents"] as const)("do not change what %s returns", async (name) => {
    const before = await acme.send(name, { params: { id } });
    expect(before.status).toBe(200);
    await addForeignRecords();
    const after = await acme.send(name, { params: { id } });
    expect({ status: after.status, text: after.text }).toEqual({ status: 200, text: before.text });
  });

  it("do not add empty pages to the list of events", async () => {
    for (const externalId of ["a", "b", "c"]) {
      await acme.send("upsertWorkItemEvent", { params: { id }, body: { event: { external_id: externalId } } });
    }
    await addForeignRecords();
    const lengths: number[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await acme.send("listWorkItemEvents", {
        params: { id },
        query: { limit: 3, ...(cursor !== undefined && { cursor }) },
      });
      lengths.push(body.data.length);
      cursor = body.meta.page.next;
    } while (cursor !== undefined);
    expect(lengths).toEqual([3, 1]);
  });

  it("are not in an export", async () => {
    const before = await exported();
    await addForeignRecords();
    expect(await exported()).toEqual(before);
  });

  it("are erased with the item, without being counted as events", async () => {
    await addForeignRecords();
    expect(await eraseItem(runtime, acme.organization.id, "kept", { sleep: async () => undefined })).toEqual({
      id,
      events: 1,
      item: true,
    });
    const traces = await tracesOf(runtime, acme.organization.id);
    expect(traces.filter((trace) => trace?.includes(id))).toEqual([]);
  });
});
