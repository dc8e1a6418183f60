import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keysCommand } from "../../../../apps/operator/commands/keys.ts";
import { organizationsCommand } from "../../../../apps/operator/commands/organizations.ts";
import {
  createAccessStore,
  keyRecordKey,
  listedKeyKey,
  organizationRecordKey,
} from "../../../../lib/organizations/access-store.ts";
import { hashApiKey } from "../../../../lib/organizations/api-key.ts";
import { createAuthenticate } from "../../../../lib/organizations/authenticate.ts";
import { create as createGetHandler } from "../../../../functions/list-work-items.ts";
import { overwrite } from "../../../support/customer-data.ts";
import { withoutTimeouts } from "../../../support/faults.ts";
import { call } from "../../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { runCommand } from "../../../support/terminal.ts";

let runtime: TestRuntime;
const dataDirectory = temporaryDirectory(afterAll);
beforeAll(async () => {
  runtime = await createTestRuntime();
  const { ACCESS_TABLE, AUDIT_TABLE, LIMITS_TABLE } = runtime.environment;
  const variables = { ACCESS_TABLE, AUDIT_TABLE, LIMITS_TABLE, REGION_CODE: "us", API_KEY: "none" };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(dataDirectory, "stack.env"), lines.join(""));
});
beforeEach(withoutTimeouts);

/** Runs a command line as `npm run` does, with this file's own data directory unless variables name another. */
const run = async (command: string, variables: Readonly<Record<string, string>> = {}) => {
  const [name, ...words] = command.split(" ");
  const env = { ...process.env, DATA_DIR: dataDirectory, ...variables };
  const { status, out, error } = await runCommand(name === "keys" ? keysCommand : organizationsCommand, words, { env });
  return { status, out: out.trim(), error };
};
const json = async (command: string): Promise<Record<string, string>> => {
  const { status, out, error } = await run(`${command} --json`);
  expect({ status, error }).toEqual({ status: 0, error: "" });
  return JSON.parse(out) as Record<string, string>;
};

const callerOf = (key: string | undefined) =>
  createAuthenticate({ region: "us", store: createAccessStore(runtime), clock: Date.now })(`Bearer ${key}`);
const authenticate = async (key: string | undefined) => (await callerOf(key)).organization;

describe("npm run keys", () => {
  it("creates a valid key, lists it without the key itself, and revokes it by id or by the key", async () => {
    const created = await json("keys create --create --organization acme --name ci --expires 90d");
    expect(await authenticate(created["key"])).toMatchObject({ id: "acme", rate: 100 });
    expect(created).not.toHaveProperty("hash");
    const days = (Date.parse(created["valid_until"] ?? "") - Date.parse(created["created_at"] ?? "")) / 86_400_000;
    expect(Math.round(days)).toBe(90);

    const { out } = await run("keys list --organization acme");
    expect(out).toMatch(
      new RegExp(
        `^acme  ${created["key_id"]}  ci  read,write,upload,webhooks  created \\S+  use unknown  live until \\S+$`,
      ),
    );

    await json(`keys revoke --organization acme --key ${created["key"]}`);
    await expect(authenticate(created["key"])).rejects.toThrow("API key");
    expect((await run("keys list --organization acme")).out).toContain("revoked");
  });

  it("gives a key scopes, which a rotated key keeps; both are valid", async () => {
    const first = await json("keys create --create --organization scoped --scopes read,upload");
    const second = await json(`keys rotate --organization scoped --key ${first["key_id"]}`);
    expect(await callerOf(first["key"])).toMatchObject({ scopes: ["read", "upload"] });
    expect(await callerOf(second["key"])).toMatchObject({ scopes: ["read", "upload"] });
  });

  it("lists and revokes what can be read of damaged keys, and restores each from its other record", async () => {
    const create = () => json("keys create --create --organization torn --scopes read");
    const [first, second, third] = [await create(), await create(), await create()];
    const listed = (key: Record<string, string>) => listedKeyKey({ organization: "torn", key_id: key["key_id"]! });
    const byHash = (key: Record<string, string>) => keyRecordKey(hashApiKey(key["key"]!));
    await overwrite(runtime, "ACCESS_TABLE", listed(first), "hash", 7);
    await overwrite(runtime, "ACCESS_TABLE", byHash(second), "scopes", "all");
    await overwrite(runtime, "ACCESS_TABLE", listed(second), "name", 7);
    await overwrite(runtime, "ACCESS_TABLE", listed(third), "created_at", 7);
    await overwrite(runtime, "ACCESS_TABLE", byHash(third), "created_at", 7);
    await overwrite(runtime, "ACCESS_TABLE", organizationRecordKey("torn"), "rate");

    const { status, error } = await run("keys list --organization torn");
    expect(status).toBe(1);
    for (const name of ["#ORGANIZATION", ...[first, second, third].map((key) => `KEY#${key["key_id"]}`)]) {
      expect(error).toContain(`ORGANIZATION#torn ${name}: `);
    }
    const revoked = await run(`keys revoke --organization torn --key ${first["key_id"]}`);
    expect(revoked).toMatchObject({ status: 1, out: expect.stringContaining(`${first["key_id"]} is revoked`) });
    await expect(authenticate(second["key"])).rejects.toThrow("scopes");

    const repaired = await run("organizations repair torn --rate 8 --json");
    expect(repaired.status).toBe(1);
    const { keys, lost } = JSON.parse(repaired.out) as { keys: string[]; lost: string[] };
    expect(new Set(keys)).toEqual(new Set([first["key_id"], second["key_id"]]));
    expect(lost).toEqual([third["key_id"]]);
    await expect(authenticate(first["key"])).rejects.toThrow("API key");
    expect(await callerOf(second["key"])).toMatchObject({ scopes: ["read"], organization: { id: "torn", rate: 8 } });
    const after = await run("keys list --organization torn");
    expect(after.out).toMatch(new RegExp(`${second["key_id"]}  default  read  .*  live`));
    expect(after.out).toMatch(new RegExp(`${first["key_id"]}  default  read  .*  revoked`));
    expect((await run(`keys revoke --organization torn --key ${third["key"]}`)).out).toContain("is revoked");
  });

  it("lists the keys of all organizations with the hour of their last use", async () => {
    const { key = "", key_id: id = "" } = await json("keys create --create --organization used");
    const { out: before } = await run("keys list");
    expect(before).toContain(`used  ${id}`);
    expect(before).toContain("acme  ");
    expect((await call(createGetHandler(runtime), { resource: "/v1/work_items", key })).status).toBe(200);
    const hour = new Date().toISOString().slice(0, "2026-11-21T18".length);
    expect((await run("keys list --organization used")).out).toContain(`  used ${hour}  `);
  });

  it("prints the key by itself on the first line, for people", async () => {
    const { out } = await run("keys create --create --organization people");
    expect(out.split("\n")[0]).toMatch(/^wi_us_\w{38}$/);
  });

  it.each([
    ["keys", "Usage: npm run keys"],
    ["keys explode", "unknown command 'explode'"],
    ["keys create", "--organization <id>"],
    ["keys create --organization Acme", "organization: must be"],
    ["keys create --organization acne", "there is no organization acne; did you mean acme? use --create for a new one"],
    ["keys create --organization acme --expires soon", "--expires: must be"],
    ["keys create --organization acme --colour red", "--colour"],
    ["keys create --organization acme --scopes reed", "there is no reed; did you mean read?"],
    ["keys list --stage prodd --region us", "did you mean prod?"],
    ["keys list --stage prod --region uss", "did you mean us?"],
    ["keys list --organization acne", "there is no organization acne; did you mean acme?"],
    ["keys rotate --organization acne", "there is no organization acne; did you mean acme?"],
    ["keys revoke --organization acne --key 000000000000", "there is no organization acne; did you mean acme?"],
    ["keys revoke --organization acme", "--key <id or key>"],
    ["keys revoke --organization acme --key 000000000000", "has no key 000000000000"],
    ["keys list --organization acme --table none --region mars", "--region us or eu"],
    ["keys list --organization acme --table none --region use", "there is no use; did you mean us?"],
    ["organizations set", "missing required argument 'organization'"],
    ["organizations set acme --rate 0", "--rate: must be"],
    ["organizations set acme --burst 1e9", "--burst: must be"],
    ["organizations show nobody", "there is no organization nobody"],
    ["organizations set acne --rate 5", "there is no organization acne; did you mean acme? use --create for a new one"],
    ["keys rotate --organization acme --key 000000000000", "has no live key 000000000000"],
  ])("%s: says in short what is wrong and exits with 1", async (command, message) => {
    const { status, out, error } = await run(command);
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(error).toContain(message);
    expect(error).not.toMatch(/^\s+at /m);
  });

  it("says what to do if no service is named or none responds", async () => {
    const nowhere = await run("keys list --organization acme", { DATA_DIR: "/nonexistent" });
    expect(nowhere).toMatchObject({ status: 1, error: expect.stringContaining("npm start") as string });
    const dead = await run("keys list --organization acme", {
      AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9",
    });
    expect(dead).toMatchObject({ status: 1, error: "DynamoDB isn't responding there: is the local service running?" });
    const missing = await run("keys list --organization acme --table none --region us");
    expect(missing.status).toBe(1);
    expect(missing.error.split("\n")).toHaveLength(1);
  });
});

describe("npm run organizations", () => {
  it("sets limits, which later keys and calls see", async () => {
    await json("keys create --create --organization limited");
    expect(await json("organizations set limited --rate 200 --burst 400")).toEqual({
      region: "us",
      organization: "limited",
      rate: 200,
      burst: 400,
      listing_shards: 2,
    });
    const { key } = await json("keys create --create --organization limited");
    expect(await authenticate(key)).toMatchObject({ rate: 200, burst: 400 });
    expect((await run("organizations show limited")).out).toBe(
      "limited in us: 200 requests a second, 400 at once; its lists have 2 shards",
    );
    expect((await run("organizations set limited --listing-shards 1")).error).toContain("must be from 2");
    expect(await json("organizations set made --rate 5 --create")).toMatchObject({ organization: "made", rate: 5 });
    const grown = await run("organizations set limited --listing-shards 3");
    expect(grown).toMatchObject({ status: 0, error: expect.stringMatching(/^waiting \d+ s until every function/) });
    expect(grown.out).toContain("its lists have 3 shards");
    expect((await run("organizations set limited --listing-shards 65")).error).toContain("from 1 to 64");
  });
});
