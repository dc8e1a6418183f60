import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createClient, type WorkItemInput } from "../../../../apps/client/client.ts";
import { createKey } from "../../../../apps/operator/data/key-management.ts";
import { HOSTILE_ITEMS } from "../../../proofs/warehouse/hostile-values.ts";
import { sendAsText } from "../../../proofs/warehouse/items-to-copy.ts";
import { createCustomer } from "../../../support/customer-data.ts";
import { startTestService, type TestService } from "../../../support/local-service.ts";
import { administrationOf } from "../../../support/organization.ts";
import { run } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "export-batch-"));
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  vi.stubEnv("WORK_ITEMS_URL", service.baseUrl);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
  await service?.stop();
});

const exportOf = async (key: string): Promise<string[]> => {
  vi.stubEnv("WORK_ITEMS_KEY", key);
  const { exit, out } = await run("export", "--batch");
  expect(exit).toBe(0);
  // What changed while the feed was loaded is printed again.
  return [...new Set(out.split("\n").slice(0, -1))];
};

it("carries every value and event to another organization by batch", async () => {
  const { apiKey, baseUrl, runtime } = service;
  const client = createClient({ baseUrl, apiKey });
  expect((await sendAsText(service, HOSTILE_ITEMS)).status).toBe(200);
  const event = (number: number) => ({
    external_id: `e-${String(number).padStart(3, "0")} é\u2028`,
    actor_email: "ann@example.com",
    content: number % 2 === 0 ? null : `${"x".repeat(8000)} \u2029😀`,
    occurred_at: new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString(),
  });
  const whole = {
    external_id: "whole",
    agent_name: "Ann",
    status: "completed",
    completed_at: "2026-01-31T09:30:00.5Z",
  } as const;
  const { id } = await client.workItems.create({ ...whole, events: [event(0)] });
  // More than one call takes, and more than one page of the feed shows.
  for (let from = 1; from < 250; from += 90) {
    const events = Array.from({ length: 90 }, (_, number) => event(from + number));
    for await (const { status } of client.workItems.apply([{ external_id: "whole", events }]))
      expect(status).toBe("updated");
  }
  await client.workItems.deleteEvent(id, (await client.workItems.get(id)).events[7]!.id);
  await client.workItems.delete((await client.workItems.create({ external_id: "deleted" })).id);

  const { organization } = await createCustomer(runtime, "other");
  const { key } = await createKey(administrationOf(runtime), organization.id, {});
  const before = await exportOf(apiKey);
  const exported = before.flatMap((line) => (JSON.parse(line) as WorkItemInput).events ?? []);
  // All but the deleted one.
  expect(new Set(exported.map((each) => each.external_id)).size).toBe(270);
  writeFileSync(join(folder, "items.jsonl"), before.map((line) => `${line}\n`).join(""));
  vi.stubEnv("WORK_ITEMS_KEY", key);
  expect(await run("batch", join(folder, "items.jsonl"))).toMatchObject({ exit: 0, told: "" });
  const after = await exportOf(key);
  const sorted = (lines: readonly string[]) => lines.toSorted((a, b) => (a < b ? -1 : 1));
  expect(sorted(after)).toEqual(sorted(before));
  expect(after.some((line) => line.includes("123456789012345678901234567890"))).toBe(true);
});

it("takes no filters", async () => {
  expect(await run("export", "--batch", "--type", "ticket")).toMatchObject({
    exit: 2,
    told: expect.stringContaining("--batch exports all work items; omit the filters"),
  });
});
