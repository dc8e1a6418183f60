import { expect } from "vitest";
import { workItemId } from "../../../lib/identity.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import { type JobKey, LEASE_MS, sumOf } from "../../../lib/uploads/job/upload-record.ts";
import { createDeleteWorkItem, createUpdateWorkItem } from "../../../lib/work-items/change-work-item.ts";
import { createTestOrganization } from "../organization.ts";
import { createTestRuntime } from "../runtime.ts";
import { type FaultyRun, injectFaults, type RequestFault, type StatementFault } from "./fault-injection.ts";
import { s3Event } from "./upload-harness.ts";
import { contentOf, createWorkers } from "./upload-world.ts";

/** Each delivery has 60 s until it is to hand over. */
const HAND_OVER_AFTER_MS = 60_000;
/** A job that has not ended by then never does. */
const STEPS_MAX = 3000;

/** What has befallen all jobs of this process. */
export const tally = { kills: 0, stalls: 0, requests: 0, statements: 0, repeated: 0, unacknowledged: 0 };
export const faultsSoFar = (): number => Object.values(tally).reduce((sum, count) => sum + count, 0);

/** A deployment of its own, so that no sweep sees another's jobs. Its clients are faulty, but only in runs. */
export const createWorld = async () => {
  const base = await createTestRuntime();
  const { runtime, during } = injectFaults(base);
  return { base, during, workers: createWorkers(runtime) };
};
export type World = Awaited<ReturnType<typeof createWorld>>;

export interface TestFile {
  readonly text: string;
  readonly rows: number;
  readonly externalIds: readonly string[];
}

/** Each in one row alone: a client changes them as soon as that row is applied. */
const PATCHED = "patched";
const DELETED = "deleted";
const PATCH = { type: "patched by a client" };

/**
 * A file in which the same external_ids come again and again, and some rows are wrong; every other file begins with
 * items that come once, so that workers get used to new ones.
 */
export const makeFile = (random: () => number, rows: number): TestFile => {
  const ids = Array.from({ length: 150 }, (_, index) => `item-${index}`);
  const once = Array.from({ length: random() < 0.5 ? Math.floor(rows * 0.7) : 0 }, (_, index) => `once-${index}`);
  const lines = Array.from({ length: rows }, (_, index) => {
    if (index === 3) return `${PATCHED},row ${index},,`;
    if (index === 5) return `${DELETED},row ${index},,`;
    if (index < once.length) return `${once[index]},row ${index},,`;
    const id = ids[Math.floor(random() * ids.length)]!;
    const kind = random();
    if (kind < 0.05) return `${id},row ${index},not-json,`;
    if (kind < 0.08) return `${id},ragged`;
    if (kind < 0.5) return `${id},"row ""${index}""","{""k${Math.floor(random() * 4)}"": ${index}}",`;
    return `${id},,,"line 1\nline ${index}"`;
  });
  const text = `external_id,type,custom_attributes,custom_attributes.text\n${lines.join("\n")}\n`;
  return { text, rows, externalIds: [...ids, ...once, PATCHED, DELETED] };
};

const outcomeOf = async ({ workers }: World, job: JobKey) => {
  const { status, total_rows, succeeded_rows, failed_rows } = (await workers.store.readJob(job))!;
  const report = failed_rows > 0 ? (await workers.objects.readWhole(objectKeys.report(job))).toString() : "";
  return { status, total_rows, succeeded_rows, failed_rows, report };
};

const undisturbed = (clock: () => number, onMessages: FaultyRun["onMessages"]): FaultyRun => ({
  clock,
  faultOf: () => "none",
  statementFault: () => "none",
  stop: () => Promise.resolve(),
  onMessages,
});

/** Runs a job with nothing in its way. */
export const runCleanly = async (world: World, file: TestFile) => {
  const { base, during, workers } = world;
  const { organization } = await createTestOrganization(base);
  const job = await workers.upload(organization, file.text);
  const queue: string[] = [JSON.stringify(s3Event(job))];
  const run = undisturbed(Date.now, (bodies) => queue.push(...bodies));
  for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
    const message = body;
    await during(run, () => workers.handle(message, Date.now() + HAND_OVER_AFTER_MS));
  }
  return { outcome: await outcomeOf(world, job), content: await contentOf(base, organization, file.externalIds) };
};
export type CleanRun = Awaited<ReturnType<typeof runCleanly>>;

/** What befalls the deliveries of one job. */
export interface FaultSchedule {
  readonly random: () => number;
  readonly faultOf: (command: string) => RequestFault;
  readonly statementFault: () => StatementFault;
  /** Messages come out of order, at once and twice, acknowledgements are lost, and time passes. */
  readonly disorder: boolean;
}

interface Message {
  readonly body: string;
  deliveries: number;
}

/**
 * Runs a job through faults until it has ended, all that was sent for it was delivered at least twice, and all
 * workers that fell asleep have been woken. Meanwhile a client polls the job, patches one item and deletes another.
 */
export const runThrough = async (world: World, file: TestFile, schedule: FaultSchedule) => {
  const { base, during, workers } = world;
  const { random, disorder } = schedule;
  const { organization } = await createTestOrganization(base);
  const start = Date.now();
  let passed = 0;
  const clock = () => start + passed;
  const pool: Message[] = [];
  const clean = undisturbed(clock, (bodies) => pool.push(...bodies.map((body) => ({ body, deliveries: 0 }))));
  const asleep: (() => void)[] = [];
  /** Deliveries until their worker is done or killed. */
  const underWay: Promise<unknown>[] = [];
  /** Deliveries in a row that came to nothing, by part: after three, one goes undisturbed, so that jobs end. */
  const unlucky = new Map<string, number>();
  let isCalm = false;

  const job = await during(clean, () => workers.upload(organization, file.text));
  clean.onMessages([JSON.stringify(s3Event(job)), JSON.stringify(s3Event(job))]);

  /** @returns whether the message was dealt with; false also where its worker was stopped */
  const deliver = async (body: string): Promise<boolean> => {
    const part = /"part":(\d+)/.exec(body)?.[1] ?? "split";
    const misfortunes = unlucky.get(part) ?? 0;
    unlucky.set(part, misfortunes + 1);
    const stopped = Promise.withResolvers<boolean>();
    const killed = Promise.withResolvers<void>();
    const run: FaultyRun = {
      ...clean,
      faultOf: (command) => {
        const fault = misfortunes >= 3 || isCalm ? "none" : schedule.faultOf(command);
        if (fault !== "none" && !fault.startsWith("kill") && !fault.startsWith("stall")) tally.requests++;
        return fault;
      },
      statementFault: () => {
        const fault = isCalm ? "none" : schedule.statementFault();
        if (fault !== "none") tally.statements++;
        return fault;
      },
      stop: (kind) => {
        tally[kind === "kill" ? "kills" : "stalls"]++;
        stopped.resolve(false);
        if (kind === "kill") killed.resolve();
        return new Promise((resolve) => {
          if (kind === "stall") asleep.push(resolve);
        });
      },
    };
    const work = during(run, () => workers.handle(body, clock() + HAND_OVER_AFTER_MS)).then(
      () => true,
      () => false,
    );
    underWay.push(Promise.race([work, killed.promise]));
    const isDone = await Promise.race([work, stopped.promise]);
    if (isDone) unlucky.set(part, 0);
    return isDone;
  };

  let seen = { succeeded: 0, failed: 0 };
  /** Counters never fall nor pass the total. @returns whether the job has ended */
  const poll = async (): Promise<boolean> => {
    const { job: now, parts } = (await during(clean, () => workers.store.read(job)))!;
    const hasEnded = now.next_check === undefined;
    const counters = hasEnded ? { succeeded: now.succeeded_rows, failed: now.failed_rows } : sumOf(parts);
    expect(counters.succeeded).toBeGreaterThanOrEqual(seen.succeeded);
    expect(counters.failed).toBeGreaterThanOrEqual(seen.failed);
    expect(counters.succeeded + counters.failed).toBeLessThanOrEqual(now.total_rows);
    seen = counters;
    return hasEnded;
  };

  const update = createUpdateWorkItem(base);
  const remove = createDeleteWorkItem(base);
  const waiting = new Set([PATCHED, DELETED]);
  const interfere = async (): Promise<void> => {
    if (waiting.size === 0) return;
    const made = await contentOf(base, organization, [...waiting]);
    for (const externalId of [...waiting].filter((name) => made[name])) {
      waiting.delete(externalId);
      const id = workItemId(organization.id, externalId);
      const options = { deadline: Date.now() + 20_000 };
      if (externalId === PATCHED) await update(organization, id, PATCH, options);
      else await remove(organization, id, options);
    }
  };

  const takeFrom = <T>(list: T[], isAnyPlace: boolean): T =>
    list.splice(isAnyPlace ? Math.floor(random() * list.length) : 0, 1)[0]!;

  for (let step = 0; ; step++) {
    if (step > STEPS_MAX) throw new Error(`the job does not end: ${JSON.stringify(await workers.store.read(job))}`);
    const hasEnded = await poll();
    await interfere();
    if (hasEnded && pool.length === 0) break;
    if (pool.length === 0 || random() < 0.05) {
      passed += 2 * LEASE_MS;
      await during(clean, () => workers.sweep(clock() + HAND_OVER_AFTER_MS));
      if (pool.length === 0) passed += 2 * LEASE_MS;
    }
    if (disorder && random() < 0.2) passed += Math.floor(random() * 2 * LEASE_MS);
    if (asleep.length > 0 && random() < 0.3) takeFrom(asleep, true)();

    const count = Math.min(disorder ? 1 + Math.floor(random() * 4) : 1, pool.length);
    const chosen = Array.from({ length: count }, () => takeFrom(pool, disorder));
    const atOnce = chosen.flatMap((message) => (disorder && random() < 0.3 ? [message, message] : [message]));
    tally.repeated += atOnce.length - chosen.length;
    await Promise.all(
      atOnce.map(async (message) => {
        const isDone = await deliver(message.body);
        message.deliveries++;
        const isLost = disorder && isDone && random() < 0.1;
        const isRepeated = isDone && message.deliveries < 2;
        if (isLost) tally.unacknowledged++;
        if (isRepeated) tally.repeated++;
        if ((!isDone || isLost || isRepeated) && !pool.includes(message)) pool.push(message);
      }),
    );
    if (!disorder && pool.length > 0) passed += LEASE_MS + 1;
  }
  isCalm = true;
  for (const wake of asleep) wake();
  await Promise.all(underWay);
  const { parts } = (await workers.store.read(job))!;
  expect(sumOf(parts)).toEqual(seen);
  expect(new Set(parts.map(({ state }) => state))).toEqual(new Set(["done"]));

  const changed = [PATCHED, DELETED].filter((name) => !waiting.has(name));
  return {
    outcome: await outcomeOf(world, job),
    content: await contentOf(base, organization, file.externalIds),
    changed,
  };
};

/** The table holds exactly what a clean run leaves and what the client changed; the counters and the report are exact. */
export const expectExact = (
  file: TestFile,
  seed: number,
  { outcome, content, changed }: Awaited<ReturnType<typeof runThrough>>,
  clean: CleanRun,
): void => {
  const byClient: Record<string, object> = { [PATCHED]: PATCH, [DELETED]: { deleted: true } };
  const changes = changed.map((name) => [name, { ...(clean.content[name] as object), ...byClient[name] }]);
  const expected = { ...clean.content, ...Object.fromEntries(changes) };
  expect({ seed, outcome, content }).toEqual({ seed, outcome: clean.outcome, content: expected });
  expect(outcome).toMatchObject({ status: "completed", total_rows: file.rows });
  expect(outcome.succeeded_rows + outcome.failed_rows).toBe(file.rows);
};
