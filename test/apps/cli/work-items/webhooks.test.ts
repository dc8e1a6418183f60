import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Webhook } from "../../../../apps/client/client.ts";
import { startTestService, type TestService } from "../../../support/local-service.ts";
import { startReceiver } from "../../../support/webhooks.ts";
import { run } from "./terminal.ts";

let service: TestService;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let status = 204;
beforeAll(async () => {
  service = await startTestService();
  receiver = await startReceiver((_, response) => void response.writeHead(status).end());
  vi.stubEnv("WORK_ITEMS_URL", service.baseUrl);
  vi.stubEnv("WORK_ITEMS_KEY", service.apiKey);
});
afterEach(() => void (status = 204));
afterAll(async () => {
  vi.unstubAllEnvs();
  await receiver?.stop();
  await service?.stop();
});

describe("work-items webhooks", () => {
  test("adds, shows, tests, pauses, resumes, resends, rotates and removes a webhook", async () => {
    expect(await run("webhooks")).toEqual({ exit: 0, out: "", told: "" });
    const added = await run("webhooks", "add", receiver.url, "--types", "upload.ended", "--description", "mine");
    expect(added).toMatchObject({ exit: 0, out: expect.stringMatching(/^whsec_\S+\n$/) });
    const listed = await run("webhooks", "list", "--json");
    const { id, ...webhook } = JSON.parse(listed.out) as Webhook;
    expect(webhook).toMatchObject({ url: receiver.url, types: ["upload.ended"], description: "mine" });
    expect(listed.out).not.toContain("whsec_");
    expect((await run("webhooks")).out).toMatch(
      new RegExp(`^${id}  active  \\S+  upload.ended  no delivery yet  next attempt \\S+  mine\n$`),
    );

    expect((await run("webhooks", "test", id)).out).toMatch(/^The receiver answered 204 after \d+ ms\.\n$/);
    expect(() => new StandardWebhook(added.out.trim()).verify(...last())).not.toThrow();
    status = 500;
    expect(await run("webhooks", "test", id)).toMatchObject({ exit: 3, out: expect.stringContaining("500") });
    expect((await run("webhooks", "pause", id)).out).toContain(`${id}  disabled (paused)`);
    expect((await run("webhooks", "resume", id)).out).toContain(`${id}  active`);
    status = 204;
    expect(await run("webhooks", "resend", id)).toMatchObject({
      out: expect.stringContaining(`${id}  active`),
      told: expect.stringContaining("will be called within seconds"),
    });
    await expect
      .poll(async () => (await run("webhooks", "show", id)).out, { timeout: 30_000 })
      .toMatch(
        /mine\nsent at {2}type {2}answer {2}message\n\S+Z {2}uploads\.ended {2}204 after \d+ ms {2}\S+\n\S+Z {2}webhook\.test {2}500 after/,
      );
    const rotated = await run("webhooks", "rotate", id);
    expect(rotated.out).toMatch(/^whsec_/);
    expect(rotated.out).not.toBe(added.out);
    expect(await run("webhooks", "remove", id)).toMatchObject({ exit: 0, out: `removed ${id}\n` });
    expect(await run("webhooks", "show", id)).toMatchObject({
      exit: 1,
      told: expect.stringContaining("webhook not found"),
    });
  });

  test("says what is missing or wrong", async () => {
    expect(await run("webhooks", "add")).toMatchObject({
      exit: 2,
      told: expect.stringContaining("URL of your receiver"),
    });
    expect(await run("webhooks", "test")).toMatchObject({ exit: 2, told: expect.stringContaining("ID of a webhook") });
    expect(await run("webhooks", "toString", "x")).toMatchObject({
      exit: 2,
      told: expect.stringContaining("use list"),
    });
    expect(await run("webhooks", "add", "https://10.0.0.1/")).toMatchObject({
      exit: 1,
      told: expect.stringContaining("must not be an address of a private network"),
    });
    expect(await run("webhooks", "add", receiver.url, "--types", "everything")).toMatchObject({ exit: 1 });
  });
});

const last = (): [string, Record<string, string>] => {
  const { body, headers } = receiver.received.at(-1)!;
  return [body, headers];
};
