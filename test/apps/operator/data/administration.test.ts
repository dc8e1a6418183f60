import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { createAccessStore } from "../../../../lib/organizations/access-store.ts";
import { getOrganization, putOrganization } from "../../../../apps/operator/data/administration.ts";
import { createKey, isLive, listKeys, revokeKey, rotateKey } from "../../../../apps/operator/data/key-management.ts";
import { hashApiKey } from "../../../../lib/organizations/api-key.ts";
import { NotFoundError } from "../../../../lib/errors.ts";
import { createTestClock } from "../../../support/clock.ts";
import { administrationOf } from "../../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const clock = createTestClock();
let runtime: TestRuntime;
let administration: ReturnType<typeof administrationOf>;
beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  administration = administrationOf(runtime);
});

describe("an organization", () => {
  it("gets the default limits, 8 shards and a secret of its own", async () => {
    const [one, other] = [await putOrganization(administration, "one"), await putOrganization(administration, "other")];
    expect(one).toMatchObject({ organization: "one", rate: 100, burst: 200, listing_shards: 2 });
    expect(Buffer.from(one.cursor_secret, "base64url")).toHaveLength(32);
    expect(one.cursor_secret).not.toBe(other.cursor_secret);
  });

  it("keeps what is not set again, its secret above all", async () => {
    const before = await putOrganization(administration, "kept", { rate: 5, burst: 7 });
    await putOrganization(administration, "kept", { burst: 9 });
    await putOrganization(administration, "kept");
    expect(await getOrganization(administration, "kept")).toEqual({ ...before, burst: 9 });
    expect(await createAccessStore(runtime).findOrganization("kept")).toEqual({
      id: "kept",
      rate: 5,
      burst: 9,
      listingShards: 2,
      listingWriteShards: 2,
      cursorSecret: before.cursor_secret,
      changesFrom: clock() * 1000,
    });
  });

  it.each(["", "Acme", "-acme", "a_b", "a#b", "a/b", "ä", "a".repeat(65)])("is never named %j", async (id) => {
    await expect(putOrganization(administration, id)).rejects.toThrow("lowercase");
  });

  it("is not there before it is made", async () => {
    await expect(getOrganization(administration, "nobody")).rejects.toThrow(NotFoundError);
    expect(await createAccessStore(runtime).findOrganization("nobody")).toBeUndefined();
  });
});

describe("a key", () => {
  it("makes its organization, is found by its hash and is stored nowhere", async () => {
    const { key, record } = await createKey(administration, "fresh", { name: "ci" });
    expect(await createAccessStore(runtime).findKey(hashApiKey(key))).toEqual(record);
    expect(await getOrganization(administration, "fresh")).toMatchObject({ rate: 100 });
    const { Items: items } = await runtime.dynamodb.send(
      new ScanCommand({ TableName: runtime.environment.ACCESS_TABLE }),
    );
    expect(items?.length).toBeGreaterThan(2);
    expect(JSON.stringify(items)).not.toContain(key.slice(6));
  });

  it("is listed with all others of its organization, the newest first", async () => {
    const first = await createKey(administration, "listed");
    clock.advance(1);
    const second = await createKey(administration, "listed", { name: "ci" });
    await createKey(administration, "listed-too");
    expect(await listKeys(administration, "listed")).toEqual([second.record, first.record]);
  });

  it("is revoked permanently, in both of its records; revoking it again changes nothing", async () => {
    const { key, record } = await createKey(administration, "revoked");
    const revoked = await revokeKey(administration, "revoked", record.key_id);
    clock.advance(5);
    expect(await revokeKey(administration, "revoked", record.key_id)).toEqual(revoked);
    expect(await listKeys(administration, "revoked")).toEqual([revoked]);
    expect(await createAccessStore(runtime).findKey(hashApiKey(key))).toEqual(revoked);
    expect(isLive(revoked, clock())).toBe(false);
  });

  it("of another organization cannot be revoked", async () => {
    const { record } = await createKey(administration, "owner");
    await putOrganization(administration, "stranger");
    await expect(revokeKey(administration, "stranger", record.key_id)).rejects.toThrow(NotFoundError);
  });

  it("is rotated so that two of its name live at once, others left alone", async () => {
    const other = await createKey(administration, "rotating", { name: "other" });
    const first = await createKey(administration, "rotating", { name: "ci" });
    clock.advance(1);
    const second = await rotateKey(administration, "rotating", { name: "ci" });
    expect(second).toMatchObject({ previous: first.record, revoked: [] });
    clock.advance(1);
    const third = await rotateKey(administration, "rotating", { name: "ci" });
    expect(third.previous).toEqual(second.record);

    const live = (await listKeys(administration, "rotating")).filter((key) => isLive(key, clock()));
    expect(live.map(({ key_id: id }) => id).toSorted()).toEqual(
      [third, second, other].map(({ record }) => record.key_id).toSorted(),
    );
  });

  it("is rotated without ending another key of the same name", async () => {
    const [one, two] = [await createKey(administration, "twins"), await createKey(administration, "twins")];
    const ids = [one.record.key_id, two.record.key_id];
    await expect(rotateKey(administration, "twins")).rejects.toThrow(
      /^organization twins has several keys named default; name one by its ID: \w{12}, \w{12}$/,
    );
    clock.advance(1);
    const next = await rotateKey(administration, "twins", { keyId: one.record.key_id });
    expect(next).toMatchObject({ previous: one.record, revoked: [], record: { name: "default" } });
    clock.advance(1);
    const last = await rotateKey(administration, "twins", { keyId: next.record.key_id });
    expect(last.revoked.map(({ key_id: id }) => id)).toEqual([one.record.key_id]);
    const live = (await listKeys(administration, "twins")).filter((key) => isLive(key, clock()));
    expect(live.map(({ key_id: id }) => id).toSorted()).toEqual(
      [ids[1]!, next.record.key_id, last.record.key_id].toSorted(),
    );
  });

  it("cannot be rotated where none of its name lives", async () => {
    const { record } = await createKey(administration, "dead");
    await revokeKey(administration, "dead", record.key_id);
    await expect(rotateKey(administration, "dead")).rejects.toThrow(NotFoundError);
  });
});
