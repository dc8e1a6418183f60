import { readFileSync } from "node:fs";
import { paginateScan, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keysCommand } from "../../apps/operator/commands/keys.ts";
import { organizationsCommand } from "../../apps/operator/commands/organizations.ts";
import { create as createSweepChanges } from "../../functions/sweep-changes.ts";
import { isoTime } from "../../lib/clock.ts";
import { resources, type ResourceNameOf, resourcesOfKind } from "../../lib/resources.ts";
import { allItems } from "../../lib/store/all-items.ts";
import { createCustomer } from "../support/customer-data.ts";
import { readFeed } from "../support/feed.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createCaller } from "../support/service.ts";
import { createDelivery } from "../support/stream.ts";
import { runCommand } from "../support/terminal.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createWebhookDelivery, isSignedBy, startReceiver } from "../support/webhooks.ts";

type TableName = ResourceNameOf<"table">;
type Copies = ReadonlyMap<TableName, readonly Record<string, unknown>[]>;

const MINUTE_MS = 60_000;
const tableNames = resourcesOfKind("table").map(([name]) => name);
let ahead = 0;
const clock = () => Date.now() + ahead;
const createRuntime = () => createTestRuntime({ clock, variables: { WEBHOOKS_TO_LOCALHOST: "true" } });

const recordsOf = ({ dynamodb, environment }: TestRuntime, name: TableName) =>
  allItems(
    paginateScan({ client: dynamodb }, { TableName: environment[resources[name].variable], ConsistentRead: true }),
  );
const copiesOf = async (runtime: TestRuntime): Promise<Copies> =>
  new Map(await Promise.all(tableNames.map(async (name) => [name, await recordsOf(runtime, name)] as const)));

const programs = { keys: keysCommand, organizations: organizationsCommand };
/** Runs an operator's command on the tables of a region. */
const operate = (runtime: TestRuntime, line: string) => {
  const [program, ...args] = line.split(" ") as [keyof typeof programs, ...string[]];
  const stores = Object.entries(runtime.environment).filter(([name]) => /_(TABLE|BUCKET|QUEUE_URL)$/.test(name));
  const env = { ...process.env, ...Object.fromEntries(stores), REGION_CODE: "us", S3_FORCE_PATH_STYLE: "true" };
  return runCommand(programs[program], args, { env });
};
const done = async (runtime: TestRuntime, line: string): Promise<string> => {
  const { status, out, error } = await operate(runtime, line);
  expect([line, status, error]).toEqual([line, 0, error]);
  return out;
};
const newKey = async (runtime: TestRuntime, options: string) =>
  JSON.parse(await done(runtime, `keys create --organization acme --json ${options}`)) as Record<
    "key" | "key_id",
    string
  >;

/** A region with something of everything, its last copies, and the ledger at the time when it was lost. */
async function loseRegion() {
  const runtime = await createRuntime();
  const receiver = await startReceiver();
  const [acme, gone] = [await createCustomer(runtime, "acme"), await createCustomer(runtime, "gone")];
  await done(runtime, "organizations set acme --rate 77 --burst 99 --retention-days 400 --yes");
  const [reader, leaked] = [await newKey(runtime, "--scopes read"), await newKey(runtime, "--name leaked")];
  const event = { external_id: "e", actor_email: "ann@example.com", content: "hello" };
  await acme.apply(
    { external_id: "a", type: "erased", events: [event] },
    { external_id: "b", type: "kept", agent_email: "Ann@example.com", agent_name: "Ann" },
  );
  await gone.apply({ external_id: "of gone", events: [event] });
  const uploads = createUploadHarness(runtime);
  const job = await uploads.upload(acme.organization, "external_id,type\nc,imported\n");
  await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(MINUTE_MS));
  await uploads.drain();
  const underWay = await uploads.upload(acme.organization, "external_id\nd\n");
  const { secret } = (await acme.send("createWebhook", { body: { webhook: { url: receiver.url } } })).body.data;
  await (
    await createDelivery(runtime)
  )();
  const { cursor } = await readFeed(acme);
  await createSweepChanges(runtime)({}, lambdaContext(MINUTE_MS));

  const copiedAt = isoTime(clock());
  const copies = await copiesOf(runtime);
  await uploads.split(sqsEvent(splitMessage(underWay)), lambdaContext(MINUTE_MS));
  await uploads.drain();
  await done(runtime, "organizations erase acme --item a --yes");
  await done(runtime, "organizations erase acme --person ann@example.com --yes");
  await done(runtime, "organizations erase gone --yes");
  await done(runtime, `keys revoke --organization acme --key ${leaked.key_id}`);
  const replica = await recordsOf(runtime, "audit");
  return { acme, gone, reader, leaked, receiver, job, underWay, secret, cursor, copiedAt, copies, replica };
}
let lost: Awaited<ReturnType<typeof loseRegion>>;
beforeAll(async () => void (lost = await loseRegion()));
afterAll(() => lost.receiver.stop());

/** The steps in docs/operations.md that change what the new region holds, once the tables are restored. */
const steps = [
  "take the ledger from its replica",
  "erase again",
  "erase the organization that is back",
  "revoke again",
  "start over",
] as const;
type Step = (typeof steps)[number];

/** Moves the region as the documentation says. @param without a step that is left out */
async function moveRegion(without?: Step): Promise<TestRuntime> {
  const runtime = await createRuntime();
  const { dynamodb, environment } = runtime;
  const carryOut = async (step: Step, work: () => Promise<unknown>): Promise<void> => {
    if (step !== without) await work();
  };
  const put = async (name: TableName, records: readonly Record<string, unknown>[]): Promise<void> => {
    const TableName = environment[resources[name].variable];
    for (const Item of records) await dynamodb.send(new PutCommand({ TableName, Item }));
  };
  for (const name of tableNames) await put(name, lost.copies.get(name) ?? []);
  await carryOut("take the ledger from its replica", () => put("audit", lost.replica));
  // The functions that the schedules start may have run in between.
  await createSweepChanges(runtime)({}, lambdaContext(MINUTE_MS));
  const items = environment.WORK_ITEMS_TABLE;
  await carryOut("erase again", () =>
    operate(runtime, `organizations reapply-erasures --items-table ${items} --restored-to ${lost.copiedAt}`),
  );
  await carryOut("erase the organization that is back", () => operate(runtime, "organizations erase gone --yes"));
  const revoked = lost.replica.filter(({ command, sk }) => command === "keys revoke" && !String(sk).endsWith("#END"));
  for (const { organization, options, at } of revoked) {
    if (String(at) < lost.copiedAt) continue;
    const { key } = options as { readonly key: string };
    await carryOut("revoke again", () =>
      operate(runtime, `keys revoke --organization ${String(organization)} --key ${key}`),
    );
  }
  await carryOut("start over", () => operate(runtime, "organizations changes --all --resync"));
  return runtime;
}

/** What callers and operators find in the region. */
async function foundIn(runtime: TestRuntime) {
  const { acme, gone, reader, leaked, receiver, job, underWay, secret, cursor } = lost;
  const [send, read] = [createCaller(runtime, acme.key), createCaller(runtime, reader.key)];
  const keys = (await operate(runtime, "keys list --organization acme --json")).out;
  const { status: oldCursor } = await send("listWorkItemChanges", { query: { after: cursor } });
  const list = await read("listWorkItems");
  const upload = await send("getWorkItemUpload", { params: { id: job.id } });
  // The bucket is another one. The sweep sends this message for a job that waits.
  const { split } = createUploadHarness(runtime);
  await split(sqsEvent(splitMessage(underWay)), lambdaContext(MINUTE_MS));
  const lostFile = await send("getWorkItemUpload", { params: { id: underWay.id } });
  const limits = (await operate(runtime, "organizations show acme --json")).out;
  const text = JSON.stringify(await Promise.all(tableNames.map((name) => recordsOf(runtime, name))));
  const again = await operate(
    runtime,
    `organizations reapply-erasures --items-table ${runtime.environment.WORK_ITEMS_TABLE} --restored-to ${lost.copiedAt}`,
  );
  const before = receiver.received.length;
  const delivery = await createWebhookDelivery(runtime);
  const { status: created } = await send("applyWorkItemBatch", { body: { work_items: [{ external_id: "new" }] } });
  ahead += 3 * MINUTE_MS;
  await delivery.record();
  await delivery.sweep();
  const called = receiver.received.slice(before);
  return {
    items: list.body.data?.map(({ external_id, type, agent }) => [external_id, type, agent.email]),
    wrongScope: (await read("applyWorkItemBatch", { body: { work_items: [{ external_id: "x" }] } })).status,
    revoked: (await createCaller(runtime, leaked.key)("listWorkItems")).status,
    erased: (await createCaller(runtime, gone.key)("listWorkItems")).status,
    job: [upload.status, upload.body.data?.status, upload.body.data?.created_rows],
    lostFile: [lostFile.status, lostFile.body.data?.status],
    limits: /"rate":77,"burst":99.*"retention_days":400/.test(limits),
    lastUse: keys.includes('"used_at"'),
    traces: ["Ann@example.com", '"erased"', "#gone#", "of gone"].filter((trace) => text.includes(trace)),
    reapplied: [again.status, again.out.startsWith("erased 0 records again, and emptied 0 ")],
    webhook: [created, called.length > 0 && called.every((message) => isSignedBy(secret, message))],
    oldCursor,
  };
}

test("the documentation restores every table", () => {
  const text = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const named = /^ {4}tables="(.*)"$/m.exec(text)?.[1]?.split(" ");
  expect(named).toEqual(resourcesOfKind("table").map(([, { id }]) => id));
  const restored = [...text.matchAll(/^ {7}restore (\w+) /gm)].map(([, id]) => id);
  // The last one comes from its replica.
  expect([...restored, "Audit"]).toEqual(named);
});

const whole: Awaited<ReturnType<typeof foundIn>> = {
  items: [
    ["c", "imported", null],
    ["b", "kept", null],
  ],
  wrongScope: 403,
  revoked: 401,
  erased: 401,
  job: [200, "completed", 1],
  lostFile: [200, "failed"],
  limits: true,
  lastUse: true,
  traces: [],
  reapplied: [0, true],
  webhook: [200, true],
  oldCursor: 410,
};

test("a region that moves has what its copies hold, and what was erased and revoked since stays so", async () => {
  expect(await foundIn(await moveRegion())).toEqual(whole);
});

test.each(steps)("a region that moves without the step “%s” lacks something", async (step) => {
  expect(await foundIn(await moveRegion(step))).not.toEqual(whole);
});
