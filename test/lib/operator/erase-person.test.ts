import { beforeEach, describe, expect, it } from "vitest";
import { erasePerson } from "../../../lib/operator/erase-person.ts";
import { workItemId } from "../../../lib/identity.ts";
import { createCustomer, type Customer, fill } from "../../support/customer-data.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

let runtime: TestRuntime;
let acme: Customer;
let other: Customer;
beforeEach(async () => {
  runtime = await createTestRuntime();
  acme = await createCustomer(runtime);
  other = await createCustomer(runtime);
  await fill(runtime, acme);
  await fill(runtime, other);
});
const idOf = (externalId: string) => workItemId(acme.organization.id, externalId);
const get = async (externalId: string) =>
  (await acme.send("getWorkItem", { params: { id: idOf(externalId) } })).body.data as never as {
    updated_at: string;
    agents: unknown[];
    events: unknown[];
  };
const NOBODY = { id: null, name: null, email: null, external_id: null, avatar_url: null };

describe("erasing a person", () => {
  it("empties agents and actors with the address, whatever its case, also of deleted items", async () => {
    const { updated_at: before } = await get("kept");
    const erased = await erasePerson(runtime, acme.organization.id, "ann@EXAMPLE.com");
    expect(erased).toMatchObject({ work_items: 2, events: 1 });
    expect(await get("kept")).toMatchObject({ agent: NOBODY, agents: [], events: [{ actor: NOBODY }] });
    expect((await get("kept")).updated_at > before).toBe(true);
    const deleted = await acme.send("getWorkItem", { params: { id: idOf("deleted") } });
    expect(deleted.status).toBe(404);
    await acme.apply({ external_id: "deleted" });
    expect(await get("deleted")).toMatchObject({ agent: NOBODY, completed_at: "2026-01-02T03:04:05.000Z" });
  });

  it("names the texts and the files that may still hold the address", async () => {
    const { mentions, files } = await erasePerson(runtime, acme.organization.id, "ann@example.com");
    expect(mentions).toHaveLength(2);
    expect(mentions).toContainEqual({ kind: "content", id: idOf("kept") });
    expect(mentions).toContainEqual({ kind: "custom_attributes", id: idOf("of another") });
    expect(files).toMatchObject([{ file_name: "large.csv" }]);
  });

  it("leaves other people and other organizations alone", async () => {
    await erasePerson(runtime, acme.organization.id, "ann@example.com");
    expect(await get("of another")).toMatchObject({ agent: { email: "bob@example.com" } });
    const list = await other.send("listWorkItems", { query: { agent_email: "ann@example.com" } });
    expect(list.body.data).toHaveLength(1);
  });

  it("takes the item out of the list of its agent", async () => {
    await acme.apply({ external_id: "kept", agent_external_id: "ann-1" });
    const byAgent = () => acme.send("listWorkItems", { query: { agent_external_id: "ann-1" } });
    expect((await byAgent()).body.data).toHaveLength(1);
    await erasePerson(runtime, acme.organization.id, "ann@example.com");
    expect((await byAgent()).body.data).toEqual([]);
  });

  it("changes nothing in a dry run", async () => {
    const erased = await erasePerson(runtime, acme.organization.id, "ann@example.com", { dryRun: true });
    expect(erased).toMatchObject({ work_items: 2, events: 1 });
    expect(await get("kept")).toMatchObject({ agent: { email: "ann@example.com" } });
  });

  it("keeps what others change in the item meanwhile, and finds the address that they bring back", async () => {
    let writes = 0;
    const remove = injectFaults(runtime.dynamodb, async (command): Promise<Fault> => {
      if (!/Update|ExecuteStatement/.test(command) || writes > 0) return "none";
      writes += 1;
      await acme.apply({ external_id: "kept", type: "changed", agent_email: "ann@example.com", agent_name: "Ann Two" });
      await acme.apply({ external_id: "new", agent_email: "ann@example.com" });
      return "none";
    });
    await erasePerson(runtime, acme.organization.id, "ann@example.com");
    remove();
    expect(await get("kept")).toMatchObject({ type: "changed", agent: NOBODY });
    expect(await get("new")).toMatchObject({ agent: NOBODY });
  });

  it("goes on where DynamoDB failed between two of its writes", async () => {
    // More than one request can write.
    const more = Array.from({ length: 60 }, (_, index) => ({
      external_id: `${index}`,
      agent_email: "ann@example.com",
    }));
    await acme.send("applyWorkItemBatch", { body: { work_items: more } });
    const erase = (dryRun: boolean) => erasePerson(runtime, acme.organization.id, "ann@example.com", { dryRun });
    const left = async (): Promise<number> => {
      const { work_items: items, events } = await erase(true);
      return items + events;
    };
    const all = await left();
    for (let place = 1; (await left()) === all; place++) {
      let requests = 0;
      const remove = injectFaults(runtime.dynamodb, () => (++requests >= place ? "unreachable" : "none"));
      await erase(false).catch((error: unknown) => error);
      remove();
    }
    expect([all, (await left()) > 0]).toEqual([63, true]);
    await erase(false);
    expect(await left()).toBe(0);
    expect(await get("kept")).toMatchObject({ agent: NOBODY, agents: [], events: [{ actor: NOBODY }] });
  });

  it("gives up, and says why, while others keep bringing the address back", async () => {
    const remove = injectFaults(runtime.dynamodb, async (command): Promise<Fault> => {
      if (command === "ScanCommand") await acme.apply({ external_id: "kept", agent_email: "ann@example.com" });
      return "none";
    });
    await expect(erasePerson(runtime, acme.organization.id, "ann@example.com")).rejects.toThrow(
      "ann@example.com comes back while it is erased: stop what sends it, and repeat the command",
    );
    remove();
    await erasePerson(runtime, acme.organization.id, "ann@example.com");
    expect(await get("kept")).toMatchObject({ agent: NOBODY });
  });
});
