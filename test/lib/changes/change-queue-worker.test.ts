import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { DeleteCommand, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, describe, expect, test } from "vitest";
import { create as createRecordChanges } from "../../../functions/record-changes.ts";
import { create as createSweepChanges } from "../../../functions/sweep-changes.ts";
import { createAppend } from "../../../lib/changes/append-to-log.ts";
import { bodyOf } from "../../../lib/changes/change-messages.ts";
import { createChangeLog } from "../../../lib/changes/segment-store.ts";
import { gapKey } from "../../../lib/changes/due-gaps.ts";
import { createFailures } from "../../../lib/changes/failing-changes.ts";
import { segmentKey } from "../../../lib/changes/segment.ts";
import { workItemId } from "../../../lib/identity.ts";
import { readFeedState } from "../../../apps/operator/data/feed-state.ts";
import { organizationRecordKey } from "../../../lib/organizations/access-store.ts";
import { createQueueDelivery } from "../../support/changes-queue.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { aroundRequests, failRequests, injectFaults } from "../../support/faults.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { streamEvent, streamRecord } from "../../support/stream.ts";
import { overwrite } from "../../support/customer-data.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let clock: TestClock;
let runtime: TestRuntime;
let queue: ReturnType<typeof createQueueDelivery>;
let sick: string;
let well: string;
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  queue = createQueueDelivery(runtime);
  sick = (await createTestOrganization(runtime)).organization.id;
  well = (await createTestOrganization(runtime)).organization.id;
});

const item = (owner: string, name: string) => streamRecord(`ITEM#${owner}#${workItemId(owner, name)}`, clock());
const send = async (...records: DynamoDBRecord[]): Promise<void> => {
  const response = await createRecordChanges(runtime)(streamEvent(...records), lambdaContext(60_000, clock));
  expect(response).toEqual({ batchItemFailures: [] });
};
const sweep = () => createSweepChanges(runtime)({}, lambdaContext(120_000, clock));
const segments = async (owner: string) => (await createChangeLog(runtime).read(owner, { limit: 100 })).segments;
const logged = async (owner: string) => (await segments(owner)).flatMap(({ ids }) => ids);
const idsOf = (owner: string, ...names: readonly string[]) => names.map((name) => workItemId(owner, name));
const gapsOf = async (owner: string) => (await segments(owner)).filter(({ isGap }) => isGap).length;

/** Ways in which an organization's log can't be appended to. Each returns what repairs it. */
const damages = {
  "the organization's record is damaged": async () => {
    const { ACCESS_TABLE: TableName } = runtime.environment;
    const Key = organizationRecordKey(sick);
    const { Item } = await runtime.dynamodb.send(new GetCommand({ TableName, Key }));
    await overwrite(runtime, "ACCESS_TABLE", Key, "changes_from");
    return () => runtime.dynamodb.send(new PutCommand({ TableName, Item }));
  },
  "the newest segment of its log is damaged": async () => {
    await createAppend(runtime)(sick, idsOf(sick, "before"), Infinity);
    const [{ first } = { first: 0 }] = await segments(sick);
    const { CHANGES_TABLE: TableName } = runtime.environment;
    const Key = segmentKey(sick, first);
    const { Item } = await runtime.dynamodb.send(new GetCommand({ TableName, Key }));
    await overwrite(runtime, "CHANGES_TABLE", Key, "next");
    return () => runtime.dynamodb.send(new PutCommand({ TableName, Item }));
  },
};
const damageRecord = damages["the organization's record is damaged"];
/** Tries again what waits. @returns how many messages have failed */
const again = async (): Promise<number> => {
  await queue.endDelays();
  return queue.drain();
};

describe.each(Object.entries(damages))("while %s", (_, damage) => {
  test("others' changes are logged at once and once, its own wait, and none is missing after the repair", async () => {
    const repair = await damage();
    for (const name of ["1", "2", "3"]) await send(item(sick, name), item(well, name));
    await queue.drain();
    expect(await logged(well)).toEqual(idsOf(well, "1", "2", "3"));
    clock.advance(HOUR_MS - 1000);
    await send(item(well, "4"), item(sick, "4"));
    expect(await again()).toBeGreaterThan(0);
    expect(await logged(well)).toEqual(idsOf(well, "1", "2", "3", "4"));

    await repair();
    expect(await again()).toBe(0);
    expect((await logged(sick)).slice(-4)).toEqual(idsOf(sick, "1", "2", "3", "4"));
    expect(await queue.waiting()).toBe(0);
    await sweep();
    expect([await gapsOf(sick), await gapsOf(well)]).toEqual([0, 0]);
  });

  test("its changes are given up an hour after the first failure, for one gap once it can be put", async () => {
    const repair = await damage();
    await send(item(sick, "1"));
    expect(await queue.drain()).toBe(1);
    clock.advance(HOUR_MS / 2);
    await send(item(sick, "2"));
    clock.advance(HOUR_MS / 2);
    expect(await again()).toBe(0);
    await sweep();
    await send(item(sick, "3"), item(well, "3"));
    expect(await queue.drain()).toBe(0);
    expect(await queue.waiting()).toBe(0);

    await repair();
    const before = await logged(sick);
    await send(item(sick, "4"));
    await queue.drain();
    for (let times = 0; times < 2; times++) await sweep();
    expect((await logged(sick)).slice(before.length)).toEqual(idsOf(sick, "4"));
    expect([await gapsOf(sick), await gapsOf(well)]).toEqual([1, 0]);
  });
});

const isAppend = (command: string, input: object): boolean =>
  command === "PutItemCommand" && JSON.stringify(input).includes(`LOG#${sick}`);
/** Lets appending fail by another error than a damaged record. @returns what ends it */
const breakAppending = () =>
  failRequests(runtime.dynamodb, (command, input) =>
    isAppend(command, input) ? { name: "ValidationException", httpStatusCode: 400 } : undefined,
  );

describe("an organization that can't be appended to", () => {
  test("waits for a day if no record of it is damaged", async () => {
    const stop = breakAppending();
    await send(item(sick, "a"));
    expect(await queue.drain()).toBe(1);
    clock.advance(DAY_MS - 1000);
    expect(await again()).toBe(1);
    clock.advance(1000);
    expect(await again()).toBe(0);
    stop();
    await sweep();
    expect(await gapsOf(sick)).toBe(1);
  });

  test("waits for as long again after its changes were appended", async () => {
    for (const name of ["a", "b"]) {
      const repair = await damageRecord();
      await send(item(sick, name));
      expect(await queue.drain()).toBe(1);
      clock.advance(HOUR_MS - 1000);
      expect(await again()).toBe(1);
      await repair();
      expect(await again()).toBe(0);
    }
    expect(await logged(sick)).toEqual(idsOf(sick, "a", "b"));
  });

  test("gets another gap for what is given up while the sweep puts one", async () => {
    const repair = await damageRecord();
    await send(item(sick, "a"));
    await queue.drain();
    clock.advance(HOUR_MS);
    expect(await again()).toBe(0);
    await repair();
    let isPut = false;
    const stop = aroundRequests(runtime.dynamodb, async (command, input: object, forward) => {
      if (isPut || !isAppend(command, input)) return forward();
      isPut = true;
      await createFailures(runtime).giveUp(sick, new Error("damaged"));
      return forward();
    });
    await sweep();
    stop();
    expect(await gapsOf(sick)).toBe(1);
    for (let times = 0; times < 2; times++) await sweep();
    expect(await gapsOf(sick)).toBe(2);
  });

  test("is named to operators, until its changes are appended, and while its gap is due", async () => {
    const stop = breakAppending();
    const heartbeats = Array.from({ length: 64 }, (_, key) => streamRecord(`HEARTBEAT#${key}`, clock() + 60_000));
    await send(item(sick, "a"), ...heartbeats);
    await queue.drain();
    expect(await readFeedState(runtime, well)).toMatchObject({ failing_since: null, is_gap_due: false });
    expect(await readFeedState(runtime, sick)).toMatchObject({
      failing_since: "2026-03-01T12:00:00.000Z",
      is_gap_due: false,
      complete_until: null,
    });
    clock.advance(DAY_MS);
    await again();
    expect(await readFeedState(runtime, sick)).toMatchObject({
      failing_since: null,
      is_gap_due: true,
      complete_until: null,
    });
    stop();
    await sweep();
    expect(await readFeedState(runtime, sick)).toMatchObject({
      failing_since: null,
      is_gap_due: false,
      complete_until: "2026-03-01T12:01:00.000Z",
    });
  });
});

describe("changes in the queue", () => {
  test("that a busy store refuses stay there, however often, and don't hold up others", async () => {
    const stop = injectFaults(runtime.dynamodb, (command, { Item }) =>
      command === "PutItemCommand" && JSON.stringify(Item).includes(sick) ? "throttled" : "none",
    );
    await send(item(sick, "a"), item(well, "a"));
    const records = await queue.receive();
    const often = records.map((record) => ({
      ...record,
      attributes: { ...record.attributes, ApproximateReceiveCount: "50" },
    }));
    expect(await queue.invoke(often)).toHaveLength(1);
    stop();
    expect([await logged(well), await logged(sick)]).toEqual([idsOf(well, "a"), []]);
    expect(await queue.invoke(records)).toEqual([]);
    expect(await logged(sick)).toEqual(idsOf(sick, "a"));
  });

  test("come again after one second, then later, at most after thirty, if they failed", async () => {
    await damageRecord();
    await send(item(sick, "a"));
    const [record] = await queue.receive();
    const delays: unknown[] = [];
    aroundRequests(
      runtime.sqs,
      (command, { Entries = [] }: { Entries?: { VisibilityTimeout?: number }[] }, forward) => {
        if (command === "ChangeMessageVisibilityBatchCommand") delays.push(Entries[0]?.VisibilityTimeout);
        return forward();
      },
    );
    for (const count of ["1", "2", "4"]) {
      const attributes = { ...record!.attributes, ApproximateReceiveCount: count };
      expect(await queue.invoke([{ ...record!, attributes }])).toHaveLength(1);
    }
    expect(delays).toEqual([1, 2, 8]);
  });

  test("are logged twice if the appender was killed before it reported, and none is lost", async () => {
    await send(item(well, "a"));
    const records = await queue.receive();
    expect(await queue.invoke(records)).toEqual([]);
    expect(await queue.invoke(records)).toEqual([]);
    expect(await logged(well)).toEqual(idsOf(well, "a", "a"));
  });

  test("of one batch are put into one segment, each item once", async () => {
    await send(item(well, "a"));
    const [record] = await queue.receive();
    const names = [["a"], ["b", "a"], ["c"]];
    const records = names.map((each, index) => ({
      ...record!,
      messageId: String(index),
      body: bodyOf({ organization: well, ids: idsOf(well, ...each), jobs: [], writtenAt: clock() }),
    }));
    expect(await queue.invoke(records)).toEqual([]);
    expect((await segments(well)).map(({ ids }) => ids)).toEqual([idsOf(well, "a", "b", "c")]);
  });

  test("that can't be read are given up for a gap of their organization alone", async () => {
    const QueueUrl = runtime.environment.CHANGES_QUEUE_URL;
    for (const [index, MessageBody] of ["nonsense", "{}"].entries()) {
      const ids = { MessageGroupId: sick, MessageDeduplicationId: String(index) };
      await runtime.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...ids }));
    }
    await send(item(sick, "a"), item(well, "a"));
    expect(await queue.drain()).toBe(0);
    await sweep();
    expect([await logged(sick), await gapsOf(sick)]).toEqual([idsOf(sick, "a"), 1]);
    expect([await logged(well), await gapsOf(well)]).toEqual([idsOf(well, "a"), 0]);
  });

  const sendNonsense = async (organization: string): Promise<void> => {
    const ids = { MessageGroupId: organization, MessageDeduplicationId: "1" };
    const QueueUrl = runtime.environment.CHANGES_QUEUE_URL;
    await runtime.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "nonsense", ...ids }));
  };

  test("that can't be read stay until their gap is noted", async () => {
    await sendNonsense(sick);
    const stop = injectFaults(runtime.dynamodb, (command) => (command === "UpdateItemCommand" ? "throttled" : "none"));
    expect(await queue.drain()).toBe(1);
    stop();
    expect(await queue.waiting()).toBe(1);
  });

  test("of an organization that was erased are dropped, also by an appender that has appended to its log", async () => {
    await send(item(well, "a"));
    await queue.drain();
    const { ACCESS_TABLE: TableName } = runtime.environment;
    await send(item(well, "b"));
    await runtime.dynamodb.send(new DeleteCommand({ TableName, Key: organizationRecordKey(well) }));
    await sendNonsense(well);
    expect(await queue.drain()).toBe(0);
    expect(await logged(well)).toEqual(idsOf(well, "a"));
    const { Item } = await runtime.dynamodb.send(
      new GetCommand({ TableName: runtime.environment.CHANGES_TABLE, Key: gapKey(well) }),
    );
    expect(Item).toBeUndefined();
  });
});
