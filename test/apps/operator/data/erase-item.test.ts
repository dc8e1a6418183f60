import { beforeEach, describe, expect, it } from "vitest";
import { eraseItem } from "../../../../apps/operator/data/erase-item.ts";
import { workItemId } from "../../../../lib/identity.ts";
import { createCustomer, type Customer, fill, tracesOf } from "../../../support/customer-data.ts";
import { type Fault, failRequests, injectFaults } from "../../../support/faults.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

let runtime: TestRuntime;
let acme: Customer;
let id: string;
beforeEach(async () => {
  runtime = await createTestRuntime();
  acme = await createCustomer(runtime);
  await fill(runtime, acme);
  id = workItemId(acme.organization.id, "kept");
});
const sleep = () => Promise.resolve();
const traces = async () => (await tracesOf(runtime, acme.organization.id)).filter((trace) => trace?.includes(id));
const get = () => acme.send("getWorkItem", { params: { id } });
const putEvent = (externalId: string) =>
  acme.send("upsertWorkItemEvent", { params: { id }, body: { event: { external_id: externalId } } });

describe("erasing a work item", () => {
  it("leaves nothing of it and of its events, and the item is unknown", async () => {
    await putEvent("second");
    expect(await eraseItem(runtime, acme.organization.id, "kept", { sleep })).toEqual({ id, events: 2, item: true });
    expect(await traces()).toEqual([]);
    expect((await get()).status).toBe(404);
    expect((await acme.send("listWorkItems")).body.data).toHaveLength(1);
  });

  it("erases deleted items too", async () => {
    expect(await eraseItem(runtime, acme.organization.id, "deleted", { sleep })).toMatchObject({ item: true });
  });

  it("waits where DynamoDB throttles deletions", async () => {
    let calls = 0;
    const stop = failRequests(runtime.dynamodb, (command) =>
      command === "TransactWriteItemsCommand" && calls++ < 2
        ? { name: "ThrottlingException", httpStatusCode: 400 }
        : undefined,
    );
    expect(await eraseItem(runtime, acme.organization.id, "kept", { sleep })).toEqual({ id, events: 1, item: true });
    stop();
    expect(calls).toBeGreaterThan(2);
  });

  it("says in a dry run what it would erase", async () => {
    expect(await eraseItem(runtime, acme.organization.id, "kept", { dryRun: true, sleep })).toEqual({
      id,
      events: 1,
      item: true,
    });
    expect((await get()).status).toBe(200);
  });

  it("begins again when somebody changes the item or adds events meanwhile", async () => {
    let changes = 0;
    const remove = injectFaults(runtime.dynamodb, async (command): Promise<Fault> => {
      if (command !== "TransactWriteItemsCommand" || changes >= 3) return "none";
      changes += 1;
      await acme.apply({ external_id: "kept", type: `changed ${changes}`, events: [{ external_id: `e${changes}` }] });
      return "none";
    });
    const erased = await eraseItem(runtime, acme.organization.id, "kept", { sleep });
    remove();
    expect(erased).toEqual({ id, events: 4, item: true });
    expect(await traces()).toEqual([]);
  });

  it("erases an event that a call brings after the item was erased", async () => {
    const { organization } = acme;
    let late: Promise<unknown> = Promise.resolve();
    let isHeld = true;
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const remove = injectFaults(runtime.dynamodb, async (command): Promise<Fault> => {
      if (command !== "PutItemCommand" || !isHeld) return "none";
      held.resolve();
      await release.promise;
      return "none";
    });
    late = putEvent("late");
    await held.promise;
    const erased = await eraseItem(runtime, organization.id, "kept", {
      sleep: async () => {
        isHeld = false;
        release.resolve();
        await late;
        expect(await traces()).toHaveLength(1);
      },
    });
    remove();
    expect(erased).toMatchObject({ events: 2 });
    expect(await traces()).toEqual([]);
  });

  it("leaves an item that was sent again after it was erased", async () => {
    await eraseItem(runtime, acme.organization.id, "kept", {
      sleep: async () => void (await acme.apply({ external_id: "kept" })),
    });
    expect((await get()).body).toMatchObject({ data: { external_id: "kept", agents: [], events: [] } });
  });

  it("tells that there is no such item", async () => {
    await expect(eraseItem(runtime, acme.organization.id, "none", { sleep })).rejects.toThrow("has no work item none");
  });
});
