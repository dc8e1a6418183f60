import { beforeAll, describe, expect, it, vi } from "vitest";
import { routes } from "../../functions/routes.ts";
import type { Permissions } from "../../lib/aws/permissions.ts";
import { workItemId } from "../../lib/identity.ts";
import { injectFaults } from "../support/faults.ts";
import { createTestService } from "../support/service.ts";

type Line = Readonly<Record<string, unknown>>;

let service: Awaited<ReturnType<typeof createTestService>>;
const lines: Line[] = [];
const called = new Set<string>();

let now = Date.now();
beforeAll(async () => {
  service = await createTestService({ clock: () => now });
  const keep = (...[message, line]: readonly unknown[]): void => {
    if (message === "request") lines.push(line as Line);
  };
  vi.spyOn(service.runtime.log, "info").mockImplementation(keep);
  vi.spyOn(service.runtime.log, "error").mockImplementation(keep);
});

const idOf = (externalId: string): string => workItemId(service.organization.id, externalId);
/** Calls the service. @returns the items that the call's line names */
const itemsOf: (...call: Parameters<typeof service.call>) => Promise<unknown> = async (...call) => {
  called.add(call[0]);
  await service.call(...call);
  return lines.at(-1)?.["items"];
};
const item = (externalId: string, more: object = {}) => ({ work_item: { external_id: externalId, ...more } });

describe("the line of a call names the work items that it has written", () => {
  it("one by one", async () => {
    const params = { id: idOf("a") };
    const create = { headers: { "idempotency-key": "once" }, body: item("a") };
    expect(await itemsOf("createWorkItem", create)).toBe(`${idOf("a")}:created`);
    expect(lines.at(-1)).toMatchObject({ organization: service.organization.id, key: expect.any(String) as string });
    expect(await itemsOf("createWorkItem", create)).toBeUndefined();
    expect(await itemsOf("createWorkItem", { body: item("a") })).toBeUndefined();

    const update = { params, body: { work_item: { agent_name: "Ann" } } };
    expect(await itemsOf("updateWorkItem", update)).toBe(`${idOf("a")}:updated`);
    expect(await itemsOf("updateWorkItem", update)).toBeUndefined();

    const upsert = { params, body: { event: { external_id: "e" } } };
    expect(await itemsOf("upsertWorkItemEvent", upsert)).toBe(`${idOf("a")}:updated`);
    expect(await itemsOf("upsertWorkItemEvent", upsert)).toBeUndefined();
    const { body } = await service.call("listWorkItemEvents", { params });
    const event = { params: { ...params, event_id: body.data[0]!.id } };
    expect(await itemsOf("deleteWorkItemEvent", event)).toBe(`${idOf("a")}:updated`);
    expect(await itemsOf("deleteWorkItemEvent", event)).toBeUndefined();

    expect(await itemsOf("deleteWorkItem", { params })).toBe(`${idOf("a")}:deleted`);
    expect(await itemsOf("deleteWorkItem", { params })).toBeUndefined();
    expect(JSON.stringify(lines)).not.toMatch(/Ann|"a"|"e"/);
  });

  it("in batches, each once and with its own outcome", async () => {
    const apply = { work_items: [{ external_id: "a" }, { external_id: "b" }, { external_id: "b" }] };
    expect(await itemsOf("applyWorkItemBatch", { body: { ...apply, dry_run: true } })).toBeUndefined();
    expect(await itemsOf("applyWorkItemBatch", { body: apply })).toBe(`${idOf("a")}:restored ${idOf("b")}:created`);
    expect(await itemsOf("applyWorkItemBatch", { body: apply })).toBeUndefined();
    const remove = { external_ids: ["b", "never"] };
    expect(await itemsOf("deleteWorkItemBatch", { body: { ...remove, dry_run: true } })).toBeUndefined();
    expect(await itemsOf("deleteWorkItemBatch", { body: remove })).toBe(`${idOf("b")}:deleted`);
  });

  it("also if the store no longer responds, as unknown", async () => {
    const removeFaults = injectFaults(service.runtime.dynamodb, (command) => {
      if (command !== "UpdateItemCommand") return "none";
      now += 10_000;
      return "unreachable";
    });
    const update = { params: { id: idOf("a") }, body: { work_item: { agent_name: "Bob" } } };
    expect(await itemsOf("updateWorkItem", update)).toBe(`${idOf("a")}:unknown`);
    removeFaults();
    expect(lines.at(-1)).toMatchObject({ status: 503 });
  });
});

it("every call that writes work items is among these", () => {
  const writing = Object.entries(routes).filter(([, { permissions }]) => {
    const { actions = [], partitions = [] } = (permissions as Permissions).workItems ?? {};
    return partitions.includes("ITEM") && actions.some((action) => /Put|Update|Insert/.test(action));
  });
  expect(writing.map(([name]) => name).toSorted()).toEqual([...called].toSorted());
});
