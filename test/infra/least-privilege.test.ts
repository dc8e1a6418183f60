import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import type { APIGatewayProxyResult, DynamoDBRecord, SQSBatchResponse } from "aws-lambda";
import { beforeAll, expect, test } from "vitest";
import { allRoutes, routes } from "../../functions/routes.ts";
import type { Route } from "../../lib/http/route.ts";
import { workItemEventId, workItemId } from "../../lib/identity.ts";
import { createUploadObjects, objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { UploadStore } from "../../lib/uploads/job/upload-store.ts";
import { changeOrganization } from "../../apps/operator/data/administration.ts";
import { organizationRecordKey } from "../../lib/organizations/access-store.ts";
import { eventKeyOf } from "../../lib/work-items/work-item-record.ts";
import { workers } from "../../functions/workers.ts";
import { createEraseExpired } from "../../lib/retention/retention-run.ts";
import { restrictedRuntime } from "./restricted-runtime.ts";
import { createQueueDelivery } from "../support/changes-queue.ts";
import { createTestClock } from "../support/clock.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { exampleBodyOf } from "../support/openapi/example-body.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../support/organization.ts";
import { createRestrictedFunctions, granted } from "./restricted-functions.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { streamEvent, streamRecord } from "../support/stream.ts";
import { s3Event, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { overwrite } from "../support/customer-data.ts";

let deployed: Awaited<ReturnType<typeof createRestrictedFunctions>>;
let runtime: TestRuntime;
let key: string;
let organization: string;
const clock = createTestClock();
/** A worker takes on nothing new 30 s before its end: after one slow call, since the test's clock stands still otherwise. */
const SLOW_MS = 1000;
const WORKER_MS = 30_000 + SLOW_MS;
const REFUSAL = { httpStatusCode: 503, attempts: 1 };
let slow: string | undefined;
let refused: string | undefined;

const invoke = async (name: string, event: unknown): Promise<unknown> => {
  const handler = deployed.functions.get(name);
  if (handler === undefined) throw new Error(`${name} is not deployed`);
  return handler(event, lambdaContext(WORKER_MS));
};
/** Makes calls of this action slow, so that a worker's time ends. */
const whileSlow = async <T>(action: string, work: () => Promise<T>): Promise<T> => {
  slow = action;
  const result = await work();
  slow = undefined;
  return result;
};
/** Lets AWS refuse calls of this action. */
const whileRefused = async (action: string, work: () => Promise<unknown>): Promise<void> => {
  refused = action;
  await work();
  refused = undefined;
};
/** Sends a request; the response must not be a 5xx, which would hide a refused permission. @returns status and body */
const request = async (route: Route, rest: ApiRequest = {}): Promise<{ status: number; data: { id: string } }> => {
  const event = apiEvent({ method: route.method, resource: route.path, key, ...rest });
  const { statusCode: status, body } = (await invoke(route.name, event)) as APIGatewayProxyResult;
  expect([route.name, status, body]).toEqual([route.name, expect.toSatisfy((code: number) => code < 500), body]);
  return { status, ...(JSON.parse(body) as { data: { id: string } }) };
};

/** Receives and deletes the messages of a queue. @returns their bodies */
const take = async (queueUrl: string): Promise<readonly unknown[]> => {
  const { Messages = [] } = await runtime.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
  );
  for (const { ReceiptHandle } of Messages) {
    await runtime.sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  }
  return Messages.map(({ Body }) => Body);
};
const deliver = async (queueUrl: string, name: string): Promise<number> => {
  const bodies = await take(queueUrl);
  for (const body of bodies) {
    expect(((await invoke(name, sqsEvent(body))) as SQSBatchResponse).batchItemFailures).toEqual([]);
  }
  return bodies.length;
};
const drain = async (): Promise<void> => {
  const { SPLIT_QUEUE_URL: splits, CHUNKS_QUEUE_URL: chunks } = runtime.environment;
  while ((await deliver(splits, "split-upload")) + (await deliver(chunks, "apply-upload-chunk")) > 0);
};

const csv = (rows: readonly string[]): Buffer => Buffer.from(["external_id,status", ...rows].join("\n"));
const upload = async (file: Buffer, idempotencyKey: string = randomUUID(), dryRun = false): Promise<string> => {
  const form = new FormData();
  form.append("upload[dry_run]", String(dryRun));
  form.append("upload[file]", new Blob([new Uint8Array(file)], { type: "text/csv" }), "items.csv");
  const encoded = new Response(form);
  const { data } = await request(routes.uploadWorkItems, {
    body: Buffer.from(await encoded.arrayBuffer()),
    headers: { "Content-Type": encoded.headers.get("content-type") ?? "", "Idempotency-Key": idempotencyKey },
  });
  return data.id;
};

beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  const made = await createTestOrganization(runtime);
  key = made.key;
  organization = made.organization.id;
  deployed = await createRestrictedFunctions(runtime, (action) => {
    if (action === slow) clock.advance(SLOW_MS);
    if (action === refused) throw Object.assign(new Error("injected"), { name: "SlowDown", $metadata: REFUSAL });
  });
});

test("work items are made, read, changed, listed and deleted with no more than each function's policy", async () => {
  const { createWorkItem, applyWorkItemBatch, getWorkItem, updateWorkItem, deleteWorkItem } = routes;
  const work_item = { external_id: "first", events: [{ external_id: "opened" }] };
  const headers = { "Idempotency-Key": "once" };
  const { data: item } = await request(createWorkItem, { body: { work_item }, headers });
  await request(createWorkItem, { body: { work_item }, headers });
  const work_items = Array.from({ length: 30 }, (_, index) => ({
    ...work_item,
    external_id: index ? `item-${index}` : "first",
  }));
  for (const type of ["incident", "incident", "problem"]) {
    await request(applyWorkItemBatch, { body: { work_items: work_items.map((each) => ({ ...each, type })) } });
  }
  const params = { id: item.id };
  await invoke("record-qa-score", { organization, external_id: "first", qa_score: 0.5 });
  // Of several simultaneous updates, some fail their condition and read again.
  const updates = Array.from({ length: 8 }, (_, index) => ({
    work_item: { type: `type-${index}`, status: "completed" },
  }));
  await Promise.all(updates.map((body) => request(updateWorkItem, { params, body })));
  await request(routes.upsertWorkItemEvent, { params, body: { event: { external_id: "opened", content: "again" } } });
  await request(routes.upsertWorkItemEvent, { params, body: { event: { external_id: "closed" } } });
  const event = { ...params, event_id: workItemEventId(item.id, "closed") };
  await request(routes.deleteWorkItemEvent, { params: event });
  await request(routes.listWorkItemEvents, { params });
  await request(getWorkItem, { params });
  for (const query of [{ limit: 5 }, { external_id: "first" }, { status: "completed" }]) {
    await request(routes.listWorkItems, { query });
  }
  const { getWorkItemBatch, deleteWorkItemBatch } = routes;
  await request(getWorkItemBatch, { body: { external_ids: ["first", "none"] } });
  for (const external_ids of [["item-1", "item-2"], ["item-3"]]) {
    await request(deleteWorkItemBatch, { body: { external_ids } });
  }
  for (const expected of [200, 200]) expect((await request(deleteWorkItem, { params })).status).toBe(expected);
  for (const route of [getWorkItem, deleteWorkItem]) await request(route, { params: { id: randomUUID() } });
  await request(applyWorkItemBatch, { body: { work_items } });
  expect(deployed.refused).toEqual([]);
});

test("changes are recorded, swept and read with no more than each function's policy", async () => {
  const item = (name: string) => streamRecord(`ITEM#${organization}#${workItemId(organization, name)}`, clock());
  const old = streamRecord("HEARTBEAT#1", clock() - 23.5 * HOUR_MS);
  const queue = createQueueDelivery(runtime, (event) => invoke("append-changes", event) as Promise<SQSBatchResponse>);
  const record = async (...records: DynamoDBRecord[]) => {
    const response = await invoke("record-changes", streamEvent(...records));
    await queue.drain();
    return response;
  };
  expect(await record(item("first"), old)).toEqual({ batchItemFailures: [] });
  await record(item("second"), streamRecord("HEARTBEAT#2", clock()));
  await invoke("sweep-changes", {});
  clock.advance(HOUR_MS);
  for (const query of [{}, { include: "events" }, { after: "now" }]) {
    await request(routes.listWorkItemChanges, { query });
  }
  const { meta } = (await request(routes.listWorkItemChanges, { query: { after: "now" } })) as unknown as {
    meta: { page: { next: string } };
  };
  await record(item("first"));
  await request(routes.listWorkItemChanges, { query: { after: meta.page.next } });

  const { CHANGES_QUEUE_URL: QueueUrl } = runtime.environment;
  const damage = (value: unknown) =>
    overwrite(runtime, "ACCESS_TABLE", organizationRecordKey(organization), "changes_from", value);
  await damage("damaged");
  await record(item("waits"));
  await damage(1);
  await queue.endDelays();
  await queue.drain();
  await damage("damaged");
  await record(item("lost"));
  clock.advance(HOUR_MS);
  await queue.endDelays();
  await queue.drain();
  expect(await queue.waiting()).toBe(0);
  await damage(1);
  const unreadable = { MessageBody: "{}", MessageGroupId: organization, MessageDeduplicationId: "1" };
  await runtime.sqs.send(new SendMessageCommand({ QueueUrl, ...unreadable }));
  await queue.drain();
  await invoke("sweep-changes", {});
  expect(deployed.refused).toEqual([]);
});

test("webhooks are managed, rung and swept with no more than each function's policy", async () => {
  clock.advance(HOUR_MS);
  const created = { body: { webhook: { url: "https://localhost:4000/hook" } }, headers: { "Idempotency-Key": "hook" } };
  const { data } = await request(routes.createWebhook, created);
  expect((await request(routes.createWebhook, created)).data).toEqual(data);
  const params = { id: data.id };
  await request(routes.listWebhooks);
  await request(routes.getWebhook, { params });
  await request(routes.updateWebhook, { params, body: created.body });
  await request(routes.rotateWebhookSecret, { params });
  await request(routes.testWebhook, { params });

  const cancelled = await formOf();
  await request(routes.cancelWorkItemUpload, { params: { id: cancelled } });
  const written = [
    streamRecord(`ITEM#${organization}#${workItemId(organization, "first")}`, clock()),
    streamRecord(`UPLOAD#${organization}#${cancelled}`, clock()),
    streamRecord("HEARTBEAT#1", clock() - 23.5 * HOUR_MS),
  ];
  await invoke("record-changes", streamEvent(...written));
  const queue = createQueueDelivery(runtime, (event) => invoke("append-changes", event) as Promise<SQSBatchResponse>);
  await queue.drain();
  const ring = async () => {
    while ((await deliver(runtime.environment.WEBHOOKS_QUEUE_URL, "deliver-webhooks")) > 0);
  };
  await ring();
  await invoke("sweep-changes", {});
  clock.advance(HOUR_MS);
  await invoke("sweep-webhooks", {});
  await ring();
  const { data: shown } = await request(routes.getWebhook, { params });
  expect(shown).toMatchObject({ last_delivery: { reason: "the host has an address of a private network" } });
  await request(routes.updateWebhook, { params, body: { webhook: { enabled: true } } });
  await ring();
  await request(routes.resendWebhook, { params });
  await ring();
  await request(routes.testWebhook, { params });
  await request(routes.deleteWebhook, { params });
  expect(deployed.refused).toEqual([]);
});

test("expired items are erased with no more than the function's policy", async () => {
  // More than go with the item.
  const events = Array.from({ length: 99 }, (_, index) => ({ external_id: `${index}` }));
  const body = { work_items: [{ external_id: "expired", events }] };
  await request(routes.applyWorkItemBatch, { body });
  await changeOrganization(runtime, organization, { retention_days: 1 });
  clock.advance(48 * HOUR_MS);
  const late = { ...eventKeyOf(organization, workItemId(organization, "expired"), "late"), version: 1, writes: "1:a" };
  const { permissions } = workers.eraseExpired;
  const restricted = restrictedRuntime(runtime, permissions, ({ resource, action }, isAllowed) => {
    deployed.used.get("erase-expired")?.add(`${resource} ${action}`);
    if (!isAllowed) deployed.refused.push(action);
  });
  // While it waits for its second look, an event comes late.
  const passTime = async (milliseconds: number): Promise<void> => {
    await runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Item: late }));
    clock.advance(milliseconds);
  };
  await createEraseExpired(restricted, passTime)(clock() + HOUR_MS);
  await invoke("erase-expired", {});
  const { status } = await request(routes.getWorkItem, { params: { id: workItemId(organization, "expired") } });
  expect(status).toBe(404);
  await changeOrganization(runtime, organization, { retention_days: 0 });
  expect(deployed.refused).toEqual([]);
});

test("health is checked with no more than its function's policy", async () => {
  await request(routes.getHealth);
  await request(routes.getOpenapiDocument);
  const template = apiEvent({ resource: routes.getWorkItemUploadTemplate.path });
  expect(await invoke(routes.getWorkItemUploadTemplate.name, template)).toMatchObject({ statusCode: 200 });
  expect(deployed.refused).toEqual([]);
});

test("conversation uploads are recorded and read with no more than each function's policy", async () => {
  const payload = { organization, external_id: "call", source: "phone" };
  const recorded = (await invoke("record-conversation-upload", { ...payload, status: "pending" })) as { id: string };
  await invoke("record-conversation-upload", { ...payload, status: "completed" });
  for (const query of [{}, { external_id: "call" }]) await request(routes.listConversationUploads, { query });
  await request(routes.getConversationUpload, { params: { id: recorded.id } });
  expect(deployed.refused).toEqual([]);
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const job = (id: string) => ({ organization, id });
const statusOf = async (id: string): Promise<string> => {
  const { data } = await request(routes.getWorkItemUpload, { params: { id } });
  return (data as { id: string; status: string }).status;
};
/** Every tenth row fails. */
const rows = (count: number, status = "pending"): Buffer =>
  csv(Array.from({ length: count }, (_, index) => `row-${index},${index % 10 === 0 ? "lost" : status}`));
const split = (id: string) => invoke("split-upload", sqsEvent(splitMessage(job(id))));

const formOf = async (size = 100): Promise<string> =>
  (await request(routes.uploadWorkItems, { body: { upload: { filename: "items.csv", size } } })).data.id;

test("uploads are split and applied with no more than each function's policy", async () => {
  const applied = await upload(rows(40), "once");
  expect(await upload(rows(40), "once")).toBe(applied);
  await invoke("split-upload", sqsEvent(s3Event(job(applied))));
  await drain();
  expect(await statusOf(applied)).toBe("completed");
  await request(routes.getWorkItemUploadFailedRows, { params: { id: applied } });
  await request(routes.getWorkItemUploadResults, { params: { id: applied } });
  await request(routes.listWorkItemUploads);

  clock.advance(MINUTE_MS);
  const { data: undo } = await request(routes.undoWorkItemUpload, { params: { id: applied } });
  await drain();
  expect(await statusOf(undo.id)).toBe("completed");

  await split(await upload(rows(40, "completed")));
  await drain();
  const tried = await upload(rows(40, "cancelled"), "tried", true);
  await split(tried);
  await drain();
  expect(await statusOf(tried)).toBe("completed");
  expect(deployed.refused).toEqual([]);
});

/** A job of which a worker has applied the first rows, and left the others to the next. */
const halfDone = async (dryRun = false): Promise<string> => {
  const id = await upload(rows(2500), undefined, dryRun);
  await split(id);
  await whileSlow("PutObject", () => deliver(runtime.environment.CHUNKS_QUEUE_URL, "apply-upload-chunk"));
  expect(await statusOf(id)).toBe("processing");
  return id;
};

test("jobs whose rows wait for another worker can be cancelled or swept with no more than each function's policy", async () => {
  const { CHUNKS_QUEUE_URL: chunks } = runtime.environment;
  const cancelled = await halfDone();
  await take(chunks);
  // Only a worker may write the lists of rows; the function sends it a message and waits.
  const cancelling = request(routes.cancelWorkItemUpload, { params: { id: cancelled } });
  while ((await deliver(chunks, "apply-upload-chunk")) === 0) await sleep(10);
  await cancelling;
  expect(await statusOf(cancelled)).toBe("cancelled");
  const withoutRows = await formOf(5 * 1024 ** 3);
  // Afterwards the next look for its file is more than a minute away.
  clock.advance(HOUR_MS);
  await invoke("sweep-uploads", {});
  await request(routes.cancelWorkItemUpload, { params: { id: withoutRows } });
  expect(await statusOf(withoutRows)).toBe("cancelled");

  const held = await halfDone();
  await take(chunks);
  const store = new UploadStore(runtime);
  const snapshot = (await store.read(job(held)))!;
  await store.shards.claim(snapshot.job, snapshot.shards[0]!);
  // The function waits for the worker to stop.
  await whileSlow("Query", () => request(routes.cancelWorkItemUpload, { params: { id: held } }));
  clock.advance(HOUR_MS);
  await invoke("sweep-uploads", {});
  await drain();
  expect(await statusOf(held)).toBe("cancelled");
  expect(deployed.refused).toEqual([]);
});

test("long lists are merged with no more than each function's policy", async () => {
  const { SPLIT_QUEUE_URL: splits, CHUNKS_QUEUE_URL: chunks } = runtime.environment;
  const id = await upload(rows(2500));
  await whileRefused("GetObject", () => split(id));
  expect(deployed.used.get("split-upload")).toContain("splitQueue SendMessage");
  clock.advance(HOUR_MS);
  await split(id);
  const [message] = await take(chunks);
  // Of two workers with the same message, one has the rows.
  await whileSlow("PutObject", () => Promise.all([1, 2].map(() => invoke("apply-upload-chunk", sqsEvent(message)))));
  while ((await whileSlow("PutObject", () => deliver(chunks, "apply-upload-chunk"))) > 0);
  expect(await statusOf(id)).toBe("processing");
  expect(await deliver(splits, "split-upload")).toBeGreaterThan(0);
  expect(await statusOf(id)).toBe("completed");

  // Workers of rows, and no others, count what was applied before a stop.
  for (const dryRun of [false, true]) {
    const stopped = await halfDone(dryRun);
    await take(chunks);
    const store = new UploadStore(runtime);
    const snapshot = (await store.read(job(stopped)))!;
    await store.shards.claim(snapshot.job, snapshot.shards[0]!);
    await store.requestStop(snapshot.job, "cancelled");
    clock.advance(HOUR_MS);
    await split(stopped);
    expect(await statusOf(stopped)).toBe("processing");
    await invoke("apply-upload-chunk", sqsEvent({ ...job(stopped), shard: 0, chunk: 0 }));
    expect(await statusOf(stopped)).toBe("cancelled");
  }
  expect(deployed.refused).toEqual([]);
});

test("jobs with lost messages are swept with no more than the sweep's policy", async () => {
  const objects = createUploadObjects(runtime);
  const broken = await formOf();
  await objects.write(objectKeys.source(job(broken)), Buffer.from("external_id;status"));
  await split(broken);
  expect(await statusOf(broken)).toBe("failed");

  const unsplit = await upload(rows(40));
  const unapplied = await upload(rows(40));
  await split(unapplied);
  await take(runtime.environment.CHUNKS_QUEUE_URL);
  const neverCame = await formOf();
  for (let hour = 0; hour < 3; hour++) {
    clock.advance(HOUR_MS);
    await invoke("sweep-uploads", {});
    await drain();
  }
  expect(await Promise.all([unsplit, unapplied, neverCame].map(statusOf))).toEqual([
    "completed",
    "completed",
    "failed",
  ]);
  expect(deployed.refused).toEqual([]);
});

test("a single write, which is not sent as a batch, needs no other permissions", async () => {
  for (const type of ["one", "two"]) {
    const work_items = [{ external_id: "native", type, events: [{ external_id: "event", content: type }] }];
    await request(routes.applyWorkItemBatch, { body: { work_items } });
  }
  await split(await upload(csv(["native-row,pending"])));
  await drain();
  expect(deployed.refused).toEqual([]);
});

test("endpoints that no other test calls need no more than their functions' policies", async () => {
  for (const route of allRoutes().filter(
    ({ name, public: isPublic }) => isPublic !== true && !deployed.used.get(name)?.size,
  )) {
    const body = route.bodyKind === "none" ? {} : { body: exampleBodyOf(route) };
    await request(route, { ...(route.path.includes("{id}") && { params: { id: randomUUID() } }), ...body });
  }
  expect(deployed.refused).toEqual([]);
});

test("no function has a permission that none of these tests needed", () => {
  const unused = [...deployed.used].flatMap(([name, calls]) =>
    granted(name)
      .filter((permission) => !calls.has(permission))
      .map((permission) => `${name}: ${permission}`),
  );
  expect(unused, "call the function in a test above so that it uses these, or remove them from its row").toEqual([]);
});
