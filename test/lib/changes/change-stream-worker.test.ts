import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import type { DynamoDBRecord } from "aws-lambda";
import { create as createRecordChanges } from "../../../functions/record-changes.ts";
import { create as createSweepChanges } from "../../../functions/sweep-changes.ts";
import { createAppend } from "../../../lib/changes/append-to-log.ts";
import { createChangeLog } from "../../../lib/changes/segment-store.ts";
import { workItemId } from "../../../lib/identity.ts";
import { eraseOrganization } from "../../../apps/operator/data/erase-organization.ts";
import { createQueueDelivery } from "../../support/changes-queue.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { operatorOf, tracesOf } from "../../support/customer-data.ts";
import { injectFaults, refuseMessages } from "../../support/faults.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { openStream, streamEvent, streamRecord } from "../../support/stream.ts";

const HOUR_MS = 3_600_000;

let clock: TestClock;
let runtime: TestRuntime;
let organization: Awaited<ReturnType<typeof createTestOrganization>>["organization"];
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  ({ organization } = await createTestOrganization(runtime));
});

const send = (...records: DynamoDBRecord[]) =>
  createRecordChanges(runtime)(streamEvent(...records), lambdaContext(60_000, clock));
/** Sends changes, and appends those that are in the queue. */
const record = async (...records: DynamoDBRecord[]) => {
  const result = await send(...records);
  await createQueueDelivery(runtime).drain();
  return result;
};
const sweep = () => createSweepChanges(runtime)({}, lambdaContext(120_000, clock));
const itemIn = (owner: string, name: string, sequence = name) =>
  streamRecord(`ITEM#${owner}#${workItemId(owner, name)}`, clock(), sequence);
const item = (name: string) => itemIn(organization.id, name);
/** Lets SQS refuse the messages of an organization, as it does with a part of a batch. */
const refuseMessagesOf = (owner: string, times: number): (() => void) => {
  let left = times;
  return refuseMessages(runtime.sqs, ({ MessageGroupId }) => MessageGroupId === owner && left-- > 0);
};
const idsOf = (...names: readonly string[]) => names.map((name) => workItemId(organization.id, name));
const segments = async (id = organization.id) => (await createChangeLog(runtime).read(id, { limit: 100 })).segments;
const loggedIds = async (id = organization.id) => (await segments(id)).map(({ ids }) => ids);

describe("the recorder of changes", () => {
  test("numbers changes from the organization's first number on, without gaps, each item once a batch", async () => {
    await record(item("a"), item("b"), item("a"));
    await record(item("c"));
    const first = organization.changesFrom;
    expect(first).toBe(clock() * 1000);
    expect(await segments()).toMatchObject([
      { first, next: first + 2, ids: idsOf("a", "b") },
      { first: first + 2, next: first + 3, ids: idsOf("c") },
    ]);
  });

  test("lets all segments but the newest expire after thirty days", async () => {
    for (const name of ["a", "b", "c"]) {
      await record(item(name));
      clock.advance(1000);
    }
    const [a, b, c] = await segments();
    expect([a?.expiresAt, b?.expiresAt, c?.expiresAt]).toEqual([
      (clock() - 2000) / 1000 + 30 * 24 * 3600,
      (clock() - 1000) / 1000 + 30 * 24 * 3600,
      undefined,
    ]);
  });

  test("lets segments expire that an append left behind which was interrupted", async () => {
    const stop = injectFaults(runtime.dynamodb, (command) =>
      command === "UpdateItemCommand" ? "unreachable" : "none",
    );
    for (const name of ["a", "b", "c"]) await record(item(name));
    stop();
    expect((await segments()).map(({ expiresAt }) => expiresAt)).toEqual([undefined, undefined, undefined]);
    await record(item("d"));
    expect((await segments()).map(({ expiresAt }) => typeof expiresAt)).toEqual([
      "number",
      "number",
      "number",
      "undefined",
    ]);
  });

  test("gives no number twice to appenders at the same time, also on an empty log", async () => {
    const append = createAppend(runtime);
    const names = Array.from({ length: 12 }, (_, index) => `item-${index}`);
    await Promise.all(names.map((name) => append(organization.id, idsOf(name), Infinity)));
    const log = await segments();
    expect(log.flatMap(({ ids }) => ids).toSorted()).toEqual(idsOf(...names).toSorted());
    expect(log.map(({ first }) => first)).toEqual(names.map((_, index) => organization.changesFrom + index));
  });

  test("reports the first record that is not in the queue, and those of neighbours are", async () => {
    const { organization: other } = await createTestOrganization(runtime);
    const stop = refuseMessagesOf(other.id, Infinity);
    const result = await record(item("a"), itemIn(other.id, "b", "7"), item("c"));
    stop();
    expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: "7" }] });
    expect([await loggedIds(), await loggedIds(other.id)]).toEqual([[idsOf("a", "c")], []]);
  });

  test("sends messages again that SQS refuses one by one, and only those", async () => {
    const others = await Promise.all(Array.from({ length: 12 }, () => createTestOrganization(runtime)));
    const ids = others.map(({ organization: { id } }) => id);
    const stop = refuseMessagesOf(ids[11] ?? "", 2);
    expect(await record(...ids.map((id) => itemIn(id, "a")))).toEqual({ batchItemFailures: [] });
    stop();
    expect(await Promise.all(ids.map((id) => loggedIds(id)))).toEqual(ids.map((id) => [[workItemId(id, "a")]]));
  });

  test("sends nothing twice if it was killed before it reported, and the same items if they change again", async () => {
    const batch = [item("a"), item("b")];
    for (let time = 0; time < 2; time++) await send(...batch);
    expect(await createQueueDelivery(runtime).waiting()).toBe(1);
    await record(item("a"), item("b"));
    expect((await loggedIds()).flat()).toEqual([...idsOf("a", "b"), ...idsOf("a", "b")]);
  });

  test("drops changes of an organization that does not exist or is being erased", async () => {
    const result = await record(itemIn("nobody", "a"), streamRecord("ITEM#without-an-id", clock()));
    expect(result).toEqual({ batchItemFailures: [] });
    expect(await loggedIds("nobody")).toEqual([]);
  });

  test("logs entries twice if the response of a write is lost, and loses none", async () => {
    let lost = 1;
    const stop = injectFaults(runtime.dynamodb, (command) =>
      command === "PutItemCommand" && lost-- > 0 ? "lost response" : "none",
    );
    await record(item("a"));
    stop();
    expect(await loggedIds()).toEqual([idsOf("a"), idsOf("a")]);
  });
});

describe("an organization that is erased", () => {
  test("leaves nothing of its log, and continues above its old numbers if it is made again", async () => {
    await record(item("a"), item("b"));
    const sleep = async (milliseconds: number): Promise<void> => {
      clock.advance(milliseconds);
      // A worker that was frozen appends while the erasure waits.
      if ((await segments()).length === 0) await createChangeLog(runtime).put(organization.id, late);
    };
    const late = {
      first: organization.changesFrom + 2,
      next: organization.changesFrom + 3,
      ids: idsOf("c"),
      isGap: false,
      time: clock(),
      expiresAt: undefined,
    };
    let frozen = 1;
    await eraseOrganization(operatorOf(runtime), organization.id, {
      sleep: (milliseconds) => (frozen-- > 0 ? sleep(milliseconds) : Promise.resolve(clock.advance(milliseconds))),
    });
    expect(await tracesOf(runtime, organization.id)).toEqual([]);
    const again = await createTestOrganization(runtime, { id: organization.id });
    expect(again.organization.changesFrom).toBeGreaterThan(organization.changesFrom + 3);
    await record(item("d"));
    expect(await segments()).toMatchObject([{ first: again.organization.changesFrom, ids: idsOf("d") }]);
  });
});

describe("heartbeats", () => {
  const heartbeat = (createdAt: number, key = 1) => streamRecord(`HEARTBEAT#${key}`, createdAt, `beat-${createdAt}`);
  const gaps = async () => {
    await sweep();
    return (await segments()).filter(({ isGap }) => isGap).length;
  };

  test("are written by the sweep under 64 keys, and noted by the recorder", async () => {
    const stream = await openStream(runtime);
    await sweep();
    const records = await stream.take();
    expect(new Set(records.map(({ dynamodb }) => dynamodb?.Keys?.["pk"]?.S)).size).toBe(64);
    // DynamoDB has no record of a write that changes nothing: a later heartbeat differs by its time.
    clock.advance(1);
    await sweep();
    expect(await stream.take()).toHaveLength(64);
  });

  test("that come after less than 23 hours put no gap", async () => {
    await record(heartbeat(clock()));
    clock.advance(22.9 * HOUR_MS);
    await record(heartbeat(clock()));
    expect(await gaps()).toBe(0);
  });

  test("that come after more than 23 hours put a gap into the logs of all organizations, once", async () => {
    const { organization: empty } = await createTestOrganization(runtime);
    await record(item("a"), heartbeat(clock()));
    clock.advance(23.1 * HOUR_MS);
    await record(heartbeat(clock()), item("b"));
    await sweep();
    expect(await segments()).toMatchObject([
      { isGap: false },
      { isGap: false },
      { isGap: true, ids: [], next: clock() * 1000 },
    ]);
    expect(await segments(empty.id)).toMatchObject([{ isGap: true, first: empty.changesFrom }]);
    expect(await gaps()).toBe(1);
  });

  test("count for their own key: another shard's do not hide a gap", async () => {
    await record(heartbeat(clock(), 1), heartbeat(clock(), 2));
    clock.advance(12 * HOUR_MS);
    await record(heartbeat(clock(), 2));
    clock.advance(12 * HOUR_MS);
    await record(heartbeat(clock(), 2));
    expect(await gaps()).toBe(0);
    await record(heartbeat(clock(), 1));
    expect(await gaps()).toBe(1);
  });

  test("are not needed to see that a record is almost a day old", async () => {
    await record(streamRecord(`ITEM#${organization.id}#${workItemId(organization.id, "a")}`, clock() - 23.1 * HOUR_MS));
    expect(await gaps()).toBe(1);
  });

  test("after a change that isn't in the queue are not noted", async () => {
    await record(heartbeat(clock()));
    clock.advance(23.1 * HOUR_MS);
    const stop = refuseMessagesOf(organization.id, Infinity);
    const { batchItemFailures } = await record(item("a"), heartbeat(clock()));
    stop();
    expect(batchItemFailures).toEqual([{ itemIdentifier: "a" }]);
    expect(await gaps()).toBe(0);
    await record(item("a"), heartbeat(clock()));
    expect(await gaps()).toBe(1);
  });

  test("whose note fails come again with the whole batch", async () => {
    const stop = injectFaults(runtime.dynamodb, (command, { Item }) =>
      command === "PutItemCommand" && JSON.stringify(Item).includes("NOTED_HEARTBEAT") ? "throttled" : "none",
    );
    const { batchItemFailures } = await record(item("a"), heartbeat(clock()));
    stop();
    expect(batchItemFailures).toEqual([{ itemIdentifier: "a" }]);
  });

  test("put a gap into every log once, also if one can't be appended to, which gets its own later", async () => {
    const { organization: other } = await createTestOrganization(runtime, { id: "zzz-last" });
    await record(streamRecord("HEARTBEAT#1", clock() - 23.1 * HOUR_MS));
    const stop = injectFaults(runtime.dynamodb, (command, { Item }) =>
      command === "PutItemCommand" && JSON.stringify(Item).includes(`LOG#${other.id}`) ? "throttled" : "none",
    );
    await expect(sweep()).rejects.toThrow(/thrott/i);
    stop();
    for (let again = 0; again < 2; again++) await sweep();
    const gapsOf = async (id: string) => (await segments(id)).filter(({ isGap }) => isGap).length;
    expect([await gapsOf(organization.id), await gapsOf(other.id)]).toEqual([1, 1]);
  });

  test.each(["all", "one"])("put their gap once also if what notes that it is due is damaged (%s)", async (due) => {
    const sk = due === "all" ? "#DUE" : organization.id;
    const Item = { pk: `GAPS#${due}`, sk, id: 7, since: 7, after: 7 };
    await runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.CHANGES_TABLE, Item }));
    expect([await gaps(), await gaps()]).toEqual([1, 1]);
  });
});
