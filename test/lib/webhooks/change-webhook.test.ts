import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eraseOrganization } from "../../../lib/operator/erase-organization.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { createCustomer, type Customer, operatorOf, tracesOf } from "../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { isSignedBy, startReceiver } from "../../support/webhooks.ts";

const HOUR_MS = 60 * 60 * 1000;
let clock: TestClock;
let runtime: TestRuntime;
let acme: Customer;
const receivers: Awaited<ReturnType<typeof startReceiver>>[] = [];
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock, variables: { WEBHOOKS_TO_LOCALHOST: "true" } });
  acme = await createCustomer(runtime);
});
afterEach(async () => void (await Promise.all(receivers.splice(0).map(({ stop }) => stop()))));

const receive = async () => {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
};
const add = async (url: string) => (await acme.send("createWebhook", { body: { webhook: { url } } })).body.data;
const patch = (id: string, webhook: object) => acme.send("updateWebhook", { params: { id }, body: { webhook } });

describe("an organization", () => {
  const create = (number: number) =>
    acme.send("createWebhook", { body: { webhook: { url: `https://example.com/${number}` } } });
  const countsOf = (responses: readonly { readonly status: number }[]) =>
    Object.fromEntries(
      [...Map.groupBy(responses, ({ status }) => status)].map(([status, all]) => [status, all.length]),
    );
  const idsOf = async () => (await acme.send("listWebhooks")).body.data.map(({ id }) => id);

  test("has at most 20 webhooks, however many are created at once, and a deleted one makes room for one", async () => {
    const numbers = Array.from({ length: 30 }, (_, number) => number);
    expect(countsOf(await Promise.all(numbers.map(create)))).toEqual({ 201: 20, 409: 10 });
    const [first, second] = await idsOf();
    for (const id of [first!, second!]) await acme.send("deleteWebhook", { params: { id } });
    expect(countsOf(await Promise.all(numbers.slice(0, 10).map(create)))).toEqual({ 201: 2, 409: 8 });
    expect(await idsOf()).toHaveLength(20);
  });

  test("that was erased and made again may have 20 again, and nothing is left of those before", async () => {
    for (let number = 0; number < 2; number++) await create(number);
    const { id } = acme.organization;
    await eraseOrganization(operatorOf(runtime), id, { sleep: async (milliseconds) => clock.advance(milliseconds) });
    expect(await tracesOf(runtime, id, acme.keyId)).toEqual([]);
    acme = await createCustomer(runtime, id);
    const numbers = Array.from({ length: 25 }, (_, number) => number);
    expect(countsOf(await Promise.all(numbers.map(create)))).toEqual({ 201: 20, 409: 5 });
  });
});

describe("settings", () => {
  test.each([
    ["http://example.com/", "must begin with https://"],
    ["ftp://example.com/", "must begin with https://"],
    ["https://user:secret@example.com/", "must not have a user name or password"],
    ["https://example.com:25/", "must have port 443 or one from 1024 up"],
    ["https://10.1.2.3/", "must not be an address of a private network"],
    ["https://[::ffff:169.254.169.254]/", "must not be an address of a private network"],
    ["example.com", "must be a URL"],
    ["http://example.com./", "must begin with https://"],
    ["https://10.1.2.3./", "must not be an address of a private network"],
  ])("with the URL %s are refused", async (url, reason) => {
    const refused = await acme.send("createWebhook", { body: { webhook: { url } } });
    expect([refused.status, refused.body.error]).toEqual([422, `webhook.url: ${reason}`]);
  });

  test("take a local name with a final dot where they take it without", async () => {
    for (const url of ["http://localhost:4000/", "http://localhost.:4000/"]) {
      expect((await acme.send("createWebhook", { body: { webhook: { url } } })).status).toBe(201);
    }
  });

  test("keep what isn't named", async () => {
    const { id } = await add("https://example.com/a");
    expect((await patch(id, { description: "mine" })).body.data).toMatchObject({
      url: "https://example.com/a",
      types: ["work_items.changed", "upload.ended"],
      description: "mine",
    });
  });
});

describe("an Idempotency-Key", () => {
  const url = "https://example.com/a";
  const create = (webhook: { url: string; types?: ("work_items.changed" | "upload.ended")[]; description?: string }) =>
    acme.send("createWebhook", { body: { webhook }, headers: { "Idempotency-Key": "one" } });

  test("creates one webhook, also at once and where there is room for one", async () => {
    for (let number = 0; number < 19; number++) await add(url);
    const created = await Promise.all(Array.from({ length: 10 }, () => create({ url })));
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
  });

  test.each([
    { url: "https://example.com/b" },
    { url, types: ["work_items.changed" as const] },
    { url, types: ["work_items.changed" as const, "upload.ended" as const] },
    { url, description: "second" },
  ])("with another body is refused: %j", async (other) => {
    const { body } = await create({ url });
    const refused = await create(other);
    expect([refused.status, refused.body.error]).toEqual([422, "Idempotency-Key: was used with another body"]);
    // The body of the request counts, and not what has been changed since.
    await patch(body.data.id, { ...other, description: "changed" });
    expect((await create(other)).status).toBe(422);
    expect((await create({ url })).body.data).toMatchObject({ description: "changed", secret: body.data.secret });
  });

  test("doesn't show a secret again that has been rotated, nor the one after it", async () => {
    const { id, secret } = (await create({ url })).body.data;
    const rotated = (await acme.send("rotateWebhookSecret", { params: { id } })).body.data;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    clock.advance(48 * HOUR_MS);
    const repeated = await create({ url });
    expect([repeated.status, repeated.text.includes("whsec_")]).toEqual([409, false]);
    expect(repeated.body.error).toBe(
      `the webhook ${id} exists, and its secret has been rotated since; rotate it to get a new one`,
    );
  });
});

describe("a rotation", () => {
  test("that would end a secret younger than 24 hours is refused, and says when it is possible", async () => {
    const receiver = await receive();
    const { id, secret } = await add(receiver.url);
    const rotate = () => acme.send("rotateWebhookSecret", { params: { id } });
    const secrets = [secret];
    for (let hour = 0; hour < 9; hour++) {
      secrets.push((await rotate()).body.data.secret);
      clock.advance(HOUR_MS);
    }
    const refused = await rotate();
    expect([refused.status, refused.body.error]).toEqual([
      409,
      "too many secrets of this webhook are younger than 24 hours; rotate again after 2026-03-02T12:00:00.000Z",
    ]);
    await acme.send("testWebhook", { params: { id } });
    expect(secrets.map((each) => isSignedBy(each, receiver.received[0]!))).toEqual(secrets.map(() => true));
    clock.advance(15 * HOUR_MS);
    secrets.push((await rotate()).body.data.secret);
    await acme.send("testWebhook", { params: { id } });
    const [first, ...others] = secrets.map((each) => isSignedBy(each, receiver.received[1]!));
    expect([first, ...others]).toEqual([false, ...others.map(() => true)]);
    expect((await rotate()).body.error).toContain("rotate again after 2026-03-02T13:00:00.000Z");
  });
});
