import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { workItemId } from "../../lib/identity.ts";
import { createKey } from "../../apps/operator/data/key-management.ts";
import { itemKeyOf } from "../../lib/work-items/work-item-record.ts";
import { administrationOf } from "../support/organization.ts";
import { createTestService } from "../support/service.ts";
import { overwrite } from "../support/customer-data.ts";

type Service = Awaited<ReturnType<typeof createTestService>>;
let service: Service;
beforeAll(async () => {
  service = await createTestService();
});

const apply = async (...items: readonly object[]): Promise<void> => {
  const { status } = await service.call("applyWorkItemBatch", { body: { work_items: items } });
  expect(status).toBe(200);
};
const find = async (body: object) => {
  const response = await service.call("getWorkItemBatch", { body });
  expect([response.status, response.body.error]).toEqual([200, undefined]);
  return response.body.data.results;
};
const remove = async (body: object) => {
  const response = await service.call("deleteWorkItemBatch", { body });
  expect([response.status, response.body.error]).toEqual([200, undefined]);
  return response.body.data;
};
const idOf = (externalId: string): string => workItemId(service.organization.id, externalId);
const statusesOf = (results: readonly { readonly status: string }[]): string[] => results.map(({ status }) => status);

describe("batch_get", () => {
  it("finds items by external_id or id, in the order of the request", async () => {
    await apply({ external_id: "one", type: "a" }, { external_id: "two", type: "b" }, { external_id: "gone" });
    await remove({ external_ids: ["gone"] });
    const byExternalId = await find({ external_ids: ["two", "gone", "never", "one", "two"] });
    expect(byExternalId).toMatchObject([
      { index: 0, id: idOf("two"), external_id: "two", status: "found", data: { type: "b" } },
      { index: 1, id: idOf("gone"), external_id: "gone", status: "deleted", data: null },
      { index: 2, id: idOf("never"), external_id: "never", status: "not_found", data: null },
      { index: 3, id: idOf("one"), external_id: "one", status: "found", data: { type: "a" } },
      { index: 4, id: idOf("two"), external_id: "two", status: "found", data: { type: "b" } },
    ]);
    const byId = await find({ ids: [idOf("one"), idOf("gone").toUpperCase(), randomUUID()] });
    expect(byId).toMatchObject([
      { external_id: "one", status: "found", data: { id: idOf("one") } },
      { external_id: "gone", status: "deleted" },
      { external_id: null, status: "not_found" },
    ]);
  });

  it("finds nothing by what isn't an id, nor another organization's item", async () => {
    const stranger = await createTestService();
    await stranger.call("createWorkItem", { body: { work_item: { external_id: "theirs" } } });
    const results = await find({ ids: ["", "x", "..", workItemId(stranger.organization.id, "theirs")] });
    expect(statusesOf(results)).toEqual(["not_found", "not_found", "not_found", "not_found"]);
    expect(results.map(({ id }) => id).slice(0, 3)).toEqual([null, null, null]);
    expect(await find({ external_ids: ["", "x".repeat(513), "\ud800"] })).toEqual(
      [0, 1, 2].map((index) => ({
        index,
        id: null,
        external_id: null,
        status: "not_found",
        data: null,
        error: null,
      })),
    );
  });

  it("returns the items that fit, and the others when it is called again", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `large-${index}`);
    const custom_attributes = { text: "x".repeat(250_000) };
    for (let from = 0; from < names.length; from += 10) {
      await apply(...names.slice(from, from + 10).map((external_id) => ({ external_id, custom_attributes })));
    }
    let left = [...names];
    const found: string[] = [];
    for (let calls = 0; left.length > 0; calls++) {
      expect(calls).toBeLessThan(4);
      const results = await find({ external_ids: left });
      for (const { data } of results) if (data) found.push(data.external_id);
      left = results.flatMap((result) => (result.status === "not_returned" ? (result.external_id ?? "") : []));
    }
    expect(found).toEqual(names);
  });

  it("reports a damaged item in its place", async () => {
    await apply({ external_id: "whole" }, { external_id: "damaged" });
    const key = itemKeyOf(service.organization.id, "damaged");
    await overwrite(service.runtime, "WORK_ITEMS_TABLE", key, "custom_attributes", "{");
    expect(await find({ external_ids: ["damaged", "whole"] })).toMatchObject([
      { status: "error", data: null, error: "its record is damaged" },
      { status: "found" },
    ]);
  });

  it("needs a key that reads, and no more", async () => {
    const { key } = await createKey(administrationOf(service.runtime), service.organization.id, { scopes: ["read"] });
    const body = { ids: [randomUUID()] };
    expect((await service.call("getWorkItemBatch", { body, key })).status).toBe(200);
    expect((await service.call("deleteWorkItemBatch", { body, key })).status).toBe(403);
    expect((await service.call("deleteWorkItemBatch", { body: { ...body, dry_run: true }, key })).status).toBe(200);
  });
});

describe("batch_delete", () => {
  it("deletes items, and finds them unchanged when it is repeated", async () => {
    await apply(...["x", "y", "z"].map((name) => ({ external_id: name, agent_external_id: `agent of ${name}` })));
    const first = await remove({ external_ids: ["x", "never", "y", "x"] });
    expect(first.summary).toEqual({ total: 4, deleted: 2, unchanged: 1, not_found: 1, error: 0 });
    expect(first.results).toMatchObject([
      { index: 0, id: idOf("x"), external_id: "x", status: "deleted", error: null },
      { index: 1, id: idOf("never"), external_id: "never", status: "not_found" },
      { index: 2, external_id: "y", status: "deleted" },
      { index: 3, external_id: "x", status: "unchanged" },
    ]);
    const again = await remove({ ids: [idOf("x"), idOf("y"), "x"] });
    expect(again.results).toMatchObject([
      { external_id: "x", status: "unchanged" },
      { external_id: "y", status: "unchanged" },
      { id: null, external_id: null, status: "not_found" },
    ]);
    const listed = await service.call("listWorkItems", { query: { agent_external_id: "agent of x" } });
    expect(listed.body.data).toEqual([]);
    expect(statusesOf(await find({ external_ids: ["x", "y", "z"] }))).toEqual(["deleted", "deleted", "found"]);
    const restored = await service.call("applyWorkItemBatch", { body: { work_items: [{ external_id: "x" }] } });
    expect(restored.body.data.results).toMatchObject([{ status: "restored", data: { id: idOf("x") } }]);
  });

  it("deletes nothing in a dry run, which has the same results", async () => {
    await apply({ external_id: "stays" });
    const external_ids = ["stays", "never", "stays"];
    const dry = await remove({ external_ids, dry_run: true });
    expect(statusesOf(await find({ external_ids: ["stays"] }))).toEqual(["found"]);
    const real = await remove({ external_ids });
    expect({ ...dry, dry_run: false }).toEqual(real);
    expect(real.summary).toEqual({ total: 3, deleted: 1, unchanged: 1, not_found: 1, error: 0 });
  });

  it("gives items the new version that any write gives", async () => {
    const created = await service.call("createWorkItem", { body: { work_item: { external_id: "versioned" } } });
    await remove({ external_ids: ["versioned"] });
    await apply({ external_id: "versioned" });
    const now = await service.call("getWorkItem", { params: { id: idOf("versioned") } });
    expect([created.headers["etag"], now.headers["etag"]]).toMatchObject([
      expect.stringMatching(/^"1-/),
      expect.stringMatching(/^"3-/),
    ]);
  });
});

describe.each(["getWorkItemBatch", "deleteWorkItemBatch"] as const)("%s", (name) => {
  it.each([
    [{}, "body: must have either external_ids or ids"],
    [{ ids: ["a"], external_ids: ["a"] }, "body: must have either external_ids or ids"],
    [{ ids: [] }, "ids: must have at least 1 value"],
    [{ external_ids: Array.from({ length: 101 }, String) }, "external_ids: must have at most 100 values"],
    [{ ids: [1] }, "ids[0]: must be a string, not a number"],
  ])("rejects %j", async (body, error) => {
    expect(await service.call(name, { body })).toMatchObject({ status: 422, body: { error } });
  });
});
