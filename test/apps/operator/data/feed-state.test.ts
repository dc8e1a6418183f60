import type { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { create as createSweepChanges } from "../../../../functions/sweep-changes.ts";
import { readFeedState, resyncFeed } from "../../../../apps/operator/data/feed-state.ts";
import { createDueGaps } from "../../../../lib/changes/due-gaps.ts";
import { partitionKeyOf } from "../../../../lib/resources.ts";
import { createTestClock, type TestClock } from "../../../support/clock.ts";
import { createFeedCustomer, feedPage, readFeed } from "../../../support/feed.ts";
import { lambdaContext } from "../../../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let clock: TestClock;
let runtime: TestRuntime;
let customer: Awaited<ReturnType<typeof createFeedCustomer>>;
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  customer = await createFeedCustomer(runtime);
});

const stateOf = async () => {
  const state = await readFeedState(runtime, customer.organization.id);
  if (state === undefined) throw new Error("there is no feed");
  return state;
};

const sweepAndDeliver = async () => {
  await createSweepChanges(runtime)({}, lambdaContext(60_000));
  await customer.deliver();
};

describe("the state of a feed", () => {
  test("names the oldest and the newest cursor, both of which readers can use", async () => {
    const empty = await stateOf();
    expect(empty).toMatchObject({ newest_at: null, complete_until: null });
    expect(empty.oldest_position).toBe(empty.newest_position);

    await customer.apply({ external_id: "a" });
    await customer.deliver();
    clock.advance(DAY_MS);
    await customer.apply({ external_id: "b" });
    await customer.deliver();
    const state = await stateOf();
    expect(state).toMatchObject({ oldest_position: empty.newest_position, newest_position: empty.newest_position + 2 });
    expect(state.newest_at).toBe(new Date(clock()).toISOString());
    expect((await feedPage(customer, { after: state.oldest_position })).data).toHaveLength(2);
    expect(await customer.status({ after: state.oldest_position - 1 })).toMatchObject({ status: 410 });
    expect((await feedPage(customer, { after: state.newest_position })).data).toEqual([]);

    clock.advance(30 * DAY_MS);
    const later = await stateOf();
    expect(later.oldest_position).toBe(state.oldest_position + 1);
    expect((await feedPage(customer, { after: later.oldest_position })).data).toHaveLength(1);
    expect(await customer.status({ after: later.oldest_position - 1 })).toMatchObject({ status: 410 });
  });

  test("says until when everything is in the feed, once heartbeats have shown it", async () => {
    await createSweepChanges(runtime)({}, lambdaContext(60_000));
    expect((await stateOf()).complete_until).toBeNull();
    await customer.deliver();
    expect((await stateOf()).complete_until).toBe(new Date(Math.floor(clock() / 1000) * 1000).toISOString());
  });

  test("doesn't know until when while a noted heartbeat is damaged, and knows again after the next one", async () => {
    await sweepAndDeliver();
    const Item = { pk: partitionKeyOf("NOTED_HEARTBEAT", 7), sk: "#HEARTBEAT", created: "soon" };
    await runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.CHANGES_TABLE, Item }));
    expect((await stateOf()).complete_until).toBeNull();
    clock.advance(60_000);
    await sweepAndDeliver();
    expect((await stateOf()).complete_until).toBe(new Date(Math.floor(clock() / 1000) * 1000).toISOString());
  });

  test("leaves out what comes into the queue after its messages are counted, and sees what is lost by then", async () => {
    await sweepAndDeliver();
    const before = await stateOf();
    const stateIf = (happens: () => Promise<void>) => {
      const send = async (command: GetQueueAttributesCommand) => {
        const counted = await runtime.sqs.send(command);
        await happens();
        return counted;
      };
      return readFeedState({ ...runtime, sqs: { send } as unknown as SQSClient }, customer.organization.id);
    };
    clock.advance(60_000);
    expect(await stateIf(sweepAndDeliver)).toMatchObject({ complete_until: before.complete_until });
    const { noteOne } = createDueGaps(runtime);
    const lost = await stateIf(() => noteOne(customer.organization.id));
    expect(lost).toMatchObject({ complete_until: null, is_gap_due: true });
  });

  test("is unknown for an organization that doesn't exist", async () => {
    expect(await readFeedState(runtime, "nobody")).toBeUndefined();
  });
});

test("a resync makes readers of one organization start over, and no others", async () => {
  const other = await createFeedCustomer(runtime);
  await customer.apply({ external_id: "a" });
  await other.apply({ external_id: "b" });
  await customer.deliver();
  const [{ cursor }, { cursor: cursor2 }] = [await readFeed(customer), await readFeed(other)];
  clock.advance(20 * 60_000);
  await resyncFeed(runtime, customer.organization.id);
  expect(await customer.status({ after: cursor })).toMatchObject({ status: 410 });
  expect(await other.status({ after: cursor2 })).toMatchObject({ status: 200 });
  const { oldest_position: oldest, newest_position: newest } = await stateOf();
  expect(oldest).toBe(newest);
  clock.advance(16 * 60_000);
  expect((await readFeed(customer)).records).toHaveLength(1);
});
