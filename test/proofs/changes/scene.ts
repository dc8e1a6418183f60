import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { create as createAppendChanges } from "../../../functions/append-changes.ts";
import { create as createRecordChanges } from "../../../functions/record-changes.ts";
import { create as createRecordQaScore } from "../../../functions/record-qa-score.ts";
import { routes } from "../../../functions/routes.ts";
import { create as createSweepChanges } from "../../../functions/sweep-changes.ts";
import { randomFrom } from "../../support/random.ts";
import { createChangeLog } from "../../../lib/changes/change-log.ts";
import { workItemId } from "../../../lib/identity.ts";
import { getOrganization } from "../../../lib/operator/administration.ts";
import { eraseItem } from "../../../lib/operator/erase-item.ts";
import { eraseOrganization } from "../../../lib/operator/erase-organization.ts";
import { organizationRecordKey } from "../../../lib/organizations/access-store.ts";
import { createTestClock } from "../../support/clock.ts";
import { operatorOf } from "../../support/customer-data.ts";
import { createFaultyTasks } from "../../support/faulty-tasks.ts";
import { createHandlers, type Handlers, type RouteName } from "../../support/handlers.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";
import { openStream, streamEvent } from "../../support/stream.ts";
import { createFaultyRuntime } from "../../support/uploads/fault-injection.ts";
import { type Copy, createCopy, type Life } from "./copy.ts";
import { APPENDER_MS, createFaultyQueues } from "./faulty-queue.ts";
import { createFaultyStream, INVOCATION_MS } from "./faulty-stream.ts";
import { lagIndexes } from "./lagging-list.ts";
import { createTaskFaults } from "./task-faults.ts";

const CALL_MS = 29_000;
const SWEEP_MS = 120_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Two hours each: more than a shard is held, and holes are put. */
const CALM_ROUNDS = 20;
const ITEMS = 9;
const ORGANIZATION = "acme";

/** A deployment with one organization, everything that writes to it, its stream with faults, and readers of its feed. */
export async function createScene(seed: number) {
  const random = randomFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const clock = createTestClock();
  const base = await createTestRuntime({ clock });
  const { runtime, during } = createFaultyRuntime(base);
  const faults = createTaskFaults(clock, random);
  const tasks = createFaultyTasks(during, clock, faults.of);
  const stream = createFaultyStream(await openStream(base), clock, random, faults.count);
  const queues = createFaultyQueues(base, clock, random, faults.count);
  lagIndexes(base, clock, random, faults.count);
  const log = createChangeLog(base);
  let customer = await createTestOrganization(base, { id: ORGANIZATION });
  /** Each outage makes all readers start over, which hides what they had missed: every second scene has none. */
  const hasOutages = random() < 0.5;
  const heldMs = [MINUTE_MS, 10 * MINUTE_MS, ...(hasOutages ? [5 * HOUR_MS, 25 * HOUR_MS] : [])];
  const longMs = [HOUR_MS, 2 * HOUR_MS, ...(hasOutages ? [23.5 * HOUR_MS, 12 * 24 * HOUR_MS, 31 * 24 * HOUR_MS] : [])];
  /** Lambda sends an instance one call at a time: none waits for a call that is frozen, or was killed. */
  let idle: Handlers[] = [];
  let changes = 0;
  let isErasing = false;

  const life = async (): Promise<Life> => {
    const { segments } = await log.read(ORGANIZATION, { from: customer.organization.changesFrom, limit: 1000 });
    return {
      at: clock(),
      // What is being erased has no log: no answer about its marks is wrong.
      secret: isErasing ? "" : customer.organization.cursorSecret,
      holes: segments.filter(({ isHole }) => isHole).length,
    };
  };
  const send = async (name: RouteName, request: ApiRequest) => {
    const { method, path: resource } = routes[name];
    const event = apiEvent({ method, resource, key: customer.key, ...request });
    const handlers = idle.pop() ?? (await createHandlers(runtime));
    const { statusCode: status, body: text } = await handlers[name](event, lambdaContext(CALL_MS, clock));
    idle.push(handlers);
    return { status, text };
  };

  const anyName = (): string => `item-${below(ITEMS)}`;
  const params = () => ({ id: workItemId(ORGANIZATION, anyName()) });
  /** Some items are written only once: a copy that misses them misses them for good. */
  const item = () => ({ external_id: random() < 0.2 ? `lone-${changes}` : anyName(), type: `type-${changes++}` });
  const events = () => [{ external_id: `event-${below(3)}`, content: `content ${changes++}` }];
  const recordQaScore = createRecordQaScore(runtime);
  const writers = [
    () => send("applyWorkItemBatch", { body: { work_items: [item(), { ...item(), events: events() }, item()] } }),
    () => send("createWorkItem", { body: { work_item: { ...item(), events: events() } } }),
    () => send("updateWorkItem", { params: params(), body: { work_item: { type: `type-${changes++}` } } }),
    () => send("deleteWorkItem", { params: params() }),
    () => send("upsertWorkItemEvent", { params: params(), body: { event: events()[0] } }),
    () => recordQaScore({ organization: ORGANIZATION, external_id: anyName(), qa_score: below(100) / 100 }),
  ];
  let eraserSleeps: (() => void)[] = [];
  const sleep = (): Promise<void> => new Promise((resolve) => eraserSleeps.push(resolve));

  const readers: Copy[] = [
    createCopy({ limit: 100 }),
    createCopy({ limit: 2 }),
    createCopy({ limit: 1 }),
    createCopy({ limit: 3, include: "events" }),
    // Of an empty organization: it follows from its first mark.
    createCopy({ limit: 5 }, String(customer.organization.changesFrom - 1)),
  ];
  const read = async (reader: Copy, canCrash: boolean): Promise<void> => {
    const query = reader.query();
    const before = await life();
    const response = await send("listWorkItemChanges", { query });
    const lives = { before, after: await life() };
    reader.receive(query.after, response, lives, canCrash && random() < 0.1 ? below(4) : undefined);
  };
  const deliver = (isCalm = false): void => {
    stream.deliver((batch, done, ended) => {
      tasks.start("record-changes", INVOCATION_MS, async () => {
        const record = createRecordChanges(runtime);
        try {
          const { batchItemFailures } = await record(streamEvent(...batch), lambdaContext(INVOCATION_MS, clock));
          done(batchItemFailures[0]?.itemIdentifier);
        } finally {
          ended();
        }
      });
    }, isCalm);
  };
  /** Lambda takes batches as long as there are messages. */
  const append = (): void => {
    queues.deliver((records, done) => {
      tasks.start("append-changes", APPENDER_MS, async () => {
        const context = lambdaContext(APPENDER_MS, clock);
        const { batchItemFailures } = await createAppendChanges(runtime)({ Records: [...records] }, context);
        done(new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)));
      });
    });
  };
  let damagedUntil = 0;
  /** Damages the organization's record, or repairs it: meanwhile nothing can be appended to its log. */
  const setFirstNumber = async (value: unknown): Promise<void> => {
    await base.dynamodb.send(
      new UpdateCommand({
        TableName: base.environment.ACCESS_TABLE,
        Key: organizationRecordKey(ORGANIZATION),
        UpdateExpression: "SET changes_from = :from",
        ExpressionAttributeValues: { ":from": value },
      }),
    );
  };
  const damage = async (): Promise<void> => {
    faults.count();
    damagedUntil = clock() + [MINUTE_MS, HOUR_MS, 2 * HOUR_MS][below(3)]!;
    await setFirstNumber("damaged");
  };
  const repair = async (): Promise<void> => {
    if (damagedUntil > 0) await setFirstNumber(customer.organization.changesFrom);
    damagedUntil = 0;
  };
  const sweep = (): void =>
    tasks.start("sweep-changes", SWEEP_MS, () => createSweepChanges(runtime)({}, lambdaContext(SWEEP_MS, clock)));
  const settle = async (): Promise<void> => {
    await tasks.settle();
    await stream.pull();
  };
  /** Lets time pass. The sweep runs as often as its schedule says, at most a few times in a long while. */
  const pass = async (milliseconds: number): Promise<void> => {
    const steps = milliseconds < 10 * MINUTE_MS ? 1 : Math.min(6, Math.ceil(milliseconds / (10 * MINUTE_MS)));
    for (let step = 0; step < steps; step++) {
      clock.advance(milliseconds / steps);
      tasks.thawUntil(clock());
      if (damagedUntil > 0 && clock() >= damagedUntil) await repair();
      if (milliseconds >= 10 * MINUTE_MS) sweep();
      append();
      await settle();
    }
  };

  /** Erases the organization and creates it again under its ID, while everything else continues. */
  const eraseAndMakeAgain = async (): Promise<void> => {
    await repair();
    const erasing = eraseOrganization(operatorOf(base), ORGANIZATION, { sleep }).then(
      () => "erased",
      (error: Error) => error.message,
    );
    const state = { isOver: false };
    isErasing = true;
    void erasing.then(() => (state.isOver = true));
    while (!state.isOver) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (random() < 0.3) deliver();
      if (random() < 0.3) append();
      if (random() < 0.3) tasks.start("writer", CALL_MS, writers[below(writers.length)]!);
      if (eraserSleeps.length === 0) continue;
      await pass(20_000);
      if (random() < 0.7) eraserSleeps.splice(0).forEach((wake) => wake());
    }
    eraserSleeps = [];
    await settle();
    customer = await createTestOrganization(base, { id: ORGANIZATION });
    idle = [];
    isErasing = false;
    // Its callers have another key, and know that everything they had is gone.
    for (const reader of readers) reader.begin();
  };

  return {
    readers,
    stream,
    clock,
    /** Does something of everything, and lets some time pass. */
    step: async (): Promise<void> => {
      for (let count = below(4); count > 0; count--) tasks.start("writer", CALL_MS, writers[below(writers.length)]!);
      deliver();
      append();
      for (let count = below(3); count > 0; count--) {
        const reader = readers[below(readers.length)]!;
        tasks.start("reader", CALL_MS, () => read(reader, true));
      }
      if (random() < 0.1) readers[below(readers.length)]!.begin();
      if (random() < 0.03) stream.split();
      if (random() < 0.02) await damage();
      if (random() < 0.03) stream.hold(heldMs[below(heldMs.length)]!);
      if (random() < 0.03) {
        await eraseItem(operatorOf(base), ORGANIZATION, anyName(), { sleep: () => Promise.resolve() }).catch(
          () => undefined,
        );
      }
      if (random() < 0.01) await eraseAndMakeAgain();
      await settle();
      await pass(
        random() < 0.04
          ? longMs[below(longMs.length)]!
          : [1000, 5000, 20_000, 3 * MINUTE_MS, 16 * MINUTE_MS][below(5)]!,
      );
    },
    /** Lets the writers rest, and the readers read to the end. @returns what the table holds, without and with events */
    finish: async () => {
      faults.end();
      queues.end();
      await repair();
      await tasks.finish();
      await stream.pull();
      for (let round = 0; round < CALM_ROUNDS; round++) {
        clock.advance(INVOCATION_MS);
        deliver(true);
        await settle();
        append();
        await settle();
        sweep();
        await settle();
        clock.advance(2 * HOUR_MS);
      }
      if (stream.hasChanges()) throw new Error("changes stay in the stream");
      // What is left are messages that two hours did not suffice for.
      for (let round = 0; !queues.isEmpty(); round++) {
        if (round > 1000) throw new Error("changes stay in the queue");
        clock.advance(APPENDER_MS);
        append();
        await settle();
      }
      clock.advance(20 * MINUTE_MS);
      const starts = new Map(readers.map((reader) => [reader, reader.starts()]));
      for (const reader of readers) {
        for (let page = 0; ; page++) {
          await read(reader, false);
          if (reader.isAtEnd()) break;
          if (page > 2000 || reader.starts() > (starts.get(reader) ?? 0) + 3) {
            reader.wrong.push("never ends");
            break;
          }
        }
      }
      return { plain: await table(false), withEvents: await table(true) };
    },
    changes: () => changes,
    faults: faults.faults,
  };

  /** What the service's list and single items say. */
  async function table(withEvents: boolean): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    await getOrganization(operatorOf(base), ORGANIZATION);
    for (let cursor: string | undefined; ;) {
      const { text } = await send("listWorkItems", { query: { limit: 100, ...(cursor !== undefined && { cursor }) } });
      const { data, meta } = JSON.parse(text) as { data: { id: string }[]; meta: { page: { next?: string } } };
      for (const listed of data) {
        const single = withEvents && JSON.parse((await send("getWorkItem", { params: { id: listed.id } })).text);
        found.set(listed.id, JSON.stringify(single === false ? listed : (single as { data: object }).data));
      }
      cursor = meta.page.next;
      if (cursor === undefined) return found;
    }
  }
}
