import { beforeAll, describe, expect, it } from "vitest";
import { createAccessStore, keyRecordKey } from "../../../lib/organizations/access-store.ts";
import { putOrganization } from "../../../apps/operator/data/administration.ts";
import { createKey, revokeKey } from "../../../apps/operator/data/key-management.ts";
import { generateApiKey, hashApiKey } from "../../../lib/organizations/api-key.ts";
import { UnauthenticatedError } from "../../../lib/errors.ts";
import {
  createAuthenticate,
  KEY_CACHE_SECONDS,
  UNKNOWN_KEY_CACHE_SECONDS,
} from "../../../lib/organizations/authenticate.ts";
import { createTestClock } from "../../support/clock.ts";
import { injectFaults } from "../../support/faults.ts";
import { administrationOf, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { overwrite } from "../../support/customer-data.ts";

const clock = createTestClock();
let runtime: TestRuntime;
let reads = 0;
let failing = false;
beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  injectFaults(runtime.dynamodb, (command) => {
    if (command === "GetItemCommand") reads += 1;
    return failing ? "throttled" : "none";
  });
});

const createInstance = () => {
  const authenticate = createAuthenticate({ region: "us", store: createAccessStore(runtime), clock });
  return async (authorization: string | undefined) => (await authenticate(authorization)).organization;
};

describe("authenticate", () => {
  it("finds the organization of a key, whatever the case of the scheme", async () => {
    const { organization, key } = await createTestOrganization(runtime);
    const authenticate = createInstance();
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      expect(await authenticate(`${scheme} ${key}`)).toEqual(organization);
    }
  });

  it("rejects anything but bearer keys of this region without a read", async () => {
    const { key } = await createTestOrganization(runtime);
    const authenticate = createInstance();
    reads = 0;
    const refused = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      key,
      `Basic ${key}`,
      `Bearer ${key} ${key}`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key.replace("wi_us_", "wi_eu_")}`,
      `Bearer ${generateApiKey("eu")}`,
      `Bearer ${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`,
    ];
    for (const authorization of refused) {
      await expect(authenticate(authorization)).rejects.toThrow(UnauthenticatedError);
    }
    expect(reads).toBe(0);
  });

  it("reads a key once in 30 s, then sees what has changed", async () => {
    const { organization, key } = await createTestOrganization(runtime, { rate: 50 });
    const authenticate = createInstance();
    reads = 0;
    await Promise.all(Array.from({ length: 20 }, () => authenticate(`Bearer ${key}`)));
    clock.advance(KEY_CACHE_SECONDS * 1000 - 1);
    await authenticate(`Bearer ${key}`);
    expect(reads).toBe(2); // the key and its organization

    await putOrganization(administrationOf(runtime), organization.id, { rate: 60 });
    clock.advance(1);
    expect((await authenticate(`Bearer ${key}`)).rate).toBe(60);
  });

  it("rejects a revoked key within 60 s", async () => {
    const { organization, key, keyId } = await createTestOrganization(runtime);
    const authenticate = createInstance();
    await authenticate(`Bearer ${key}`);
    await revokeKey(administrationOf(runtime), organization.id, keyId);
    clock.advance(60_000);
    await expect(authenticate(`Bearer ${key}`)).rejects.toThrow(UnauthenticatedError);
  });

  it("rejects a key from the moment that it expires, cached or not", async () => {
    const { organization } = await createTestOrganization(runtime);
    const validUntil = new Date(clock() + 10_000).toISOString();
    const { key } = await createKey(administrationOf(runtime), organization.id, { validUntil });
    const authenticate = createInstance();
    clock.advance(9_999);
    await authenticate(`Bearer ${key}`);
    clock.advance(1);
    await expect(authenticate(`Bearer ${key}`)).rejects.toThrow(UnauthenticatedError);
    await expect(createInstance()(`Bearer ${key}`)).rejects.toThrow(UnauthenticatedError);
  });

  it.each(["soon", "", "2026-13-01T00:00:00Z"])("rejects a key with the invalid expiry %j", async (time) => {
    const { key } = await createTestOrganization(runtime);
    await createInstance()(`Bearer ${key}`);
    await overwrite(runtime, "ACCESS_TABLE", keyRecordKey(hashApiKey(key)), "valid_until", time);
    await expect(createInstance()(`Bearer ${key}`)).rejects.toThrow(UnauthenticatedError);
  });

  it("remembers for 5 s that a key is unknown", async () => {
    const authenticate = createInstance();
    const key = generateApiKey("us");
    reads = 0;
    for (let call = 0; call < 3; call++)
      await expect(authenticate(`Bearer ${key}`)).rejects.toThrow(UnauthenticatedError);
    expect(reads).toBe(1);
    clock.advance(UNKNOWN_KEY_CACHE_SECONDS * 1000);
    await expect(authenticate(`Bearer ${key}`)).rejects.toThrow(UnauthenticatedError);
    expect(reads).toBe(2);
  });

  it("does not take a failing store for an unknown key, and asks again", async () => {
    const { organization, key } = await createTestOrganization(runtime);
    const authenticate = createInstance();
    failing = true;
    const refusal: unknown = await authenticate(`Bearer ${key}`).catch((error: unknown) => error);
    failing = false;
    expect(refusal).toMatchObject({ name: "ThrottlingException" });
    expect(await authenticate(`Bearer ${key}`)).toEqual(organization);
  });

  it("keeps a customer's key in memory through a flood of made-up ones", async () => {
    const { key } = await createTestOrganization(runtime);
    const authenticate = createInstance();
    await authenticate(`Bearer ${key}`);
    const madeUp = Array.from({ length: 1100 }, () => authenticate(`Bearer ${generateApiKey("us")}`));
    const outcomes = await Promise.allSettled(madeUp);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    reads = 0;
    await authenticate(`Bearer ${key}`);
    expect(reads).toBe(0);
  });
});

describe("a clock that is set back by an hour", () => {
  it("keeps no revoked key alive", async () => {
    const { organization, key } = await createTestOrganization(runtime);
    const authenticate = createInstance();
    expect(await authenticate(`Bearer ${key}`)).toEqual(organization);
    const access = createAccessStore(runtime);
    const { key_id: id } = (await access.findKey(hashApiKey(key)))!;
    await revokeKey(administrationOf(runtime), organization.id, id);
    clock.advance(-3_600_000);
    await expect(authenticate(`Bearer ${key}`)).rejects.toThrow(UnauthenticatedError);
  });
});
