import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { create as createRecordConversationUpload } from "../../functions/record-conversation-upload.ts";
import { conversationUploadKey } from "../../lib/conversation-uploads/conversation-upload-store.ts";
import { eraseItem } from "../../apps/operator/data/erase-item.ts";
import { rateLimitKey } from "../../lib/organizations/limit-record.ts";
import { shardKey } from "../../lib/uploads/job/shard-store.ts";
import { jobKey } from "../../lib/uploads/job/upload-store.ts";
import type { RecordKey } from "../../lib/store/versioned-record.ts";
import { eventKeyOf, itemKey } from "../../lib/work-items/work-item-record.ts";
import { type Caller, createCaller } from "../support/service.ts";
import { withoutTimeouts } from "../support/faults.ts";
import { createUploadService, dataOf, MINUTE_MS, type UploadService } from "../support/uploads/upload-service.ts";
import { overwrite } from "../support/customer-data.ts";

let uploads: UploadService;
let logged: string[];
beforeEach(async () => {
  uploads = await createUploadService();
  logged = [];
  vi.spyOn(uploads.runtime.log, "error").mockImplementation((message, ...more) => {
    logged.push(JSON.stringify([message, ...more]));
  });
});

/** Calls a new instance of an endpoint's function, which has cached nothing. */
const send: Caller = (name, request) => createCaller(uploads.runtime, uploads.key)(name, request);

/** Gives a record's attribute a value, or else a type, that no version of the service has written. */
const damage = (key: RecordKey, attribute = "created_at", value: unknown = 7) =>
  overwrite(uploads.runtime, "WORK_ITEMS_TABLE", key, attribute, value);
const createItems = (...ids: readonly string[]) =>
  Promise.all(
    ids.map(async (external_id) => {
      const work_item = { external_id, events: [{ external_id: "e" }] };
      return dataOf(await send("createWorkItem", { body: { work_item } })).id;
    }),
  );
const idsIn = ({ body }: { readonly body: { readonly data: readonly { readonly id: string }[] } }) =>
  body.data.map(({ id }) => id).toSorted();

it.each([
  ["created_at", 7],
  ["custom_attributes", '{"cut'],
])(
  "a work item whose %s is damaged is left out of lists and logged, and calls that name it fail",
  async (name, value) => {
    const { organization } = uploads;
    const [a = "", b = "", c = ""] = await createItems("a", "b", "c");
    await damage(itemKey(organization.id, b), name, value);
    expect(idsIn(await send("listWorkItems"))).toEqual([a, c].toSorted());
    expect(logged).toEqual([expect.stringContaining(b)]);
    expect(logged[0]).toContain(name);
    for (const query of [{}, { include: "events" }]) {
      expect(idsIn(await send("listWorkItemChanges", { query }))).toEqual([a, c].toSorted());
    }
    expect((await send("listWorkItems", { query: { external_id: "b" } })).status).toBe(500);
    expect((await send("getWorkItem", { params: { id: b } })).status).toBe(500);
    const patch = { params: { id: b }, body: { work_item: { type: "x" } } };
    expect((await send("updateWorkItem", patch)).status).toBe(500);
    expect((await send("getWorkItem", { params: { id: a } })).status).toBe(200);
  },
);

it("a damaged event is left out of its item, of the list of events and of the feed, and logged", async () => {
  const { organization } = uploads;
  const events = ["e", "f", "g", "h"].map((external_id) => ({ external_id }));
  const id = dataOf(await send("createWorkItem", { body: { work_item: { external_id: "a", events } } })).id;
  await damage(eventKeyOf(organization.id, id, "f"), "external_id");
  const externalIds = (list: readonly { readonly external_id: string }[]) =>
    list.map((each) => each.external_id).toSorted();
  expect(externalIds(dataOf(await send("getWorkItem", { params: { id } })).events)).toEqual(["e", "g", "h"]);
  const [change] = dataOf(await send("listWorkItemChanges", { query: { include: "events" } }));
  expect(change).toMatchObject({ id, events: [{}, {}, {}] });
  const listed: { readonly external_id: string }[] = [];
  // A page that holds nothing else is empty, and names the next one.
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const query = { limit: 1, ...(cursor !== undefined && { cursor }) };
    const { body } = await send("listWorkItemEvents", { params: { id }, query });
    listed.push(...body.data);
    cursor = body.meta.page.next;
  }
  expect(externalIds(listed)).toEqual(["e", "g", "h"]);
  expect(logged).toHaveLength(3);
  expect(logged.every((line) => line.includes("external_id"))).toBe(true);
});

it("a record of a limit that is damaged lets requests pass, and is logged", async () => {
  const { runtime, organization } = uploads;
  onTestFinished(withoutTimeouts());
  const warn = vi.spyOn(runtime.log, "warn");
  await send("listWorkItems");
  const TableName = runtime.environment.LIMITS_TABLE;
  await runtime.dynamodb.send(new PutCommand({ TableName, Item: { ...rateLimitKey(organization.id), arrival: "x" } }));
  expect((await send("listWorkItems")).status).toBe(200);
  const reason = `limit ORGANIZATION#${organization.id}`;
  const named = { reason: expect.stringContaining(reason) as string };
  expect(warn.mock.calls).toContainEqual(["rate limiter failed open", named]);
});

it("an erasure of a damaged work item leaves nothing of it", async () => {
  const { runtime, organization, clock } = uploads;
  const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);
  for (const [name, value] of [
    ["version", "x"],
    ["writes", 7],
  ] as const) {
    const [id = ""] = await createItems("a");
    await damage(itemKey(organization.id, id), name, value);
    expect(await eraseItem(runtime, organization.id, "a", { sleep })).toEqual({ id, events: 1, item: true });
    expect((await send("getWorkItem", { params: { id } })).status).toBe(404);
  }
});

it.each(["item", "event"])("a damaged %s fails only its own input of a batch, and the log names it", async (kind) => {
  const { organization } = uploads;
  const [, b = ""] = await createItems("a", "b", "c");
  await damage(kind === "item" ? itemKey(organization.id, b) : eventKeyOf(organization.id, b, "e"));
  const work_items = ["a", "b", "c"].map((external_id) => ({
    external_id,
    type: "new",
    events: [{ external_id: "e", content: "new" }],
  }));
  const { body } = await send("applyWorkItemBatch", { body: { work_items } });
  expect(body.data.results.map(({ status }) => status)).toEqual(["updated", "error", "updated"]);
  expect(logged).toEqual([expect.stringContaining(b)]);
});

it("a damaged row's item fails only its row", async () => {
  const [, b = ""] = await createItems("a", "b", "c");
  await damage(itemKey(uploads.organization.id, b));
  const { id } = dataOf(await uploads.post("external_id,type\na,x\nb,x\nc,x\n"));
  expect(await uploads.finish(id)).toMatchObject({ status: "completed", succeeded_rows: 2, failed_rows: 1 });
});

it("a damaged job doesn't stop later imports of the items that it has written", async () => {
  const first = dataOf(await uploads.post("external_id,type\na,x\nb,x\n"));
  await uploads.finish(first.id);
  await damage(jobKey(uploads.jobKey(first.id)));
  const second = dataOf(await uploads.post("external_id,type\na,y\nb,y\n"));
  expect(await uploads.finish(second.id)).toMatchObject({ status: "completed", updated_rows: 2 });
  expect(logged).toEqual([expect.stringContaining(first.id)]);
});

it("a damaged job or shard is left out of the list of jobs, and the sweep continues with the others", async () => {
  const jobs: string[] = [];
  for (const file of ["external_id\nA\n", "external_id\nB\n", "external_id\nC\n"]) {
    jobs.push(dataOf(await uploads.post(file)).id);
  }
  const [a = "", b = "", c = ""] = jobs;
  await uploads.split(c);
  const { job, shards } = (await uploads.harness.store.read(uploads.jobKey(c)))!;
  await uploads.harness.store.shards.claim(job, shards[0]!);
  await damage(jobKey(uploads.jobKey(b)));
  await damage(shardKey(uploads.jobKey(c), 0), "claimed_by");
  expect((await uploads.list()).data.map(({ id }) => id)).toEqual([a]);
  expect((await send("getWorkItemUpload", { params: { id: b } })).status).toBe(500);
  await uploads.later(2 * MINUTE_MS);
  expect(await uploads.get(a)).toMatchObject({ status: "completed" });
});

it("open jobs that are damaged do not stop the sweep, whatever the index shows of them", async () => {
  const jobs: string[] = [];
  for (let count = 0; count < 6; count++) jobs.push(dataOf(await uploads.post("external_id\nA\n")).id);
  const [whole = "", ...others] = jobs;
  const damages: readonly (readonly [string, unknown])[] = [
    ["organization", 7],
    ["status", "unheard-of"],
    ["check_at", "0"],
    ["open_sk", "no key"],
    ["busy_until", "soon"],
  ];
  for (const [index, [name, value]] of damages.entries()) {
    await damage(jobKey(uploads.jobKey(others[index]!)), name, value);
  }
  await uploads.later(2 * MINUTE_MS);
  expect(await uploads.get(whole)).toMatchObject({ status: "completed" });
});

it("a damaged conversation upload is left out of the list", async () => {
  const { organization } = uploads;
  const record = createRecordConversationUpload(uploads.runtime);
  const made = await Promise.all(
    [1, 2].map(() =>
      record({ organization: organization.id, external_id: randomUUID(), status: "pending", source: "x" }),
    ),
  );
  const [a = "", b = ""] = made.map(({ id }) => id);
  await damage(conversationUploadKey(organization.id, b));
  expect(idsIn(await send("listConversationUploads"))).toEqual([a]);
  expect((await send("getConversationUpload", { params: { id: b } })).status).toBe(500);
});
