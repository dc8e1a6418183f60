import { expect, test, vi } from "vitest";
import { useWebhooks } from "./use-webhooks.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const { hooks, receive, add, get, patch, greet } = useWebhooks();

const testOf = (id: string) => hooks.acme.send("testWebhook", { params: { id } });

test("a test is sent at once, also to a paused webhook, and shows what was answered", async () => {
  const receiver = await receive((_, response) => void response.writeHead(418).end("I am a teapot"));
  const { id } = await add(receiver.url);
  await patch(id, { enabled: false });
  const { data } = (await testOf(id)).body;
  expect(data).toEqual({ status: 418, reason: null, milliseconds: expect.any(Number) });
  expect(receiver.told()).toEqual([{ type: "webhook.test", data: {} }]);
  expect(await get(id)).toMatchObject({ status: "disabled", last_delivery: { status: 418 } });
  expect((await testOf(crypto.randomUUID())).status).toBe(404);
});

test("a test is the only message that is being sent; others wait for its end, and follow at once", async () => {
  const answers: (() => void)[] = [];
  const receiver = await receive((_, response) => void answers.push(() => void response.writeHead(204).end()));
  const { id } = await add(receiver.url, { types: ["work_items.changed"] });
  hooks.clock.advance(2 * MINUTE_MS);
  const tested = testOf(id);
  await expect.poll(() => answers.length).toBe(1);
  const again = await Promise.all(Array.from({ length: 20 }, () => testOf(id)));
  const refusal = "a message is being sent to this webhook; try again in a few seconds";
  expect(new Set(again.map(({ status, body }) => `${status} ${body.error}`))).toEqual(new Set([`409 ${refusal}`]));
  await hooks.delivery.record();
  await hooks.delivery.sweep();
  expect(answers).toHaveLength(1);
  answers[0]!();
  expect((await tested).body.data).toMatchObject({ status: 204 });
  // Without a sweep.
  const ringing = hooks.delivery.drain();
  await expect.poll(() => answers.length).toBe(2);
  expect((await testOf(id)).body.error).toBe(refusal);
  answers[1]!();
  await ringing;
  expect(receiver.told().map(({ type }) => type)).toEqual(["webhook.test", "work_items.changed"]);
  // The message that calls it because it is new is delayed in the queue's own time.
  expect(await hooks.delivery.waiting()).toBe(1);
});

test("a change of the URL during a call lists its end, and calls the new URL after it", async () => {
  const answers: (() => void)[] = [];
  const old = await receive((_, response) => void answers.push(() => void response.writeHead(410).end()));
  const [moved, { id }] = [await receive(), await add(old.url, { types: ["work_items.changed"] })];
  hooks.clock.advance(2 * MINUTE_MS);
  const swept = hooks.delivery.sweep();
  await expect.poll(() => answers.length).toBe(1);
  await patch(id, { url: moved.url });
  expect((await testOf(id)).status).toBe(409);
  answers[0]!();
  await swept;
  expect(await get(id)).toMatchObject({ status: "active", deliveries: [{ type: "work_items.changed", status: 410 }] });
  // Delayed messages that call it: as a new one, as a changed one, and after the end of this call.
  expect(await hooks.delivery.waiting()).toBe(3);
  expect((await testOf(id)).body.data).toMatchObject({ status: 204 });
  hooks.clock.advance(2 * MINUTE_MS);
  await hooks.delivery.sweep();
  expect(moved.told().map(({ type }) => type)).toEqual(["webhook.test", "work_items.changed"]);
});

test("a test ends the failures of its webhook by a success, and adds none", async () => {
  let status = 500;
  const receiver = await receive((_, response) => void response.writeHead(status).end());
  const { id } = await add(receiver.url, { types: ["work_items.changed"] });
  status = 410;
  await testOf(id);
  expect(await get(id)).toMatchObject({ status: "active", failing_since: null, last_delivery: { status: 410 } });
  status = 500;
  await greet();
  const { last_delivery: _, deliveries: __, ...failing } = await get(id);
  expect(failing.status).toBe("failing");
  await testOf(id);
  expect(await get(id)).toMatchObject(failing);
  status = 204;
  hooks.clock.advance(SECOND_MS);
  await testOf(id);
  expect(await get(id)).toMatchObject({ status: "active", failing_since: null, next_attempt_at: null });
  await hooks.delivery.drain();
  expect(receiver.told().at(-1)?.type).toBe("work_items.changed");
});

test("a test ends after 8 seconds, whatever its receiver does", async () => {
  const receiver = await receive(() => {});
  const { id } = await add(receiver.url);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const tested = testOf(id);
    await expect.poll(() => receiver.received.length).toBe(1);
    await vi.advanceTimersByTimeAsync(8000);
    expect((await tested).body.data).toMatchObject({ status: null, reason: "no response within 8 seconds" });
  } finally {
    vi.useRealTimers();
  }
});
