import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { create as createSweepUploads } from "../../functions/sweep-uploads.ts";
import { createAppend } from "../../lib/changes/append-to-log.ts";
import { workItemId } from "../../lib/identity.ts";
import { listOrganizations } from "../../apps/operator/data/administration.ts";
import { countForErasure, eraseOrganization } from "../../apps/operator/data/erase-organization.ts";
import { erasePerson } from "../../apps/operator/data/erase-person.ts";
import { exportOrganization } from "../../apps/operator/data/export-organization.ts";
import { importOrganization } from "../../apps/operator/data/import-organization.ts";
import { listAllKeys } from "../../apps/operator/data/key-management.ts";
import { partitionKeyOf } from "../../lib/resources.ts";
import type { MalformedRecordError } from "../../lib/store/decode-record.ts";
import { uploadShardRecordSchema } from "../../lib/uploads/job/shard-record.ts";
import { UploadStore } from "../../lib/uploads/job/upload-store.ts";
import { createCaller } from "../support/service.ts";
import { createTestClock, type TestClock } from "../support/clock.ts";
import { allRecords, createCustomer, type Customer, fill, operatorOf, tracesOf } from "../support/customer-data.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";

type StoredRecord = Record<string, unknown>;

/** Every kind of record that an organization has, and the traversals that name a damaged one. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "ITEM #ITEM": ["export", "import"],
  "ITEM EVENT": ["export", "import"],
  "CONVERSATION #CONVERSATION": ["export", "import"],
  "UPLOAD #JOB": ["person", "erase"],
  LOG: [],
  "ORGANIZATION #ORGANIZATION": ["organizations"],
  "ORGANIZATION KEY": ["keys", "erase"],
  "KEY #KEY": [],
  // Traversals read only the keys of these, or nothing.
  "UPLOAD SHARD": [],
  WEBHOOK: [],
  "WEBHOOK_LIMIT #CREATED": [],
  WEBHOOK_SECRET: [],
  WEBHOOK_STATE: [],
  "DRY_RUN #PLAN": [],
  ORGANIZATIONS: [],
  "KEY #USE": [],
  "ORGANIZATION #LIMIT": [],
};
/** What reads respond to its organization, in the order of `reads`; of other kinds all are 200. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  LOG: [200, 200, 200, 503, 503, 410, 410, 503],
  "ORGANIZATION #ORGANIZATION": Array(8).fill(500),
  "KEY #KEY": Array(8).fill(500),
};
const ALONE = Object.keys(KINDS).slice(0, 8);
const TOGETHER = Object.keys(KINDS).slice(8);

function kindOf({ pk, sk }: StoredRecord): string {
  const [partition] = String(pk).split("#");
  const [, sort] = /^(#[A-Z]+|EVENT|SHARD|KEY(?=#))/.exec(String(sk)) ?? [];
  return sort === undefined ? String(partition) : `${partition} ${sort}`;
}

let clock: TestClock;
let runtime: TestRuntime;
let other: Customer;
let before: Awaited<ReturnType<typeof reads>>;
const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);

/** A customer with a record of every kind, two of most. */
const createFilled = async (id: string): Promise<Customer> => {
  const customer = await createCustomer(runtime, id);
  const { organization } = customer;
  await fill(runtime, customer);
  const form = { body: { upload: { filename: "small.csv", size: 10 } } };
  const { data } = (await customer.send("uploadWorkItems", form)).body;
  const store = new UploadStore(runtime);
  const job = (await store.readJob({ organization: id, id: data.id }))!;
  await store.shards.claim(job, uploadShardRecordSchema.parse({ number: 0 }));
  await createAppend(runtime)(id, [workItemId(id, "kept"), workItemId(id, "of another")], Infinity);
  const plan = { pk: partitionKeyOf("DRY_RUN", id, "job", workItemId(id, "kept")), sk: "#PLAN", plan: "{}" };
  await runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Item: plan }));
  return { ...customer, organization };
};
const recordsOf = async ({ organization: { id }, keyId }: Customer): Promise<StoredRecord[]> => {
  const named = new RegExp(`(?<![a-z0-9-])(${id}|${keyId})(?![a-z0-9-])`);
  return (await allRecords(runtime)).filter((record) => named.test(JSON.stringify(record)));
};
/** Writes a record back to the table that it is from. */
const put = async (Item: StoredRecord): Promise<void> => {
  const kind = kindOf(Item);
  const { WORK_ITEMS_TABLE, ACCESS_TABLE, CHANGES_TABLE, LIMITS_TABLE, WEBHOOKS_TABLE } = runtime.environment;
  const isAccess = /^(KEY|ORGANIZATION)/.test(kind);
  const others = kind.startsWith("WEBHOOK") ? WEBHOOKS_TABLE : WORK_ITEMS_TABLE;
  const elsewhere = kind === "LOG" ? CHANGES_TABLE : isAccess ? ACCESS_TABLE : others;
  const TableName = /#(LIMIT|USE)$/.test(kind) ? LIMITS_TABLE : elsewhere;
  await runtime.dynamodb.send(new PutCommand({ TableName, Item }));
};
/** Gives all attributes but those of keys a type that no version of the service has written. */
const damaged = (record: StoredRecord): StoredRecord =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      if (/^(pk|sk)$|_[ps]k$/.test(name)) return [name, value];
      return [name, typeof value === "number" ? "damaged" : 7];
    }),
  );

/** What an organization's reads respond, by new instances that have cached nothing. */
const reads = async ({ organization: { changesFrom }, key }: Customer) => {
  const send = createCaller(runtime, key);
  const responses = {
    items: await send("listWorkItems"),
    uploads: await send("listWorkItemUploads"),
    conversations: await send("listConversationUploads"),
    first: await send("listWorkItemChanges"),
    firstWithEvents: await send("listWorkItemChanges", { query: { include: "events" } }),
    changes: await send("listWorkItemChanges", { query: { after: changesFrom - 1 } }),
    changesWithEvents: await send("listWorkItemChanges", { query: { after: changesFrom - 1, include: "events" } }),
    newest: await send("listWorkItemChanges", { query: { after: "now" } }),
  };
  return Object.fromEntries(Object.entries(responses).map(([name, { status, text }]) => [name, { status, text }]));
};
const statusesOf = (responses: Awaited<ReturnType<typeof reads>>) =>
  Object.fromEntries(Object.entries(responses).map(([name, { status }]) => [name, status]));

/** Runs a traversal. @returns the damaged records that it named, and its result */
const traverse = async <T>(run: (onDamaged: (damaged: MalformedRecordError) => void) => Promise<T>) => {
  const named: string[] = [];
  const result = await run(({ message }) => named.push(message));
  return { named, result };
};
const exported = (id: string) =>
  traverse(async (onDamaged) => {
    let lines = "";
    await exportOrganization(runtime, id, async (chunk) => void (lines += chunk), { onDamaged });
    return lines;
  });
const imported = (id: string, lines: string) =>
  traverse(async (onDamaged) => {
    async function* each() {
      yield* lines.trimEnd().split("\n");
    }
    return (await Array.fromAsync(importOrganization(runtime, id, each(), { existing: "replace", onDamaged }))).at(-1);
  });
const erased = (id: string) =>
  traverse(async (onDamaged) => {
    await countForErasure(operatorOf(runtime), id);
    return eraseOrganization(operatorOf(runtime), id, { sleep, onDamaged });
  });

beforeAll(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  other = await createFilled("other");
  before = await reads(other);
});

describe("a damaged record", () => {
  it("can be of these kinds", async () => {
    const kinds = new Set((await recordsOf(other)).map(kindOf));
    expect([...kinds].toSorted()).toEqual(Object.keys(KINDS).toSorted());
  });

  it.each([...ALONE.map((kind) => [kind]), TOGETHER])(
    "%s is named by the traversals that read it, and stops none",
    async (...kinds) => {
      const [kind = ""] = kinds;
      const names = KINDS[kind] ?? [];
      const id = `acme-${Object.keys(KINDS).indexOf(kind)}`;
      const acme = await createFilled(id);
      const whole = (await exported(id)).result;
      const records = await recordsOf(acme);
      const found = kinds.map((each) => records.find((record) => kindOf(record) === each)!);
      for (const record of found) await put(damaged(record));
      const expectNamed = (traversal: string, { named }: { readonly named: readonly string[] }) => {
        const keys = names.includes(traversal) ? [String(found[0]?.["sk"])] : [];
        const expected = keys.map((key) => expect.stringContaining(key) as string);
        expect({ traversal, named: [...new Set(named)] }).toEqual({ traversal, named: expected });
      };

      const statuses = Object.values(statusesOf(await reads(acme)));
      expect(statuses).toEqual(STATUSES[kind] ?? Array(8).fill(200));

      const organizations = await traverse((onDamaged) => listOrganizations(operatorOf(runtime), onDamaged));
      expectNamed("organizations", organizations);
      expect(organizations.result.map(({ organization }) => organization)).toContain("other");
      const keys = await traverse((onDamaged) => listAllKeys(operatorOf(runtime), onDamaged));
      expectNamed("keys", keys);
      expect(keys.result.map(({ organization }) => organization)).toContain("other");
      await createSweepUploads(runtime)({}, lambdaContext(120_000));

      // The commands only name an organization whose own record is damaged, until it is repaired.
      const repaired = kind === "ORGANIZATION #ORGANIZATION" ? found : [];
      const traversals = repaired.length > 0 ? [exported(id), imported(id, whole), erased(id)] : [];
      const refusals = (await Promise.allSettled(traversals)).map(
        (each) => each.status === "rejected" && String(each.reason),
      );
      expect(refusals).toEqual(traversals.map(() => expect.stringContaining(`#${id} #ORGANIZATION: `)));
      for (const record of repaired) await put(record);

      const left = await exported(id);
      expectNamed("export", left);
      expect(left.result.includes('"left_out":1')).toBe(names.includes("export"));
      expectNamed("import", await imported(id, whole));
      expectNamed(
        "person",
        await traverse((onDamaged) => erasePerson(runtime, id, "ann@example.com", { sleep, onDamaged })),
      );
      expectNamed("erase", await erased(id));
      expect(await tracesOf(runtime, id, acme.keyId)).toEqual([]);
      expect(statusesOf(await reads(other))).toEqual(statusesOf(before));
    },
  );

  it("of the person's item or event keeps the person, is named, and the others are emptied", async () => {
    const acme = await createFilled("ann");
    const isOfAnn = (record: StoredRecord) => record["agent_email"] === "ann@example.com";
    const record = (await recordsOf(acme)).find(isOfAnn)!;
    await put({ ...record, created_at: 7 });
    const { named, result } = await traverse((onDamaged) =>
      erasePerson(runtime, "ann", "ann@example.com", { sleep, onDamaged }),
    );
    expect(named).toContainEqual(expect.stringContaining(`${String(record["pk"])} #ITEM: `));
    expect(result).toMatchObject({ work_items: 1, events: 1 });
  });
});
