import { afterEach, beforeEach } from "vitest";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { createCustomer, type Customer } from "../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { createWebhookDelivery, startReceiver } from "../../support/webhooks.ts";

const TWO_MINUTES_MS = 120_000;

/** What each test of a file has for itself. */
interface Webhooks {
  clock: TestClock;
  runtime: TestRuntime;
  acme: Customer;
  delivery: Awaited<ReturnType<typeof createWebhookDelivery>>;
}

/** Makes a service, an organization and the delivery of its webhooks for each test of the file. */
export function useWebhooks() {
  const hooks = {} as Webhooks;
  const receivers: Awaited<ReturnType<typeof startReceiver>>[] = [];
  beforeEach(async () => {
    const clock = createTestClock();
    const runtime = await createTestRuntime({ clock, variables: { WEBHOOKS_TO_LOCALHOST: "true" } });
    const [acme, delivery] = [await createCustomer(runtime), await createWebhookDelivery(runtime)];
    Object.assign(hooks, { clock, runtime, acme, delivery } satisfies Webhooks);
  });
  afterEach(async () => void (await Promise.all(receivers.splice(0).map(({ stop }) => stop()))));

  return {
    hooks,
    receive: async (answer?: Parameters<typeof startReceiver>[0]) => {
      const receiver = await startReceiver(answer);
      receivers.push(receiver);
      return receiver;
    },
    add: async (url: string, more: object = {}) =>
      (await hooks.acme.send("createWebhook", { body: { webhook: { url, ...more } } })).body.data,
    get: async (id: string) => (await hooks.acme.send("getWebhook", { params: { id } })).body.data,
    patch: (id: string, webhook: object) => hooks.acme.send("updateWebhook", { params: { id }, body: { webhook } }),
    /** Lets two minutes pass, after which a new webhook has been called without a change. */
    greet: async (): Promise<void> => {
      hooks.clock.advance(TWO_MINUTES_MS);
      await hooks.delivery.record();
      // The changes and the ended jobs, one after the other.
      await hooks.delivery.sweep();
    },
  };
}
