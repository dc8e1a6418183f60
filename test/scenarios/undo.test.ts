import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { undoJobId, workItemId } from "../../lib/identity.ts";
import { parseJsonObject } from "../../lib/json.ts";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { cellsOf } from "../../lib/uploads/csv/csv-text.ts";
import { COMMA } from "../../lib/uploads/csv/delimiter.ts";
import { createReadEndedJobs } from "../../lib/webhooks/notify-webhooks.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createUploadService, dataOf, MINUTE_MS, type UploadService } from "../support/uploads/upload-service.ts";

const DAY_MS = 86_400_000;

let shared: TestRuntime;
let uploads: UploadService;
beforeAll(async () => {
  shared = await createTestRuntime();
});
beforeEach(async () => {
  uploads = await createUploadService(shared);
});

const idOf = (name: string) => workItemId(uploads.organization.id, name);
const ask = (id: string, dryRun = false) =>
  uploads.call("undoWorkItemUpload", { params: { id }, ...(dryRun && { body: { undo: { dry_run: true } } }) });
/** Asks for an undo and runs it until it has ended. */
const undo = async (id: string, dryRun = false) => {
  const { status, body, text } = await ask(id, dryRun);
  expect({ status, text }).toMatchObject({ status: 202 });
  uploads.clock.advance(CLAIM_MS);
  return uploads.finish(body.data.id);
};
/** The results of an undo, by row: the outcome and, if something stays, why and which fields. */
const outcomes = async (id: string) => {
  const text = await (await fetch((await uploads.results(id)).url!)).text();
  const [header, ...lines] = text.replace("\uFEFF", "").trimEnd().split("\n");
  expect(header).toMatch(/^_row,external_id,id,outcome,kept(,changes)?$/);
  return lines.map((line) => {
    const [, name = "", itemId, outcome, kept] = cellsOf(line, COMMA);
    expect(itemId).toBe(name && idOf(name));
    return [name, outcome, ...(kept ? [parseJsonObject(kept)] : [])];
  });
};
const get = async (name: string) => {
  const { status, body } = await uploads.call("getWorkItem", { params: { id: idOf(name) } });
  return status === 200 ? body.data : undefined;
};
const apply = async (...items: readonly object[]) => {
  const { body } = await uploads.call("applyWorkItemBatch", { body: { work_items: items } });
  expect(body.data.summary.error).toBe(0);
};
const patch = (name: string, work_item: object) =>
  uploads.call("updateWorkItem", { params: { id: idOf(name) }, body: { work_item } });
const remove = (name: string) => uploads.call("deleteWorkItem", { params: { id: idOf(name) } });
const EVENTS = {
  fields: { external_id: { column: "id" }, type: { column: "type" } },
  event: { external_id: { column: "event" }, content: { column: "text" } },
};

it("an event of another system on an imported item doesn't reject a change that was made to the item as it is", async () => {
  await uploads.run("external_id,type\na,imported\n");
  const params = { id: idOf("a") };
  const { headers } = await uploads.call("getWorkItem", { params });
  for (const external_id of ["e", "f"])
    await uploads.call("upsertWorkItemEvent", { params, body: { event: { external_id } } });
  const ifMatch = { headers: { "If-Match": headers["etag"]! } };
  const body = { work_item: { type: "changed" } };
  const changed = await uploads.call("updateWorkItem", { params, body, ...ifMatch });
  expect(changed.status).toBe(200);
  expect((await uploads.call("updateWorkItem", { params, body, ...ifMatch })).status).toBe(412);
  const again = { headers: { "If-Match": changed.headers["etag"]! } };
  expect((await uploads.call("deleteWorkItem", { params, ...again })).status).toBe(200);
});

it("a dry run of a batch restores a deleted item with its events, whatever an upload did to it", async () => {
  await uploads.run("external_id,type\na,imported\n");
  await remove("a");
  const work_items = [{ external_id: "a", status: "pending", events: [{ external_id: "e" }] }];
  const tried = await uploads.call("applyWorkItemBatch", { body: { work_items, dry_run: true } });
  const applied = await uploads.call("applyWorkItemBatch", { body: { work_items } });
  expect(applied.body.data.summary).toMatchObject({ restored: 1, error: 0 });
  expect(tried.body.data.summary).toEqual(applied.body.data.summary);
});

describe("the undo of an upload", () => {
  it("deletes what the upload created, and puts back what it changed", async () => {
    const attributes = '{"n":0.10000000000000000001,"kept":1,"gone":null}';
    await apply({ external_id: "updated", status: "in_progress", agent_name: "Ann" });
    await uploads.call("applyWorkItemBatch", {
      body: `{"work_items":[{"external_id":"updated","custom_attributes":${attributes}}]}`,
    });
    const before = (await get("updated"))!;
    const text = (await uploads.call("getWorkItem", { params: { id: before.id } })).text;
    const { id } = await uploads.run(
      "external_id,status,completed_at,custom_attributes.n,custom_attributes.gone,custom_attributes.new\n" +
        "created,,,,,\nupdated,,2026-01-31T09:30:00Z,1,2,3\n",
    );
    expect(await get("created")).toBeDefined();
    const job = await undo(id);
    expect(job).toMatchObject({
      status: "completed",
      undo_of: id,
      dry_run: false,
      total_rows: 2,
      succeeded_rows: 2,
      failed_rows: 0,
      deleted_rows: 1,
      undone_rows: 1,
      partly_undone_rows: 0,
      kept_rows: 0,
      created_rows: 0,
      updated_rows: 0,
      unchanged_rows: 0,
      restored_rows: 0,
    });
    expect(await get("created")).toBeUndefined();
    const after = (await get("updated"))!;
    expect({ ...after, updated_at: 0 }).toEqual({ ...before, updated_at: 0 });
    expect(after.updated_at > before.updated_at).toBe(true);
    expect((await uploads.call("getWorkItem", { params: { id: before.id } })).text).toContain(
      text.slice(text.indexOf('"custom_attributes"'), text.indexOf('"short_description"')),
    );
    expect(await outcomes(job.id)).toEqual([
      ["created", "deleted"],
      ["updated", "undone"],
    ]);
    expect(await uploads.get(id)).not.toHaveProperty("undo_of");
  });

  it("keeps what others have changed since, even if they changed it back, and names it", async () => {
    await apply({ external_id: "a", type: "call" }, { external_id: "b" });
    const { id } = await uploads.run(
      "external_id,type,agent_name,custom_attributes.team\na,chat,Bob,south\nb,,Bob,\nmade,,Bob,\nused,,Bob,\n",
    );
    await patch("a", { type: "call" });
    await patch("a", { type: "chat" });
    await patch("b", { agent_name: "Cid" });
    await patch("made", { custom_attributes: { team: "north" } });
    await uploads.call("upsertWorkItemEvent", { params: { id: idOf("used") }, body: { event: { external_id: "e" } } });
    const job = await undo(id);
    expect(job).toMatchObject({ undone_rows: 0, partly_undone_rows: 1, kept_rows: 3, succeeded_rows: 4 });
    expect(await get("a")).toMatchObject({ type: "chat", agent: { name: null }, custom_attributes: {} });
    expect(await get("b")).toMatchObject({ agent: { name: "Cid" } });
    expect(await get("made")).toMatchObject({ agent: { name: "Bob" }, custom_attributes: { team: "north" } });
    expect(await get("used")).toMatchObject({ agent: { name: "Bob" }, events: [{ external_id: "e" }] });
    expect(await outcomes(job.id)).toEqual([
      ["a", "partly", { reason: "changed", fields: { type: { imported: "chat", now: "chat" } } }],
      ["b", "kept", { reason: "changed", fields: { agent_name: { imported: "Bob", now: "Cid" } } }],
      ["made", "kept", { reason: "in_use", fields: {} }],
      ["used", "kept", { reason: "in_use_by_event", fields: {} }],
    ]);
  });

  it("says of a restored item that stays whether it or an event of it is in use", async () => {
    const names = ["changed", "other", "event", "free"];
    await apply(...names.map((external_id) => ({ external_id, type: "call" })));
    for (const name of names) await remove(name);
    const { id } = await uploads.run(`external_id,type\n${names.map((name) => `${name},chat\n`).join("")}`);
    await patch("changed", { type: "mail" });
    await patch("other", { status: "completed" });
    await uploads.call("upsertWorkItemEvent", { params: { id: idOf("event") }, body: { event: { external_id: "e" } } });
    const job = await undo(id);
    expect(await outcomes(job.id)).toEqual([
      ["changed", "kept", { reason: "in_use", fields: { type: { imported: "chat", now: "mail" } } }],
      ["other", "partly", { reason: "in_use", fields: {} }],
      ["event", "partly", { reason: "in_use_by_event", fields: {} }],
      ["free", "undone"],
    ]);
  });

  it("names a status that followed from the row's completion", async () => {
    await apply({ external_id: "a" });
    const { id } = await uploads.run("external_id,completed_at\na,2026-01-31T09:30:00Z\n");
    await patch("a", { status: "cancelled" });
    const job = await undo(id);
    const fields = { status: { imported: "completed", now: "cancelled" } };
    expect(await outcomes(job.id)).toEqual([["a", "partly", { reason: "changed", fields }]]);
  });

  it("names the date of an item that the file completed, if the item keeps it and isn't completed any more", async () => {
    const now = "2026-02-01T09:30:00.000Z";
    await apply(
      { external_id: "patched", type: "call" },
      { external_id: "imported" },
      { external_id: "both" },
      { external_id: "before", status: "cancelled", completed_at: now },
      { external_id: "not completed" },
      { external_id: "not dated" },
    );
    const { id } = await uploads.run(
      "external_id,status,completed_at,type\n" +
        "patched,completed,,\npatched,,,chat\nimported,completed,,\nboth,completed,2026-01-31T09:30:00Z,\n" +
        "before,completed,,\nnot completed,in_progress,,\nnot dated,completed,,\n",
    );
    for (const name of ["patched", "both"]) await patch(name, { completed_at: now });
    await uploads.run(`external_id,completed_at\nimported,${now}\n`);
    await patch("not completed", { completed_at: now, status: "in_progress" });
    const dry = await undo(id, true);
    const job = await undo(id);
    expect(job).toMatchObject({ undone_rows: 6, partly_undone_rows: 1, kept_rows: 0 });
    expect(await get("patched")).toMatchObject({ status: "pending", completed_at: now, type: "call" });
    const named = { reason: "not_completed", fields: { completed_at: { now, status: "pending" } } };
    const both = { imported: "2026-01-31T09:30:00.000Z", now, status: "pending" };
    expect(await outcomes(job.id)).toEqual([
      ["patched", "undone", named],
      // The item's other row has completed it.
      ["patched", "undone", { reason: "not_completed", fields: {} }],
      ["imported", "undone", named],
      ["both", "partly", { reason: "changed", fields: { completed_at: both } }],
      ["before", "undone", { reason: "not_completed", fields: { completed_at: { now, status: "cancelled" } } }],
      ["not completed", "undone"],
      ["not dated", "undone"],
    ]);
    expect(await outcomes(dry.id)).toEqual(await outcomes(job.id));
  });

  it("undoes events, and shows those that the upload created as deleted until they are saved again", async () => {
    await apply({ external_id: "a", events: [{ external_id: "old", content: "before" }] });
    const { id } = await uploads.runMapped(
      "id,type,event,text\na,work_item,old,after\na,work_item,new,x\na,work_item,others,x\nmade,,first,x\n",
      EVENTS,
    );
    const event = { external_id: "others", content: "mine" };
    await uploads.call("upsertWorkItemEvent", { params: { id: idOf("a") }, body: { event } });
    const job = await undo(id);
    expect(job).toMatchObject({ total_rows: 4, deleted_rows: 1, undone_rows: 2, kept_rows: 1 });
    expect(await get("made")).toBeUndefined();
    const { events } = (await get("a"))!;
    const byName = Object.fromEntries(events.map((each) => [each.external_id, each]));
    expect(byName).toMatchObject({
      old: { content: "before" },
      new: { deleted_at: expect.stringMatching(/Z$/) },
      others: { content: "mine" },
    });
    expect(byName["new"]).not.toHaveProperty("content");
    for (const name of ["old", "others"]) expect(byName[name]).not.toHaveProperty("deleted_at");
    expect(await outcomes(job.id)).toEqual([
      ["a", "undone"],
      ["a", "undone"],
      ["a", "kept", { reason: "changed", fields: { "events.others.content": { imported: "x", now: "mine" } } }],
      ["made", "deleted"],
    ]);
    const again = { event: { external_id: "new", content: "again" } };
    const response = await uploads.call("upsertWorkItemEvent", { params: { id: idOf("a") }, body: again });
    expect(response).toMatchObject({ status: 200, body: { data: { content: "again" } } });
    expect(response.body.data).not.toHaveProperty("deleted_at");
  });

  it("undoes more events of one item than are read at once", async () => {
    const rows = Array.from({ length: 450 }, (_, row) => `one,,e${row},x`);
    await apply({ external_id: "one", type: "work_item" });
    const { id } = await uploads.runMapped(`id,type,event,text\n${rows.join("\n")}\n`, EVENTS);
    expect((await get("one"))!.events).toHaveLength(450);
    expect(await undo(id)).toMatchObject({ total_rows: 450, undone_rows: 450 });
    expect((await get("one"))!.events.every((event) => event.deleted_at !== undefined)).toBe(true);
  });

  it("keeps what is no longer known after three later uploads, and says so", async () => {
    await apply({ external_id: "a" });
    const ids: string[] = [];
    for (const type of ["1", "2", "3", "4"]) {
      ids.push((await uploads.run(`external_id,type\na,${type}\n`)).id);
      uploads.clock.advance(1000);
    }
    const job = await undo(ids[0]!);
    expect(job).toMatchObject({ kept_rows: 1 });
    expect(await outcomes(job.id)).toEqual([["a", "dropped", { reason: "forgotten", fields: {} }]]);
    expect(await get("a")).toMatchObject({ type: "4" });
  });

  it("of an upload that failed before it applied anything has no rows", async () => {
    const { id, status } = await uploads.run("external_id;type\na;b\n");
    expect(status).toBe("failed");
    expect(await undo(id)).toMatchObject({ status: "completed", total_rows: 0 });
  });

  it("moves the item's version", async () => {
    const { id } = await uploads.run("external_id,type\na,b\n");
    const etag = (await uploads.call("getWorkItem", { params: { id: idOf("a") } })).headers["etag"]!;
    await undo(id);
    await apply({ external_id: "a" });
    const body = { work_item: { type: "c" } };
    const request = { params: { id: idOf("a") }, body, headers: { "If-Match": etag } };
    expect((await uploads.call("updateWorkItem", request)).status).toBe(412);
  });
});

describe("a dry run of an undo", () => {
  it("says what the undo will do, saves nothing, and is a job of its own", async () => {
    await apply({ external_id: "a", type: "call" }, { external_id: "b" });
    const { id } = await uploads.run("external_id,type,agent_name\na,chat,Bob\nb,chat,\nmade,,\n");
    await patch("a", { type: "mail" });
    const before = await Promise.all(["a", "b", "made"].map(get));
    const dry = await undo(id, true);
    expect(dry).toMatchObject({ dry_run: true, undo_of: id, deleted_rows: 1, undone_rows: 1, partly_undone_rows: 1 });
    expect(await Promise.all(["a", "b", "made"].map(get))).toEqual(before);
    expect((await undo(id, true)).id).not.toBe(dry.id);
    const real = await undo(id);
    expect(real.id).not.toBe(dry.id);
    expect(await outcomes(real.id)).toEqual(await outcomes(dry.id));
    const changes = (await uploads.resultLines(dry.id)).map((line) => cellsOf(line, COMMA)[5]);
    expect(changes).toEqual([
      '{"agent_name":{"from":"Bob","to":null}}',
      '{"type":{"from":"chat","to":"work_item"}}',
      "",
    ]);
    const { id: _a, dry_run: _b, created_at: _c, updated_at: _d, ...counted } = dry;
    expect(real).toMatchObject(counted);
  });
});

describe("a request to undo", () => {
  it("has one job, however often and however fast it is repeated", async () => {
    const { id } = await uploads.run("external_id\na\n");
    const ids = (await Promise.all([ask(id), ask(id), ask(id)])).map(({ body }) => body.data.id);
    const undoId = undoJobId(uploads.organization.id, id);
    expect(ids).toEqual([undoId, undoId, undoId]);
    uploads.clock.advance(CLAIM_MS);
    await uploads.harness.drain();
    expect(await uploads.get(undoId)).toMatchObject({ status: "completed", deleted_rows: 1 });
    expect((await ask(id)).body.data).toMatchObject({ id: undoId, status: "completed" });
    const { data } = (await uploads.call("listWorkItemUploads")).body;
    expect(new Map(data.map((job) => [job.id, [job.undo_of, job.undone_by]]))).toEqual(
      new Map([
        [undoId, [id, undefined]],
        [id, [undefined, undoId]],
      ]),
    );
  });

  it("starts another undo after one that was cancelled, which does the rest", async () => {
    const { id } = await uploads.run("external_id\na\nb\n");
    const cancelled = dataOf(await ask(id));
    expect((await uploads.call("cancelWorkItemUpload", { params: { id: cancelled.id } })).status).toBe(200);
    await uploads.harness.drain();
    expect(await uploads.get(cancelled.id)).toMatchObject({ status: "cancelled", deleted_rows: 0 });
    expect(await uploads.get(id)).toMatchObject({ undone_by: cancelled.id });
    const ids = (await Promise.all([ask(id), ask(id)])).map(({ body }) => body.data.id);
    expect(ids).toEqual(Array(2).fill(undoJobId(uploads.organization.id, id, 2)));
    uploads.clock.advance(CLAIM_MS);
    expect(await uploads.finish(ids[0]!)).toMatchObject({ status: "completed", deleted_rows: 2, undo_of: id });
    expect(await get("a")).toBeUndefined();
    expect((await ask(id)).body.data).toMatchObject({ id: ids[0], status: "completed" });
    expect(await uploads.get(id)).toMatchObject({ undone_by: ids[0] });
    const { data } = (await uploads.call("listWorkItemUploads")).body;
    expect(data.find((job) => job.id === id)).toMatchObject({ undone_by: ids[0] });
  });

  it("starts ten undos of an upload at most", async () => {
    const { id } = await uploads.run("external_id\na\n");
    const ids = new Set<string>();
    for (let attempt = 1; attempt <= 10; attempt++) {
      const { data } = (await ask(id)).body;
      ids.add(data.id);
      await uploads.call("cancelWorkItemUpload", { params: { id: data.id } });
      await uploads.harness.drain();
    }
    expect(ids.size).toBe(10);
    expect(await ask(id)).toMatchObject({ status: 409, body: { error: expect.stringContaining("10 undos") } });
    expect(await uploads.get(id)).toMatchObject({ undone_by: [...ids].at(-1) });
    expect((await undo(id, true)).deleted_rows).toBe(1);
  });

  it("has one trial at a time, whose lists can be fetched for a day", async () => {
    const { id } = await uploads.run("external_id\na\n");
    const asked = await Promise.all(Array.from({ length: 5 }, () => ask(id, true)));
    const ids = new Set(asked.map(({ body }) => body.data.id));
    expect(ids.size).toBe(1);
    const [trial = ""] = ids;
    await uploads.harness.drain();
    expect(await uploads.get(trial)).toMatchObject({ status: "completed", deleted_rows: 1 });
    for (let more = 0; more < 11; more++) ids.add((await undo(id, true)).id);
    expect(ids.size).toBe(12);
    expect((await uploads.results(trial)).url).toMatch(/\.trials/);
    uploads.clock.advance(DAY_MS + MINUTE_MS);
    expect(await uploads.results(trial)).toEqual({ url: null, expires_at: null, rows: 1 });
  });

  it("says when it can begin, 40 seconds after the upload ended, and then begins", async () => {
    const { id } = await uploads.run("external_id\na\n");
    const { updated_at: endedAt } = await uploads.get(id);
    expect((await ask(id, true)).body.data).not.toHaveProperty("begins_at");
    const { data: asked } = (await ask(id)).body;
    const beginsAt = new Date(Date.parse(endedAt) + 40_000).toISOString();
    expect(asked).toMatchObject({ status: "pending", begins_at: beginsAt });
    await uploads.harness.drain();
    expect(await uploads.get(asked.id)).toMatchObject({ status: "pending", begins_at: beginsAt });
    uploads.clock.advance(Date.parse(beginsAt) - uploads.clock());
    await uploads.finish(asked.id);
    expect(await uploads.get(asked.id)).toMatchObject({ status: "completed", begins_at: beginsAt, deleted_rows: 1 });
    const { organization, runtime } = uploads;
    const told = await createReadEndedJobs(runtime)(organization.id, [id, asked.id]);
    const counters = { deleted_rows: 1, partly_undone_rows: 0, kept_rows: 0 };
    expect(told.find((job) => job.id === asked.id)).toMatchObject({ undo_of: id, ...counters });
    expect(told.find((job) => job.id === id)).not.toHaveProperty("deleted_rows");
  });

  it("and its upload offer their lists for 35 days", async () => {
    const { id } = await uploads.run("external_id\na\n");
    const { id: undoId } = await undo(id);
    uploads.clock.advance(35 * DAY_MS - MINUTE_MS);
    for (const job of [id, undoId]) expect((await uploads.results(job)).url).not.toBe(null);
    uploads.clock.advance(2 * MINUTE_MS);
    for (const job of [id, undoId])
      expect(await uploads.results(job)).toEqual({ url: null, expires_at: null, rows: 1 });
  });

  it("shows on the upload which job undoes it, and not on dry runs and undos", async () => {
    const { id } = await uploads.run("external_id\na\n");
    expect(await uploads.get(id)).not.toHaveProperty("undone_by");
    const dry = await undo(id, true);
    expect(await uploads.get(id)).not.toHaveProperty("undone_by");
    const real = await undo(id);
    expect(await uploads.get(id)).toMatchObject({ undone_by: real.id });
    for (const job of [dry, real]) expect(await uploads.get(job.id)).not.toHaveProperty("undone_by");
  });

  it("is refused while the upload runs, for dry runs and for undos", async () => {
    const open = dataOf(await uploads.post("external_id\na\n"));
    expect(await ask(open.id)).toMatchObject({ status: 409, body: { error: expect.stringContaining("hasn't ended") } });
    const dry = dataOf(await uploads.post("external_id\na\n", { dry_run: true }));
    await uploads.finish(dry.id);
    expect(await ask(dry.id)).toMatchObject({ status: 409, body: { error: expect.stringContaining("a dry run") } });
    await uploads.finish(open.id);
    const done = await undo(open.id);
    expect(await ask(done.id)).toMatchObject({ status: 409, body: { error: expect.stringContaining("is an undo") } });
  });

  it("is refused 28 days after the upload has ended, but finds an undo that was asked for before", async () => {
    const { id } = await uploads.run("external_id\na\n");
    const other = await uploads.run("external_id\nb\n");
    const known = await undo(other.id);
    uploads.clock.advance(28 * DAY_MS + MINUTE_MS);
    expect(await ask(id)).toMatchObject({ status: 410, body: { error: expect.stringContaining("28 days") } });
    expect(await ask(id, true)).toMatchObject({ status: 410 });
    expect((await ask(other.id)).body.data.id).toBe(known.id);
  });
});
