import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { createCustomer, type Customer, overwrite } from "../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { createWebhookDelivery, startReceiver } from "../../support/webhooks.ts";

let clock: TestClock;
let runtime: TestRuntime;
let delivery: Awaited<ReturnType<typeof createWebhookDelivery>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock, variables: { WEBHOOKS_TO_LOCALHOST: "true" } });
  delivery = await createWebhookDelivery(runtime);
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const webhookOf = async (customer: Customer, path: string): Promise<string> => {
  const webhook = { url: `${receiver.url}/${path}`, types: ["work_items.changed"] };
  return (await customer.send("createWebhook", { body: { webhook } })).body.data.id;
};
const called = (): string[] => receiver.paths().map((path) => path.split("/").at(-1)!);
const passMinutes = async (minutes: number): Promise<void> => {
  clock.advance(minutes * 60_000);
  await delivery.record();
  await delivery.sweep();
};

test("a webhook whose state can't be read keeps none of its organization from being rung", async () => {
  const acme = await createCustomer(runtime);
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.push(await webhookOf(acme, name));
  await passMinutes(2);
  expect(new Set(called())).toEqual(new Set(["a", "b", "c"]));
  const [first] = ids.toSorted();
  await overwrite(runtime, "WEBHOOKS_TABLE", { pk: `WEBHOOK_STATE#${acme.organization.id}`, sk: first }, "attempts");
  const before = receiver.received.length;
  await acme.apply({ external_id: "1" });
  clock.advance(5000);
  expect(await delivery.ring()).toBe(0);
  expect(receiver.received.length - before).toBe(2);
  const { data } = (await acme.send("listWebhooks")).body;
  expect(data).toHaveLength(2);
});

test("a receiver that hangs holds up its own messages alone", async () => {
  const [acme, other] = [await createCustomer(runtime), await createCustomer(runtime)];
  const hanging = await startReceiver(() => {});
  try {
    const webhook = { url: hanging.url, types: ["work_items.changed"] };
    await acme.send("createWebhook", { body: { webhook } });
    await webhookOf(other, "free");
    clock.advance(2 * 60_000);
    await delivery.record();
    const sweep = delivery.sweep();
    await expect.poll(called).toContain("free");
    await expect.poll(() => hanging.received).toHaveLength(1);
    await hanging.stop();
    expect(await sweep).toBe(0);
  } finally {
    await hanging.stop();
  }
});
