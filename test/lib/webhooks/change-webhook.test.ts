import { describe, expect, test } from "vitest";
import { eraseOrganization } from "../../../apps/operator/data/erase-organization.ts";
import { WEBHOOK_TYPES } from "../../../lib/webhooks/endpoint-state.ts";
import { createCustomer, operatorOf, tracesOf } from "../../support/customer-data.ts";
import { isSignedBy } from "../../support/webhooks.ts";
import { useWebhooks } from "./use-webhooks.ts";

const HOUR_MS = 60 * 60 * 1000;
const { hooks, receive, add, patch } = useWebhooks();

describe("an organization", () => {
  const create = (number: number) =>
    hooks.acme.send("createWebhook", { body: { webhook: { url: `https://example.com/${number}` } } });
  const countsOf = (responses: readonly { readonly status: number }[]) =>
    Object.fromEntries(
      [...Map.groupBy(responses, ({ status }) => status)].map(([status, all]) => [status, all.length]),
    );
  const idsOf = async () => (await hooks.acme.send("listWebhooks")).body.data.map(({ id }) => id);

  test("has at most 20 webhooks, however many are created at once, and a deleted one makes room for one", async () => {
    for (let number = 0; number < 15; number++) await create(number);
    // Each creation makes the others read again, so that on a busy machine thirty at once take minutes.
    const numbers = Array.from({ length: 10 }, (_, number) => number);
    expect(countsOf(await Promise.all(numbers.map(create)))).toEqual({ 201: 5, 409: 5 });
    const [id] = await idsOf();
    await hooks.acme.send("deleteWebhook", { params: { id: id! } });
    expect(countsOf([await create(0), await create(1)])).toEqual({ 201: 1, 409: 1 });
    expect(await idsOf()).toHaveLength(20);
  });

  test("that was erased and made again may have 20 again, and nothing is left of those before", async () => {
    for (let number = 0; number < 2; number++) await create(number);
    const { id } = hooks.acme.organization;
    await eraseOrganization(operatorOf(hooks.runtime), id, {
      sleep: async (milliseconds) => hooks.clock.advance(milliseconds),
    });
    expect(await tracesOf(hooks.runtime, id, hooks.acme.keyId)).toEqual([]);
    hooks.acme = await createCustomer(hooks.runtime, id);
    const responses = [];
    for (let number = 0; number < 21; number++) responses.push(await create(number));
    expect(countsOf(responses)).toEqual({ 201: 20, 409: 1 });
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
    ["example.com", "must begin with https://"],
    ["https://example.com/\r\nX-Y: z", "must not contain spaces, line breaks or control characters"],
    ["https://example.com/ ", "must not contain spaces, line breaks or control characters"],
    ["HTTPS://example.com/", "must begin with https://"],
    ["https://", "must be a URL"],
    ["http://localhost.example.com/", "must begin with https://"],
    ["http://example.com./", "must begin with https://"],
    ["https://10.1.2.3./", "must not be an address of a private network"],
  ])("with the URL %s are refused", async (url, reason) => {
    const refused = await hooks.acme.send("createWebhook", { body: { webhook: { url } } });
    expect([refused.status, refused.body.error]).toEqual([422, `webhook.url: ${reason}`]);
  });

  test("take a local name with a final dot where they take it without", async () => {
    for (const url of ["http://localhost:4000/", "http://localhost.:4000/"]) {
      expect((await hooks.acme.send("createWebhook", { body: { webhook: { url } } })).status).toBe(201);
    }
  });

  test("keep what isn't named", async () => {
    const { id } = await add("https://example.com/a");
    expect((await patch(id, { description: "mine" })).body.data).toMatchObject({
      url: "https://example.com/a",
      types: WEBHOOK_TYPES,
      description: "mine",
    });
  });
});

describe("an Idempotency-Key", () => {
  const url = "https://example.com/a";
  const create = (webhook: { url: string; types?: ("work_items.changed" | "upload.ended")[]; description?: string }) =>
    hooks.acme.send("createWebhook", { body: { webhook }, headers: { "Idempotency-Key": "one" } });

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
    const rotated = (await hooks.acme.send("rotateWebhookSecret", { params: { id } })).body.data;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    hooks.clock.advance(48 * HOUR_MS);
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
    const rotate = () => hooks.acme.send("rotateWebhookSecret", { params: { id } });
    const secrets = [secret];
    for (let hour = 0; hour < 9; hour++) {
      secrets.push((await rotate()).body.data.secret);
      hooks.clock.advance(HOUR_MS);
    }
    const refused = await rotate();
    expect([refused.status, refused.body.error]).toEqual([
      409,
      "too many secrets of this webhook are younger than 24 hours; rotate again after 2026-03-02T12:00:00.000Z",
    ]);
    await hooks.acme.send("testWebhook", { params: { id } });
    expect(secrets.map((each) => isSignedBy(each, receiver.received[0]!))).toEqual(secrets.map(() => true));
    hooks.clock.advance(15 * HOUR_MS);
    secrets.push((await rotate()).body.data.secret);
    await hooks.acme.send("testWebhook", { params: { id } });
    const [first, ...others] = secrets.map((each) => isSignedBy(each, receiver.received[1]!));
    expect([first, ...others]).toEqual([false, ...others.map(() => true)]);
    expect((await rotate()).body.error).toContain("rotate again after 2026-03-02T13:00:00.000Z");
  });
});
