import { expect, it } from "vitest";
import { create as createFailDeadUpload } from "../../functions/fail-dead-upload.ts";
import { create as createRecordQaScore } from "../../functions/record-qa-score.ts";
import { routes } from "../../functions/routes.ts";
import { randomFrom } from "../../infra/local/aws-terms/random.ts";
import { workItemId } from "../../lib/identity.ts";
import { eraseOrganization } from "../../lib/operator/erase-organization.ts";
import { KEY_CACHE_SECONDS } from "../../lib/organizations/authenticate.ts";
import { createTestClock } from "../support/clock.ts";
import { createCustomer, everythingIn, fill, operatorOf, tracesOf } from "../support/customer-data.ts";
import { createFreezingTasks } from "../support/freezing-tasks.ts";
import { createHandlers, type Handlers, type RouteName } from "../support/handlers.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { type ApiRequest, call } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { createFaultyRuntime } from "../support/uploads/fault-injection.ts";
import { multipart } from "../support/uploads/multipart.ts";
import { s3Event, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createWorkers } from "../support/uploads/upload-workers.ts";

/** What is called, frozen and repeated depends on the seed; in which order requests reach the store does not. */
const FIRST_SEED = Number(process.env["ERASURE_SEED"] ?? 20_261_123);
const SEEDS = Array.from({ length: Number(process.env["ERASURE_SEEDS"] ?? 4) }, (_, index) => FIRST_SEED + index);

/** The gateway ends a call, and Lambda kills a worker, after somewhat more. */
const CALL_MS = 29_000;
const WORKER_MS = 119_000;
const STEP_MS = 20_000;
const ITEMS = 10;
const ROWS = 100;
const ANN = "ann@example.com";
const BOB = "bob@example.com";

/** A deployment with an organization full of data, and everything that may write to it. */
const createScene = async (seed: number) => {
  const random = randomFrom(seed);
  const clock = createTestClock();
  const { runtime, during } = createFaultyRuntime(await createTestRuntime({ clock }));
  const tasks = createFreezingTasks(during, clock, random);
  const workers = createWorkers(runtime);
  const failDead = createFailDeadUpload(runtime);
  const recordQaScore = createRecordQaScore(runtime);
  const acme = await createCustomer(runtime, "acme");
  // For a form, the erasure waits until all workers have ended: half of the organizations have none.
  if (random() < 0.5) await fill(runtime, acme);
  await acme.apply(
    ...Array.from({ length: ITEMS }, (_, index) => ({ external_id: `item-${index}`, agent_email: BOB })),
  );

  /** When each call began, and how it ended. */
  const calls: { readonly time: number; readonly status: number }[] = [];
  /** The type of each item that a caller knows to be written. */
  const acknowledged = new Map<string, string>();
  /** All messages, each of which may be delivered again, and those that no worker has handled. */
  const sent: string[] = [];
  let due: string[] = [];

  /** Lambda sends an instance one call at a time: none waits for a call that is frozen. */
  const idle: Handlers[] = [];
  const send = async (name: RouteName, request: ApiRequest) => {
    const time = clock();
    const handlers = idle.pop() ?? (await createHandlers(runtime));
    const { method, path: resource } = routes[name];
    const response = await call(handlers[name], { method, resource, key: acme.key, ...request }).catch(
      // No response, or not one that is documented.
      () => ({ status: 0, body: {} }),
    );
    idle.push(handlers);
    calls.push({ time, status: response.status });
    return response;
  };
  const post = (message: string): void => {
    sent.push(message);
    due.push(message);
  };
  /** @returns the id of its job; undefined if it was rejected */
  const upload = async (name: string, email: string, fields = {}): Promise<string | undefined> => {
    const rows = Array.from({ length: ROWS }, (_, row) => `${name}-${row},${email}\n`);
    const { body } = await send("uploadWorkItems", multipart(`external_id,agent_email\n${rows.join("")}`, fields));
    const id = (body as { data?: { id: string } }).data?.id;
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
    const item = { external_id: name, type: `type ${name}`, agent_email: BOB };
    const { status } = await send("applyWorkItemBatch", { body: { work_items: [item, { external_id: anyId() }] } });
    if (status === 200) acknowledged.set(name, item.type);
  };
  const callers = [
    write,
    () => send("updateWorkItem", { params: params(), body: { work_item: { type: "patched" } } }),
    () => send("deleteWorkItem", { params: params() }),
    () =>
      send("upsertWorkItemEvent", { params: params(), body: { event: { external_id: anyId(), actor_email: BOB } } }),
    () => recordQaScore({ organization: "acme", external_id: anyId(), qa_score: 0.5 }),
    () => upload(`file-${named++}`, BOB, random() < 0.3 ? { dry_run: "true" } : {}),
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
    step,
    /** Lets time pass. What was started last runs beside that which the caller does next. */
    sleep: async (milliseconds: number): Promise<void> => {
      for (const until = clock() + milliseconds; clock() < until;) {
        await tasks.settle();
        clock.advance(Math.min(until, clock() + STEP_MS, tasks.nextThaw()) - clock());
        tasks.thawUntil(clock());
        step();
      }
    },
    /** Delivers every message once more, those of S3 included, as a worker's and as a dead letter. */
    replay: async (): Promise<void> => {
      // A message of S3 makes the splitter's, which makes those of parts.
      for (let batch = [...new Set(sent)], round = 0; batch.length > 0; batch = tasks.takeMessages(), round++) {
        expect(round).toBeLessThan(10);
        for (const message of batch) tasks.start(`replay of ${message}`, 0, () => handle(message));
        await tasks.finish();
      }
      for (const message of new Set(sent)) await failDead(sqsEvent(message), lambdaContext(120_000));
    },
  };
};

const recordsOf = async (runtime: Parameters<typeof everythingIn>[0], organization: string) =>
  (await everythingIn(runtime)).records.filter((record) => JSON.stringify(record).includes(organization));

it.each(SEEDS)(
  "erases an organization beside writers and workers, and nothing that follows it (seed %i)",
  async (seed) => {
    const { runtime, clock, tasks, acme, calls, step, sleep, replay } = await createScene(seed);
    const other = await createCustomer(runtime, "acme-2");
    await other.apply({ external_id: "item-0", agent_email: ANN, events: [{ external_id: "e" }] });
    const ofOther = await recordsOf(runtime, "acme-2");
    await sleep(3 * STEP_MS);
    step();

    const began = clock();
    const { passes } = await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    expect(passes).toBeGreaterThan(1);
    expect(await tracesOf(runtime, "acme", acme.keyId)).toEqual([]);
    // What is frozen now continues, and every message comes once more.
    await tasks.finish();
    await replay();
    expect(await tracesOf(runtime, "acme", acme.keyId)).toEqual([]);
    expect(await recordsOf(runtime, "acme-2")).toEqual(ofOther);

    const late = calls.filter(({ time }) => time > began + 2 * KEY_CACHE_SECONDS * 1000);
    expect(late.length).toBeGreaterThan(10);
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([401]));
    expect(calls.filter(({ status }) => status === 0 || status === 500)).toEqual([]);
    expect(tasks.freezes()).toBeGreaterThan(3);

    const again = await createCustomer(runtime, "acme");
    await fill(runtime, again);
    await again.apply(
      ...Array.from({ length: ITEMS }, (_, index) => ({ external_id: `item-${index}`, type: "again" })),
    );
    const before = await everythingIn(runtime);
    await replay();
    expect(await everythingIn(runtime)).toEqual(before);
  },
);
