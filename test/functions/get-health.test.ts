import { describe, expect, it } from "vitest";
import { create } from "../../functions/get-health.ts";
import manifest from "../../package.json" with { type: "json" };
import { createTestClock } from "../support/clock.ts";
import { type Fault, injectFaults } from "../support/faults.ts";
import { call } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";

const createHealth = async () => {
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock });
  let reads = 0;
  let fault: Fault = "none";
  injectFaults(runtime.dynamodb, () => {
    reads += 1;
    return fault;
  });
  const handler = create(runtime);
  return {
    clock,
    get: (method = "GET") => call(handler, { method, resource: "/v1/health" }),
    reads: () => reads,
    fail: (next: Fault) => void (fault = next),
  };
};

describe("GET /v1/health", () => {
  it("needs no key and returns region and version", async () => {
    const { get } = await createHealth();
    const { status, headers, body } = await get();
    expect(status).toBe(200);
    expect(body).toEqual({ status: "ok", region: "us", version: manifest.version });
    expect(headers["x-request-id"]).toMatch(/./);
    expect(headers).not.toHaveProperty("ratelimit");
  });

  it("reads the table once a second, however many ask", async () => {
    const { get, reads, clock } = await createHealth();
    await Promise.all(Array.from({ length: 20 }, () => get()));
    clock.advance(999);
    await get();
    expect(reads()).toBe(1);
    clock.advance(1);
    await get();
    expect(reads()).toBe(2);
  });

  it.each(["unreachable", "throttled"] as const)("responds with 503 while the table is %s", async (fault) => {
    const { get, fail, clock } = await createHealth();
    await get();
    fail(fault);
    clock.advance(1000);
    const { status, headers, body } = await get();
    expect({ status, body }).toEqual({ status: 503, body: { error: "the store does not respond; retry later" } });
    expect(headers["retry-after"]).toBe("1");
    expect(await get("HEAD")).toMatchObject({ status: 503, text: "" });
    fail("none");
    clock.advance(1000);
    expect((await get()).status).toBe(200);
  });
});
