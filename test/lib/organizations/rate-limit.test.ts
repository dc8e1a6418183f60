import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RateLimitExceededError } from "../../../lib/errors.ts";
import type { Organization } from "../../../lib/organizations/organization.ts";
import { STORE_TIMEOUT_MS } from "../../../lib/organizations/limit-record.ts";
import { createRateLimiter, LEASE_MS } from "../../../lib/organizations/rate-limit.ts";
import { createTestClock } from "../../support/clock.ts";
import { type Fault, injectFaults } from "../../support/faults.ts";
import { organizationWith } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

const clock = createTestClock();
let runtime: TestRuntime;
let writes = 0;
let fault: Fault = "none";
/** What requests wait for. */
let held: Promise<void> | undefined;
beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  injectFaults(runtime.dynamodb, async () => {
    writes += 1;
    await held;
    return fault;
  });
});

const organization = (rate: number, burst: number): Organization =>
  organizationWith({ id: `test-${randomUUID().slice(0, 8)}`, rate, burst });

let failures = 0;
const createInstance = (storeTimeout?: number) => {
  return createRateLimiter(runtime, () => (failures += 1), storeTimeout);
};
/** A longer time-out than in production, since many instances keep this machine busy. */
const PATIENT_MS = 30_000;
beforeEach(() => {
  failures = 0;
  writes = 0;
});

/** Sends one request. @returns true if it passes, otherwise the seconds to wait */
const attempt = async (admit: ReturnType<typeof createInstance>, caller: Organization): Promise<true | number> => {
  try {
    await admit(caller);
    return true;
  } catch (error) {
    if (error instanceof RateLimitExceededError) return error.retryAfterSeconds;
    throw error;
  }
};

describe("the rate limiter", () => {
  it("admits exactly the burst at once, then one request for each interval", async () => {
    const caller = organization(10, 20);
    const admit = createInstance(PATIENT_MS);
    const outcomes: (true | number)[] = [];
    for (let request = 0; request < 25; request++) outcomes.push(await attempt(admit, caller));
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(20);

    clock.advance(99);
    expect(await attempt(admit, caller)).not.toBe(true);
    clock.advance(1);
    expect(await attempt(admit, caller)).toBe(true);
    expect(await attempt(admit, caller)).not.toBe(true);
  });

  it("names a time to wait after which a request passes", async () => {
    const caller = organization(1, 5);
    const admit = createInstance(PATIENT_MS);
    for (let request = 0; request < 5; request++) expect(await attempt(admit, caller)).toBe(true);
    const seconds = await attempt(admit, caller);
    expect(seconds).toBe(1);
    clock.advance(Number(seconds) * 1000 - 1);
    expect(await attempt(admit, caller)).toBe(1);
    clock.advance(1);
    expect(await attempt(admit, caller)).toBe(true);
  });

  it("remembers a rejection until it ends, without another request to the store", async () => {
    const caller = organization(1, 1);
    const admit = createInstance(PATIENT_MS);
    await attempt(admit, caller);
    await attempt(admit, caller);
    writes = 0;
    for (let request = 0; request < 50; request++) expect(await attempt(admit, caller)).toBe(1);
    expect(writes).toBe(0);
  });

  it("gives back the whole burst after a rest", async () => {
    const caller = organization(100, 30);
    const admit = createInstance(PATIENT_MS);
    for (let request = 0; request < 60; request++) await attempt(admit, caller);
    clock.advance(60_000);
    let admitted = 0;
    for (let request = 0; request < 60; request++) if ((await attempt(admit, caller)) === true) admitted += 1;
    expect(admitted).toBe(30);
  });

  it("counts organizations apart", async () => {
    const [one, other] = [organization(1, 1), organization(1, 1)];
    const admit = createInstance(PATIENT_MS);
    expect(await attempt(admit, one)).toBe(true);
    expect(await attempt(admit, one)).not.toBe(true);
    expect(await attempt(admit, other)).toBe(true);
  });

  it("pays well under one write a request on a busy instance", async () => {
    const caller = organization(1000, 2000);
    const admit = createInstance(PATIENT_MS);
    const requests = 5000;
    for (let request = 0; request < requests; request++) {
      clock.advance(request % 10 === 0 ? 12 : 0); // about 830 requests a second
      expect(await attempt(admit, caller)).toBe(true);
    }
    expect(writes).toBeLessThan(requests / 20);
  });

  it("debits once for requests that wait together", async () => {
    const caller = organization(10_000, 20_000);
    const admit = createInstance(PATIENT_MS);
    await Promise.all(Array.from({ length: 500 }, () => admit(caller)));
    expect(writes).toBeLessThan(10);
  });

  it.each([
    { instances: 12, rate: 50, burst: 100, perTick: 30 },
    { instances: 4, rate: 300, burst: 60, perTick: 40 },
    { instances: 30, rate: 20, burst: 200, perTick: 60 },
  ])(
    "never admits more than burst + rate × (window + 5 s) over $instances instances at once",
    async ({ instances, rate, burst, perTick }) => {
      const caller = organization(rate, burst);
      const limiters = Array.from({ length: instances }, () => createInstance(PATIENT_MS));
      /** Milliseconds of each admitted request since the start. */
      const admitted: number[] = [];
      const started = clock();
      for (let tick = 0; tick < 60; tick++) {
        const requests = Array.from({ length: perTick }, async (_, index) => {
          const limiter = limiters[(tick * 7 + index) % instances];
          if (limiter && (await attempt(limiter, caller)) === true) admitted.push(clock() - started);
        });
        await Promise.all(requests);
        clock.advance(100);
      }
      const lease = LEASE_MS / 1000;
      let most = -Infinity;
      for (const [from, first] of admitted.entries()) {
        for (const [to, last] of admitted.entries()) {
          if (to >= from) most = Math.max(most, to - from + 1 - rate * ((last - first) / 1000 + lease));
        }
      }
      expect(most).toBeLessThanOrEqual(burst);
      // Not far fewer than allowed either: only few requests expire with unused leases.
      expect(admitted.length).toBeGreaterThan((burst + rate * 6) * 0.8);
      expect(failures).toBe(0);
    },
  );

  it("loses what is left of a lease after five seconds", async () => {
    const caller = organization(1, 100);
    const [busy, other] = [createInstance(PATIENT_MS), createInstance(PATIENT_MS)];
    for (let request = 0; request < 20; request++) await busy(caller);
    clock.advance(LEASE_MS);
    writes = 0;
    await busy(caller);
    expect(writes).toBe(1);
    await other(caller);
  });

  it("lets requests pass where the store fails, says so, and limits again a second later", async () => {
    const caller = organization(1, 1);
    const admit = createInstance(PATIENT_MS);
    fault = "unreachable";
    for (let request = 0; request < 5; request++) expect(await attempt(admit, caller)).toBe(true);
    fault = "none";
    expect(failures).toBe(1);
    clock.advance(1000);
    expect(await attempt(admit, caller)).toBe(true);
    expect(await attempt(admit, caller)).toBe(1);
  });

  it("rejects requests if the record is throttled: that is the overload that it protects from", async () => {
    const caller = organization(100, 100);
    const admit = createInstance(PATIENT_MS);
    fault = "throttled";
    for (let request = 0; request < 5; request++) expect(await attempt(admit, caller)).not.toBe(true);
    fault = "none";
    // The client itself tries each request again.
    expect(failures).toBe(0);
    expect(writes).toBeLessThanOrEqual(3);
    clock.advance(2500);
    expect(await attempt(admit, caller)).toBe(true);
  });

  it("waits no longer than 100 ms for the store", async () => {
    const admit = createInstance();
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    const started = performance.now();
    // The store responds only afterwards.
    expect(await attempt(admit, organization(1, 1))).toBe(true);
    const waited = performance.now() - started;
    held = undefined;
    resolve();
    expect(failures).toBe(1);
    expect(waited).toBeGreaterThan(STORE_TIMEOUT_MS - 10);
  });
});

describe("a clock that jumps by an hour", () => {
  const HOUR_MS = 3_600_000;
  const admitted = async (admit: ReturnType<typeof createInstance>, caller: Organization, seconds: number) => {
    let passed = 0;
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      for (let request = 0; request < 5; request++) if ((await attempt(admit, caller)) === true) passed++;
      clock.advance(100);
    }
    return passed;
  };

  it("forwards on one instance neither locks the organization out nor lifts its limit", async () => {
    const caller = organization(10, 20);
    const normal = createInstance(PATIENT_MS);
    const ahead = createInstance(PATIENT_MS);
    await attempt(normal, caller);
    clock.advance(HOUR_MS);
    for (let request = 0; request < 20; request++) await attempt(ahead, caller);
    clock.advance(-HOUR_MS);
    const passed = await admitted(normal, caller, 20);
    expect(passed).toBeGreaterThan(100);
    expect(passed).toBeLessThanOrEqual(20 + 10 * 25);
  });

  it.each([-HOUR_MS, HOUR_MS])("by %i ms keeps an instance at the limit", async (off) => {
    const caller = organization(10, 20);
    const admit = createInstance(PATIENT_MS);
    await admitted(admit, caller, 5);
    clock.advance(off);
    const passed = await admitted(admit, caller, 20);
    expect(passed).toBeGreaterThan(100);
    expect(passed).toBeLessThanOrEqual(20 + 10 * 25);
  });

  it("backwards does not let requests pass for an hour after an outage", async () => {
    const caller = organization(10, 20);
    const admit = createInstance(PATIENT_MS);
    fault = "unreachable";
    await attempt(admit, caller);
    fault = "none";
    clock.advance(-HOUR_MS);
    expect(await admitted(admit, caller, 20)).toBeLessThanOrEqual(20 + 10 * 25);
  });
});
