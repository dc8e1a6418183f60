import { expect } from "vitest";
import { create as createRecordQaScore } from "../../functions/record-qa-score.ts";
import { randomFrom } from "./random.ts";
import { workItemId } from "../../lib/identity.ts";
import { type Caller, createCaller } from "./caller.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { createCustomer, fill } from "./customer-data.ts";
import { createFaultyTasks, type TaskFaults } from "./faulty-tasks.ts";
import type { RouteName } from "./handlers.ts";
import type { ApiRequest } from "./organization.ts";
import { createTestRuntime } from "./runtime.ts";
import { createFaultyRuntime } from "./uploads/fault-injection.ts";
import { multipart } from "./uploads/multipart.ts";
import { s3Event } from "./uploads/upload-harness.ts";
import { createWorkers } from "./uploads/upload-workers.ts";

/** The gateway ends a call, and Lambda kills a worker, after somewhat more. */
const CALL_MS = 29_000;
const WORKER_MS = 119_000;
/** Time between two steps. */
export const STEP_MS = 20_000;
/** Number of items that all callers write to. */
export const ITEMS = 10;
const ROWS = 100;
/** Share of tasks that may freeze. Those that send fewer requests than the chosen number don't. */
const FREEZE_SHARE = 0.5;
const REQUESTS_MAX = 8;

/** Freezes a task before or after one of its requests, for a shorter time than its lifetime. */
const freezeOf = (lifetimeMs: number, clock: TestClock, random: () => number): TaskFaults => {
  let requestsLeft = random() < FREEZE_SHARE ? Math.floor(random() * REQUESTS_MAX) : Infinity;
  const when = random() < 0.5 ? "stall before" : "stall after";
  const until = clock() + Math.floor(random() * lifetimeMs);
  return {
    faultOf: () => (requestsLeft-- === 0 ? when : "none"),
    statementFault: () => "none",
    thawAt: () => until,
  };
};

/**
 * A deployment with an organization full of data, and everything that may write to it.
 * @param seed what is called, frozen and repeated depends on it; in which order requests reach the store does not
 * @param addressOf gives the address of the agent or actor in the next call
 */
export const createBusyOrganization = async (seed: number, addressOf: () => string) => {
  const random = randomFrom(seed);
  const clock = createTestClock();
  const { runtime, during } = createFaultyRuntime(await createTestRuntime({ clock }));
  const tasks = createFaultyTasks(during, clock, (lifetimeMs) => freezeOf(lifetimeMs, clock, random));
  const workers = createWorkers(runtime);
  const recordQaScore = createRecordQaScore(runtime);
  const acme = await createCustomer(runtime, "acme");
  // For a form, the erasure waits until all workers have ended: half of the organizations have none.
  if (random() < 0.5) await fill(runtime, acme);
  await acme.apply(
    ...Array.from({ length: ITEMS }, (_, index) => ({ external_id: `item-${index}`, agent_email: addressOf() })),
  );

  /** When each call began, and how it ended. */
  const calls: { readonly time: number; readonly status: number }[] = [];
  const acknowledged = new Map<string, string>();
  /** All messages, each of which may be delivered again, and those that no worker has handled. */
  const sent: string[] = [];
  let due: string[] = [];

  /** Lambda sends an instance one call at a time: none waits for a call that is frozen. */
  const idle: Caller[] = [];
  const send = async <N extends RouteName>(name: N, request: ApiRequest) => {
    const time = clock();
    const call = idle.pop() ?? createCaller(runtime, acme.key);
    const response = await call(name, request).catch(
      // No response, or not one that is documented.
      () => ({ status: 0, body: undefined }),
    );
    idle.push(call);
    calls.push({ time, status: response.status });
    return response;
  };
  let nextStep = clock();
  const post = (message: string): void => {
    sent.push(message);
    due.push(message);
  };
  /** @returns the id of its job; undefined if it was rejected */
  const upload = async (name: string, email: string, fields = {}): Promise<string | undefined> => {
    const rows = Array.from({ length: ROWS }, (_, row) => `${name}-${row},${email}\n`);
    const { body } = await send("uploadWorkItems", multipart(`external_id,agent_email\n${rows.join("")}`, fields));
    const id = body?.data?.id;
    if (id !== undefined) post(JSON.stringify(s3Event({ organization: "acme", id })));
    return id;
  };
  const handle = async (message: string): Promise<void> => {
    try {
      await workers.handle(message, clock() + 90_000);
    } catch {
      due.push(message);
    }
  };

  const anyId = (): string => `item-${Math.floor(random() * ITEMS)}`;
  const params = () => ({ id: workItemId("acme", anyId()) });
  let named = 0;
  const write = async (): Promise<void> => {
    const name = `written-${named++}`;
    const item = { external_id: name, type: `type ${name}`, agent_email: addressOf() };
    const { status } = await send("applyWorkItemBatch", { body: { work_items: [item, { external_id: anyId() }] } });
    if (status === 200) acknowledged.set(name, item.type);
  };
  const callers = [
    write,
    () => send("updateWorkItem", { params: params(), body: { work_item: { type: "patched" } } }),
    () => send("deleteWorkItem", { params: params() }),
    () =>
      send("upsertWorkItemEvent", {
        params: params(),
        body: { event: { external_id: anyId(), actor_email: addressOf() } },
      }),
    () => recordQaScore({ organization: "acme", external_id: anyId(), qa_score: 0.5 }),
    () => upload(`file-${named++}`, addressOf(), random() < 0.3 ? { dry_run: "true" } : {}),
  ];

  /** Starts a few calls, the workers of all waiting messages and of a repeated one, and the sweep. */
  const step = (): void => {
    tasks.takeMessages().forEach(post);
    for (let count = 0; count < 3; count++) {
      const caller = Math.floor(random() * callers.length);
      tasks.start(`caller ${caller}`, CALL_MS, callers[caller]!);
    }
    const repeated = sent[Math.floor(random() * sent.length)];
    const messages = repeated === undefined ? due : [...due, repeated];
    due = [];
    for (const message of messages) tasks.start(`worker of ${message}`, WORKER_MS, () => handle(message));
    if (random() < 0.3) tasks.start("sweep", WORKER_MS, () => workers.sweep(clock() + 90_000));
  };
  return {
    runtime,
    clock,
    tasks,
    acme,
    calls,
    /** The type of each item that a caller knows to be written. */
    acknowledged: acknowledged as ReadonlyMap<string, string>,
    step,
    /** Lets time pass. What was started last runs beside that which the caller does next. */
    sleep: async (milliseconds: number): Promise<void> => {
      for (const until = clock() + milliseconds; clock() < until;) {
        await tasks.settle();
        clock.advance(Math.min(until, nextStep, tasks.nextThaw()) - clock());
        tasks.thawUntil(clock());
        if (clock() < nextStep) continue;
        step();
        nextStep = clock() + STEP_MS;
      }
    },
    /** Delivers every message once more, those of S3 included, as a worker's. */
    replay: async (): Promise<void> => {
      // A message of S3 makes the splitter's, which makes those of chunks.
      for (let batch = [...new Set(sent)], round = 0; batch.length > 0; batch = tasks.takeMessages(), round++) {
        expect(round).toBeLessThan(10);
        for (const message of batch) tasks.start(`replay of ${message}`, 0, () => handle(message));
        await tasks.finish();
      }
    },
  };
};
