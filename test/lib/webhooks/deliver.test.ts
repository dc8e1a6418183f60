import type { Socket } from "node:net";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { queueWorker } from "../../../lib/aws/queue-worker.ts";
import { eraseOrganization } from "../../../apps/operator/data/erase-organization.ts";
import { createCallReceiver } from "../../../lib/webhooks/call-receiver.ts";
import { createNotifyWebhooks } from "../../../lib/webhooks/notify-webhooks.ts";
import { createDeliver } from "../../../lib/webhooks/deliver.ts";
import { webhookMessageIn } from "../../../lib/webhooks/webhook-messages.ts";
import { createCustomer, operatorOf } from "../../support/customer-data.ts";
import { differencesFrom } from "../../support/openapi/document-schemas.ts";
import { createWebhookDelivery, isSignedBy, startReceiver } from "../../support/webhooks.ts";
import { aroundRequests } from "../../support/faults.ts";
import { useWebhooks } from "./use-webhooks.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const { hooks, receive, add, get, patch, greet } = useWebhooks();
const newestPosition = async () =>
  Number((await hooks.acme.send("listWorkItemChanges", { query: { after: "now" } })).body.meta.page.next);
const cancelledJob = async () => {
  const { id } = (await hooks.acme.send("uploadWorkItems", { body: { upload: { filename: "a.csv", size: 10 } } })).body
    .data;
  await hooks.acme.send("cancelWorkItemUpload", { params: { id } });
  return id;
};

describe("a webhook", () => {
  test("is created and deleted while another one is, and isn't reported as missing where it can't be", async () => {
    const { id } = await add("https://hooks.example.com/");
    let conflicts = 1;
    const cancel = (Code: string) => {
      const $metadata = { httpStatusCode: 400, attempts: 1 };
      const CancellationReasons = [{ Code: "None" }, { Code }, { Code: "None" }];
      return new TransactionCanceledException({ message: "cancelled", $metadata, CancellationReasons });
    };
    aroundRequests(hooks.runtime.dynamodb, async (command, _, send) => {
      if (command === "TransactWriteItemsCommand" && conflicts-- > 0) throw cancel("TransactionConflict");
      return send();
    });
    const body = { webhook: { url: "https://hooks.example.com/" } };
    expect((await hooks.acme.send("createWebhook", { body })).status).toBe(201);
    conflicts = 2;
    expect((await hooks.acme.send("deleteWebhook", { params: { id } })).status).toBe(200);
    expect((await hooks.acme.send("deleteWebhook", { params: { id } })).status).toBe(404);
    expect(conflicts).toBeLessThan(0);
  });

  test("is called without a change when it is new, and then by each change and each ended job, with signed messages", async () => {
    const receiver = await receive();
    const { id, secret } = await add(receiver.url);
    await greet();
    expect(receiver.told()).toEqual([
      { type: "work_items.changed", data: { sequence: await newestPosition() } },
      { type: "uploads.ended", data: { more: true } },
    ]);
    await hooks.acme.apply({ external_id: "a" }, { external_id: "b" });
    hooks.clock.advance(5 * SECOND_MS);
    expect(await hooks.delivery.ring()).toBe(0);
    expect(receiver.told().slice(2)).toEqual([
      { type: "work_items.changed", data: { sequence: await newestPosition() } },
    ]);
    const job = await cancelledJob();
    hooks.clock.advance(5 * SECOND_MS);
    await hooks.delivery.ring();
    expect(receiver.told().slice(3)).toEqual([
      {
        type: "upload.ended",
        data: { id: job, status: "cancelled", dry_run: false, total_rows: 0, succeeded_rows: 0, failed_rows: 0 },
      },
    ]);
    for (const { type, body } of receiver.received) {
      const path = ["webhooks", type, "post", "requestBody", "content", "application/json", "schema"];
      expect(differencesFrom(path, JSON.parse(body))).toEqual([]);
    }
    expect(receiver.received.map((message) => isSignedBy(secret, message))).toEqual(receiver.received.map(() => true));
    expect(await get(id)).toMatchObject({ status: "active", last_delivery: { status: 204, reason: null } });
    expect(JSON.stringify(await get(id))).not.toContain("whsec_");
  });

  test("gets only the types that it names", async () => {
    const [changes, jobs] = [await receive(), await receive()];
    await add(changes.url, { types: ["work_items.changed"] });
    await add(jobs.url, { types: ["upload.ended"] });
    await greet();
    await hooks.acme.apply({ external_id: "a" });
    await cancelledJob();
    hooks.clock.advance(5 * SECOND_MS);
    await hooks.delivery.ring();
    expect(new Set(changes.told().map(({ type }) => type))).toEqual(new Set(["work_items.changed"]));
    expect(new Set(jobs.told().map(({ type }) => type))).toEqual(new Set(["uploads.ended", "upload.ended"]));
  });

  test("of another organization hears nothing, and an organization without webhooks sends nothing", async () => {
    const receiver = await receive();
    await add(receiver.url);
    await greet();
    const before = receiver.received.length;
    const waiting = await hooks.delivery.waiting();
    const other = await createCustomer(hooks.runtime);
    await other.apply({ external_id: "a" });
    await hooks.delivery.record();
    expect(await hooks.delivery.waiting()).toBe(waiting);
    expect(receiver.received).toHaveLength(before);
  });

  test("is rung at most once a second; what comes sooner waits in the queue", async () => {
    const receiver = await receive();
    await add(receiver.url, { types: ["work_items.changed"] });
    await greet();
    const before = receiver.received.length;
    const waiting = await hooks.delivery.waiting();
    for (const name of ["a", "b", "c"]) {
      await hooks.acme.apply({ external_id: name });
      await hooks.delivery.ring();
    }
    expect(receiver.received).toHaveLength(before);
    expect(await hooks.delivery.waiting()).toBe(waiting + 1);
    hooks.clock.advance(2 * MINUTE_MS);
    await hooks.delivery.sweep();
    expect(receiver.told().slice(before)).toEqual([
      { type: "work_items.changed", data: { sequence: await newestPosition() } },
    ]);
  });
});

describe("a webhook that is new, enabled or elsewhere", () => {
  /** Collects the messages that are sent about webhooks, with their delays. */
  const collectSent = () => {
    const sent: { readonly body: string; readonly delay: number }[] = [];
    aroundRequests(hooks.runtime.sqs, async (command, input, send) => {
      const { Entries = [] } = input as { Entries?: { MessageBody: string; DelaySeconds?: number }[] };
      if (command === "SendMessageBatchCommand")
        sent.push(...Entries.map(({ MessageBody: body, DelaySeconds: delay = 0 }) => ({ body, delay })));
      return send();
    });
    return sent;
  };

  test("is called 15 seconds later by a message of its own, not by the sweep, also without changes", async () => {
    const receiver = await receive();
    const sent = collectSent();
    const handle = createDeliver(hooks.runtime);
    const { id } = await add("https://hooks.example.com/", { types: ["work_items.changed"] });
    const changes: readonly (() => Promise<unknown>)[] = [
      async () => undefined,
      () => patch(id, { url: receiver.url }),
      () => patch(id, { types: ["work_items.changed"] }),
      async () => {
        await patch(id, { enabled: false });
        await patch(id, { enabled: true });
      },
    ];
    await patch(id, { url: receiver.url });
    for (const change of changes) {
      await change();
      const { body, delay } = sent.at(-1)!;
      expect(delay).toBe(15);
      expect(await get(id)).toMatchObject({ next_attempt_at: new Date(hooks.clock() + 15 * SECOND_MS).toISOString() });
      const before = receiver.received.length;
      await handle(body);
      await hooks.delivery.sweep();
      expect(receiver.received).toHaveLength(before);
      hooks.clock.advance(15 * SECOND_MS);
      await handle(body);
      expect(receiver.told().slice(before)).toEqual([
        { type: "work_items.changed", data: { sequence: await newestPosition() } },
      ]);
    }
    // Neither a note of its owner nor enabling it again calls it.
    const { length } = sent;
    await patch(id, { description: "mine" });
    await patch(id, { enabled: true });
    expect(sent).toHaveLength(length);
  });

  test("isn't known for ten seconds to functions that have seen that there is none", async () => {
    const sent = collectSent();
    const change = async (external_id: string): Promise<number> => {
      await hooks.acme.apply({ external_id });
      const before = sent.length;
      await hooks.delivery.record();
      return sent.slice(before).filter(({ body }) => JSON.parse(body).kind === "news").length;
    };
    expect(await change("before")).toBe(0);
    await add("https://hooks.example.com/");
    hooks.clock.advance(9 * SECOND_MS);
    expect(await change("at once")).toBe(0);
    hooks.clock.advance(SECOND_MS);
    expect(await change("soon")).toBe(1);
  });
});

describe("ten thousand changes in a second", () => {
  /** The changes come in parts, which this many workers note at the same time. */
  const [PARTS, WORKERS, ENDPOINTS] = [100, 20, 2];

  test("ring each endpoint once, with the newest position, and no worker gives up", async () => {
    const receiver = await receive();
    const urls = Array.from({ length: ENDPOINTS }, (_, index) => `${receiver.url}/${index}`);
    for (const url of urls) await add(url, { types: ["work_items.changed"] });
    await greet();
    const before = receiver.received.length;
    const first = await newestPosition();
    const handle = createDeliver(hooks.runtime);
    const parts = Array.from({ length: PARTS }, (_, index) => first + (index + 1) * 100);
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let position = parts.shift(); position !== undefined; position = parts.shift()) {
        const news = { kind: "news", organization: hooks.acme.organization.id, position };
        await handle(JSON.stringify(news)).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    expect(failures).toEqual([]);
    // Their messages may be delayed in the queue's own time.
    hooks.clock.advance(2 * MINUTE_MS);
    await hooks.delivery.sweep();
    const rings = receiver.received.slice(before);
    expect(new Set(receiver.paths().slice(before)).size).toBe(ENDPOINTS);
    expect(rings.map(({ data }) => data)).toEqual(urls.map(() => ({ sequence: first + PARTS * 100 })));
  });
});

describe("an endpoint that is down", () => {
  test("shows why, is called again when its time comes, and then gets one ring for all that it missed", async () => {
    let status = 500;
    const receiver = await receive((_, response) => void response.writeHead(status).end());
    const { id } = await add(receiver.url, { types: ["work_items.changed"] });
    await greet();
    expect(await get(id)).toMatchObject({
      status: "failing",
      failing_since: "2026-03-01T12:02:00.000Z",
      next_attempt_at: "2026-03-01T12:02:05.000Z",
      last_delivery: { status: 500, reason: null },
    });
    for (const name of ["a", "b", "c"]) await hooks.acme.apply({ external_id: name });
    await hooks.delivery.ring();
    expect(receiver.received).toHaveLength(1);
    status = 200;
    hooks.clock.advance(2 * MINUTE_MS);
    await hooks.delivery.sweep();
    expect(receiver.told().slice(1)).toEqual([
      { type: "work_items.changed", data: { sequence: await newestPosition() } },
    ]);
    expect(await get(id)).toMatchObject({ status: "active", failing_since: null, next_attempt_at: null });
    expect(await hooks.delivery.sweep()).toBe(0);
    expect(receiver.received).toHaveLength(2);
  });

  test("doesn't keep others from being rung, also if there are 19 of them", async () => {
    const gone = await startReceiver();
    await gone.stop();
    for (let count = 0; count < 19; count++) await add(gone.url);
    const receiver = await receive();
    await add(receiver.url);
    const full = await hooks.acme.send("createWebhook", { body: { webhook: { url: receiver.url } } });
    expect([full.status, full.body.error]).toEqual([409, "there are 20 webhooks; delete one first"]);
    await greet();
    expect(receiver.received.length).toBeGreaterThan(0);
    const { data } = (await hooks.acme.send("listWebhooks")).body;
    const reasons = data.map(({ last_delivery: last }) => last?.reason ?? null);
    expect(reasons.filter((reason) => reason === "the connection was refused")).toHaveLength(19);
  });

  test.each([
    ["switches protocols", (socket: Socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"), 101, null],
    ["closes without an answer", (socket: Socket) => socket.end(), null, "the connection was closed"],
  ])(
    "and %s fails, is called again when its time comes, and is disabled after five days",
    async (_, answer, ...last) => {
      const receiver = await receive((request) => answer(request.socket));
      const { id } = await add(receiver.url, { types: ["work_items.changed"] });
      await greet();
      const [status, reason] = last;
      expect(await get(id)).toMatchObject({
        status: "failing",
        failing_since: "2026-03-01T12:02:00.000Z",
        next_attempt_at: "2026-03-01T12:02:05.000Z",
        last_delivery: { status, reason },
      });
      hooks.clock.advance(2 * MINUTE_MS);
      await hooks.delivery.sweep();
      expect(receiver.received).toHaveLength(2);
      expect(await get(id)).toMatchObject({ status: "failing", next_attempt_at: "2026-03-01T12:04:30.000Z" });
      hooks.clock.advance(5 * 24 * 60 * MINUTE_MS);
      await hooks.delivery.sweep();
      expect(await get(id)).toMatchObject({ status: "disabled", next_attempt_at: null });
    },
  );

  test("is called at once when its owner enables it", async () => {
    let status = 500;
    const receiver = await receive((_, response) => void response.writeHead(status).end());
    const { id } = await add(receiver.url, { types: ["work_items.changed"] });
    await greet();
    for (let attempt = 0; attempt < 6; attempt++) {
      hooks.clock.advance(60 * MINUTE_MS);
      await hooks.delivery.sweep();
    }
    const { failing_since: since } = await get(id);
    const before = receiver.received.length;
    expect((await patch(id, { description: "mine" })).status).toBe(200);
    expect(await hooks.delivery.drain()).toBe(0);
    expect(receiver.received).toHaveLength(before);
    expect((await patch(id, { enabled: true })).body.data).toMatchObject({
      status: "failing",
      failing_since: since,
      next_attempt_at: null,
    });
    await hooks.delivery.drain();
    expect(receiver.received).toHaveLength(before + 1);
    // It fails again, as if for the first time, but not since then.
    const wait = Date.parse((await get(id)).next_attempt_at!) - hooks.clock();
    expect([wait, (await get(id)).failing_since]).toEqual([5 * SECOND_MS, since]);
    status = 200;
    hooks.clock.advance(SECOND_MS);
    await patch(id, { enabled: true });
    await hooks.delivery.drain();
    expect(await get(id)).toMatchObject({ status: "active", failing_since: null });
    expect(receiver.received).toHaveLength(before + 2);
    const waiting = await hooks.delivery.waiting();
    await patch(id, { enabled: true });
    expect(await hooks.delivery.waiting()).toBe(waiting);
  });
});

describe("ten thousand jobs that end at once", () => {
  test("are one message far below what SQS takes, which names the newest hundred and says that there are more", async () => {
    await add("https://example.com/");
    const counts = { total_rows: 9_999_999, succeeded_rows: 9_999_999, failed_rows: 0 };
    const jobs = Array.from({ length: 10_000 }, () => {
      const undone = { id: crypto.randomUUID(), undo_of: crypto.randomUUID() };
      return { ...undone, status: "completed" as const, dry_run: false, ...counts };
    });
    const sent: string[] = [];
    aroundRequests(hooks.runtime.sqs, async (command, input, send) => {
      const { Entries = [] } = input as { Entries?: { MessageBody: string }[] };
      if (command === "SendMessageBatchCommand") sent.push(...Entries.map(({ MessageBody: body }) => body));
      return send();
    });
    await createNotifyWebhooks(hooks.runtime, async () => jobs)(hooks.acme.organization.id, undefined, ["any"]);
    const [body = "", ...others] = sent;
    expect([body.length, others]).toEqual([expect.toSatisfy((length: number) => length < 64 * 1024), []]);
    const { id: more } = jobs.at(-101)!;
    expect(webhookMessageIn(body)).toMatchObject({ kind: "news", jobs: jobs.slice(-100), more });
  });
});

describe("a deliverer that is killed", () => {
  test.each(["before", "after"])("%s the call loses nothing", async (when) => {
    const receiver = await receive();
    await add(receiver.url, { types: ["work_items.changed"] });
    const callReceiver = createCallReceiver(hooks.runtime);
    let isKilled = true;
    const deliver = createDeliver(hooks.runtime, async (...call) => {
      if (isKilled && when === "before") throw new Error("killed");
      const outcome = await callReceiver(...call);
      if (isKilled) throw new Error("killed");
      return outcome;
    });
    hooks.delivery = await createWebhookDelivery(hooks.runtime, queueWorker(hooks.runtime, deliver));
    hooks.clock.advance(2 * MINUTE_MS);
    expect(await hooks.delivery.sweep()).toBe(1);
    const before = receiver.received.length;
    expect(before).toBe(when === "before" ? 0 : 1);
    isKilled = false;
    // Its claim still holds.
    hooks.clock.advance(5 * SECOND_MS);
    await hooks.acme.apply({ external_id: "a" });
    await hooks.delivery.ring();
    expect(receiver.received).toHaveLength(before);
    hooks.clock.advance(2 * MINUTE_MS);
    await hooks.delivery.sweep();
    expect(receiver.told().slice(before)).toEqual([
      { type: "work_items.changed", data: { sequence: await newestPosition() } },
    ]);
  });

  test("or a message that is lost or comes twice changes nothing", async () => {
    const receiver = await receive();
    const { id } = await add(receiver.url, { types: ["work_items.changed"] });
    await greet();
    const before = receiver.received.length;
    hooks.clock.advance(5 * SECOND_MS);
    const news = { kind: "news", organization: hooks.acme.organization.id, position: (await newestPosition()) + 5 };
    const call = { kind: "call", organization: hooks.acme.organization.id, webhook: id };
    const handle = createDeliver(hooks.runtime);
    // The message that it has sent is lost.
    for (let time = 0; time < 2; time++) await handle(JSON.stringify(news));
    for (let time = 0; time < 3; time++) await handle(JSON.stringify(call));
    expect(receiver.received).toHaveLength(before + 1);
  });
});

describe("deliveries", () => {
  test("are shown with one webhook, newest first, without anything that a receiver has sent but its status", async () => {
    const receiver = await receive((request, response) => {
      response.writeHead(599, "<script>alert(1)</script>", { "x-secret": "leaked", "retry-after": "leaked" });
      response.end(`leaked ${request.url}`);
    });
    const { id, url } = await add(receiver.url, { types: ["work_items.changed"] });
    expect(await get(id)).toMatchObject({ last_delivery: null, deliveries: [] });
    await greet();
    await patch(id, { url: "http://localhost:1/" });
    await hooks.acme.send("testWebhook", { params: { id } });
    await hooks.acme.send("rotateWebhookSecret", { params: { id } });
    const { deliveries = [], last_delivery: last, ...shown } = await get(id);
    const [tested, ring] = deliveries;
    expect(deliveries).toEqual([
      { ...tested, at: last?.at, type: "webhook.test", status: null, reason: "the connection was refused" },
      { ...ring, type: "work_items.changed", status: 599, reason: null },
    ]);
    expect(last).toEqual(tested);
    expect(ring?.message_id).toBe(receiver.received[0]?.headers["webhook-id"]);
    expect(JSON.stringify([deliveries, shown])).not.toMatch(/leaked|alert/);
    const listed = (await hooks.acme.send("listWebhooks")).text;
    expect([listed.includes("deliveries"), url]).toEqual([false, receiver.url]);
  });
});

describe("a webhook whose owner asks for its messages again", () => {
  const resend = (id: string) => hooks.acme.send("resendWebhook", { params: { id } });

  test("gets the newest position and may have missed jobs, as new messages, also if nothing has changed", async () => {
    const receiver = await receive();
    const { id } = await add(receiver.url);
    await greet();
    const before = receiver.received.length;
    for (let time = 1; time <= 2; time++) {
      hooks.clock.advance(5 * SECOND_MS);
      expect(await resend(id)).toMatchObject({ status: 202, body: { data: { id, status: "active" } } });
      expect(await hooks.delivery.drain()).toBe(0);
      expect(receiver.told().slice(before + 2 * (time - 1))).toEqual([
        { type: "work_items.changed", data: { sequence: await newestPosition() } },
        { type: "uploads.ended", data: { more: true } },
      ]);
    }
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is called at once if it is failing, and then rests", async () => {
    let status = 500;
    const receiver = await receive((_, response) => void response.writeHead(status).end());
    const { id } = await add(receiver.url, { types: ["work_items.changed"] });
    await greet();
    status = 204;
    hooks.clock.advance(SECOND_MS);
    await resend(id);
    await hooks.delivery.drain();
    expect(receiver.received).toHaveLength(2);
    expect(await get(id)).toMatchObject({ status: "active", next_attempt_at: null });
  });

  test("isn't called by a request while a message is sent to it, or while it is disabled, and says why", async () => {
    let status = 410;
    const answers: (() => void)[] = [];
    const receiver = await receive((_, response) => void answers.push(() => response.writeHead(status).end()));
    const { id } = await add(receiver.url, { types: ["work_items.changed"] });
    const ringing = greet();
    await expect.poll(() => answers.length).toBe(1);
    expect(await resend(id)).toMatchObject({
      status: 409,
      body: { error: "a message is being sent to this webhook; try again in a few seconds" },
    });
    answers[0]!();
    await ringing;
    const errorOf = async () => (await resend(id)).body.error;
    expect(await errorOf()).toBe("the webhook is disabled: its receiver answered 410; enable it to resume it");
    expect(await get(id)).toMatchObject({ status: "disabled", disabled_reason: "gone" });
    status = 204;
    await patch(id, { enabled: true });
    expect(await get(id)).toMatchObject({ disabled_reason: null });
    await patch(id, { enabled: false });
    expect(await errorOf()).toBe("the webhook is disabled: it was paused; enable it to resume it");
    expect((await resend(crypto.randomUUID())).status).toBe(404);
  });
});

describe("a webhook that is gone", () => {
  test("while it is called stays gone", async () => {
    let id = "";
    const receiver = await receive((_, response) => {
      void hooks.acme.send("deleteWebhook", { params: { id } }).then(() => response.writeHead(200).end());
    });
    ({ id } = await add(receiver.url));
    hooks.clock.advance(2 * MINUTE_MS);
    expect(await hooks.delivery.sweep()).toBe(0);
    expect(receiver.received).toHaveLength(1);
    expect((await hooks.acme.send("listWebhooks")).body.data).toEqual([]);
    hooks.clock.advance(2 * MINUTE_MS);
    expect(await hooks.delivery.sweep()).toBe(0);
    expect(receiver.received).toHaveLength(1);
  });

  test("with its organization is told nothing of the erasure", async () => {
    const receiver = await receive();
    await add(receiver.url);
    await hooks.acme.apply({ external_id: "a" });
    await greet();
    const before = receiver.received.length;
    const sleep = async (milliseconds: number): Promise<void> => {
      hooks.clock.advance(milliseconds);
      await hooks.delivery.ring();
      await hooks.delivery.sweep();
    };
    await eraseOrganization(operatorOf(hooks.runtime), hooks.acme.organization.id, { sleep });
    expect(receiver.received).toHaveLength(before);
  });
});
