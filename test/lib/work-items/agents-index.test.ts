import { beforeEach, describe, expect, it } from "vitest";
import { getOrganization, growListingShards } from "../../../apps/operator/data/administration.ts";
import { createTestService } from "../../support/service.ts";
import { aroundRequests } from "../../support/faults.ts";

type Service = Awaited<ReturnType<typeof createTestService>>;

/** A service whose clock is hours further at each start, so that nothing is remembered of an organization. */
let service: Service;
let now: number;
beforeEach(async () => {
  now = Date.parse("2026-03-01T12:00:00Z");
  service = await createTestService({ clock: () => now });
});

const apply = async (items: readonly object[]): Promise<void> => {
  for (let start = 0; start < items.length; start += 100) {
    const { status, text } = await service.call("applyWorkItemBatch", {
      body: { work_items: items.slice(start, start + 100) },
    });
    expect(status, text).toBe(200);
  }
};

/** The external_ids of the pages of a list, and the names of the requests that read them. */
const list = async (query: Record<string, string | number>) => {
  const indexes: string[] = [];
  const stop = aroundRequests(
    service.runtime.dynamodb,
    (_, { IndexName: index }: { readonly IndexName?: string }, send) => {
      if (index !== undefined) indexes.push(index);
      return send();
    },
  );
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const { status, text, body } = await service.call("listWorkItems", {
      query: { ...query, ...(cursor !== undefined && { cursor }) },
    });
    expect(status, text).toBe(200);
    found.push(...body.data.map((item) => item.external_id));
    cursor = body.meta.page.next;
  } while (cursor !== undefined);
  stop();
  return { found, indexes: new Set(indexes) };
};
const ofAgent = async (agent: string, query: Record<string, string | number> = {}) =>
  (await list({ agent_external_id: agent, ...query })).found.toSorted();

describe("the list of an agent's work items", () => {
  it("follows an item from agent to agent, through deletion and restoration", async () => {
    await apply([{ external_id: "A", agent_external_id: "ann", completed_at: "2026-01-01T00:00:00Z" }]);
    const id = (await service.call("listWorkItems")).body.data[0]!.id;
    const patch = (fields: object) => service.call("updateWorkItem", { params: { id }, body: { work_item: fields } });
    expect(await ofAgent("ann")).toEqual(["A"]);

    await patch({ agent_external_id: "bob" });
    expect([await ofAgent("ann"), await ofAgent("bob")]).toEqual([[], ["A"]]);
    await patch({ completed_at: "2026-02-01T00:00:00Z" });
    expect(await ofAgent("bob", { completed_from: "2026-01-31T00:00:00Z" })).toEqual(["A"]);
    expect(await ofAgent("bob", { completed_to: "2026-01-31T00:00:00Z" })).toEqual([]);
    await patch({ agent_external_id: null });
    expect(await ofAgent("bob")).toEqual([]);
    await patch({ agent_external_id: "bob" });
    await service.call("deleteWorkItem", { params: { id } });
    expect(await ofAgent("bob")).toEqual([]);
    await apply([{ external_id: "A" }]);
    expect(await ofAgent("bob")).toEqual(["A"]);
  });

  it("distinguishes every spelling of an agent's external_id, of any length", async () => {
    const agents = ["a", "A", "a#1", "a ", "\u00e4", "a\u0308", "x".repeat(255), `${"x".repeat(254)}y`];
    await apply(agents.map((agent, index) => ({ external_id: `I${index}`, agent_external_id: agent })));
    for (const [index, agent] of agents.entries()) expect(await ofAgent(agent)).toEqual([`I${index}`]);
  });

  it("reads only that agent's entries, whatever else the list is filtered by", async () => {
    const statuses = ["completed", "pending"];
    await apply(
      Array.from({ length: 400 }, (_, index) => ({
        external_id: `I${index}`,
        agent_external_id: index % 40 === 0 ? "rare" : "usual",
        status: statuses[index % 3 === 0 ? 0 : 1],
        agent_email: `${index % 2}@example.com`,
      })),
    );
    const { found, indexes } = await list({ agent_external_id: "rare", limit: 3 });
    expect([found.length, [...indexes]]).toEqual([10, ["agents"]]);
    expect(await ofAgent("rare", { status: "completed" })).toHaveLength(4);
    expect(await ofAgent("rare", { agent_email: "0@example.com" })).toHaveLength(10);
  });
});

describe("more shards", () => {
  it("are read before anything is written to them, and lose no item that was written before", async () => {
    const { runtime, organization } = service;
    await apply(Array.from({ length: 50 }, (_, index) => ({ external_id: `old${index}`, agent_external_id: "ann" })));
    const states: unknown[] = [];
    await growListingShards(runtime, organization.id, 8, async (milliseconds) => {
      const { listing_shards: read, listing_write_shards: write } = await getOrganization(runtime, organization.id);
      states.push([milliseconds, read, write]);
    });
    expect(states).toEqual([[60_000, 8, 2]]);
    expect(await getOrganization(runtime, organization.id)).toMatchObject({
      listing_shards: 8,
      listing_write_shards: 8,
    });
    now += 3_600_000;
    await apply(Array.from({ length: 50 }, (_, index) => ({ external_id: `new${index}`, agent_external_id: "ann" })));
    expect(new Set((await list({ limit: 7 })).found).size).toBe(100);
    expect(await ofAgent("ann", { limit: 7 })).toHaveLength(100);
  });

  it.each([1, 65])("are rejected where there would be %s", async (shards) => {
    await expect(
      growListingShards(service.runtime, service.organization.id, shards, async () => undefined),
    ).rejects.toThrow("from 2");
  });
});
