import { expect } from "vitest";
import { workItemId } from "../../../lib/identity.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import {
  type Counters,
  isComplete,
  type JobKey,
  sumOf,
  toRowCounters,
} from "../../../lib/uploads/job/upload-record.ts";
import { CLAIM_MS } from "../../../lib/uploads/job/bucket-store.ts";
import { isDamagedResponse } from "../damaged-responses.ts";
import type { Fault } from "../faults.ts";
import { createTestRuntime } from "../runtime.ts";
import { createFaultyRuntime, type FaultyRun, type StatementFault } from "./fault-injection.ts";
import { splitMessage } from "./upload-harness.ts";
import { contentOf, createClient, prepareOrganization } from "./client.ts";
import type { TestFile } from "./test-file.ts";
import { createWorkers, randomSizes } from "./upload-workers.ts";

/** Time of a delivery until its worker must hand over. */
const HAND_OVER_AFTER_MS = 60_000;
const ATTEMPTS_MAX = 3;
/** A job that needs more steps is considered endless. */
const STEPS_MAX = 3000;

/** Numbers of all faults in this process, by kind. */
const tally = { kills: 0, stalls: 0, requests: 0, damaged: 0, statements: 0, repeated: 0, unacknowledged: 0 };
/** Creates a separate deployment, so that its sweep finds only its own jobs. Faults occur only in its workers' runs. */
export const createDeployment = async () => {
  const base = await createTestRuntime();
  const { runtime, during } = createFaultyRuntime(base);
  return { base, during, runtime, workers: createWorkers(runtime) };
};
/** Resources and workers for upload jobs. */
export type Deployment = Awaited<ReturnType<typeof createDeployment>>;

/** The list of results without the items' ids, which differ from organization to organization. */
const resultsOf = ({ organization }: JobKey, csv: string): string =>
  csv.replaceAll(/,([^,\n]*),([0-9a-f-]{36}),/g, (_, externalId: string, id: string) => {
    expect(id).toBe(workItemId(organization, externalId));
    return `,${externalId},,`;
  });

const outcomeOf = async ({ workers }: Deployment, job: JobKey) => {
  const {
    merged = "",
    status,
    total_rows,
    succeeded_rows,
    failed_rows,
    created_rows,
    updated_rows,
    unchanged_rows,
    restored_rows,
  } = (await workers.store.readJob(job))!;
  expect(created_rows + updated_rows + unchanged_rows + restored_rows).toBe(succeeded_rows);
  const report =
    failed_rows > 0 ? (await workers.objects.readWhole(objectKeys.list(job, "failed_rows", merged))).toString() : "";
  const outcomes = { created_rows, updated_rows, unchanged_rows, restored_rows };
  const results = (await workers.objects.readWhole(objectKeys.list(job, "results", merged))).toString();
  return { status, total_rows, succeeded_rows, failed_rows, ...outcomes, report, results: resultsOf(job, results) };
};

const withoutFaults = (clock: () => number, onMessages: FaultyRun["onMessages"]): FaultyRun => ({
  clock,
  faultOf: () => "none",
  statementFault: () => "none",
  stop: () => Promise.resolve(),
  onMessages,
});

/** Runs a job without faults, and not as a dry run. */
export const runWithoutFaults = async (deployment: Deployment, file: TestFile) => {
  const { base, during, workers } = deployment;
  const organization = await prepareOrganization(base, file);
  const job = await workers.upload(organization, { ...file, dryRun: false });
  const queue: string[] = [JSON.stringify(splitMessage(job))];
  const run = withoutFaults(Date.now, (bodies) => queue.push(...bodies));
  for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
    const message = body;
    await during(run, () => workers.handle(message, Date.now() + HAND_OVER_AFTER_MS));
  }
  return { outcome: await outcomeOf(deployment, job), content: await contentOf(base, organization, file) };
};
/** The result of a job without faults. */
export type FaultFreeRun = Awaited<ReturnType<typeof runWithoutFaults>>;

/** The faults of one job's deliveries. */
export interface FaultSchedule {
  readonly random: () => number;
  readonly faultOf: FaultyRun["faultOf"];
  readonly statementFault: () => StatementFault;
  /** How far the clock of the next worker is off, in milliseconds. @default 0 */
  readonly clockOff?: () => number;
  /** Called for each delivery. @returns what chooses the faults of its requests' attempts */
  readonly attemptFaults: () => (command: string) => Fault;
  /** Whether messages are delivered in random order, simultaneously and twice, without acknowledgement, and late. */
  readonly disorder: boolean;
}

interface Message {
  readonly body: string;
  deliveries: number;
}

/**
 * Runs a job with faults until it has ended, all its messages were delivered at least twice, and all stalled workers
 * were resumed. Meanwhile a client polls the job, patches one item and deletes another.
 */
export const runWithFaults = async (deployment: Deployment, file: TestFile, schedule: FaultSchedule) => {
  const { base, during, runtime, workers } = deployment;
  const { random, disorder } = schedule;
  const organization = await prepareOrganization(base, file);
  const before = await contentOf(base, organization, file);
  const start = Date.now();
  let elapsed = 0;
  const clock = () => start + elapsed;
  const queue: Message[] = [];
  const faultFree = withoutFaults(clock, (bodies) => queue.push(...bodies.map((body) => ({ body, deliveries: 0 }))));
  /** Functions that resume stalled workers. */
  const stalled: (() => void)[] = [];
  /** Deliveries; each ends when its worker is done or killed. */
  const running: Promise<unknown>[] = [];
  /** Claims in a row without progress after which deliveries have no faults, so that jobs end. */
  const isExhausted = async (): Promise<boolean> => {
    const { job: now, buckets } = (await during(faultFree, () => workers.store.read(job)))!;
    return Math.max(now.chunks ? 0 : now.split_attempts, ...buckets.map(({ attempts }) => attempts)) >= ATTEMPTS_MAX;
  };
  let hasFaults = true;

  const job = await during(faultFree, () => workers.upload(organization, file));
  faultFree.onMessages([JSON.stringify(splitMessage(job)), JSON.stringify(splitMessage(job))]);

  /** @returns whether the message was handled; false also if its worker was stopped */
  const deliver = async (body: string): Promise<boolean> => {
    const isCalm = !hasFaults || (await isExhausted());
    const stopped = Promise.withResolvers<boolean>();
    const killed = Promise.withResolvers<void>();
    const off = schedule.clockOff?.() ?? 0;
    const attemptFault = schedule.attemptFaults();
    const run: FaultyRun = {
      ...faultFree,
      clock: () => clock() + off,
      attemptFault: (command) => {
        const fault = isCalm || !hasFaults ? "none" : attemptFault(command);
        if (fault !== "none") tally[isDamagedResponse(fault) ? "damaged" : "requests"]++;
        return fault;
      },
      faultOf: (command, input) => {
        const fault = isCalm || !hasFaults ? "none" : schedule.faultOf(command, input);
        if (fault !== "none" && !fault.startsWith("kill") && !fault.startsWith("stall")) tally.requests++;
        return fault;
      },
      statementFault: () => {
        const fault = hasFaults ? schedule.statementFault() : "none";
        if (fault !== "none") tally.statements++;
        return fault;
      },
      stop: (kind) => {
        // A request that was on its way when the last workers were resumed.
        if (kind === "stall" && !hasFaults) return Promise.resolve();
        tally[kind === "kill" ? "kills" : "stalls"]++;
        stopped.resolve(false);
        if (kind === "kill") killed.resolve();
        return new Promise((resolve) => {
          if (kind === "stall") stalled.push(resolve);
        });
      },
    };
    const { handle } = disorder ? createWorkers(runtime, randomSizes(random)) : workers;
    const work = during(run, () => handle(body, clock() + off + HAND_OVER_AFTER_MS)).then(
      () => true,
      () => false,
    );
    running.push(Promise.race([work, killed.promise]));
    const isDone = await Promise.race([work, stopped.promise]);
    return isDone;
  };

  let seen: Counters = sumOf([]);
  /** Checks that the counters never decrease and never exceed the total. @returns whether the job has ended */
  const poll = async (): Promise<boolean> => {
    const { job: now, buckets } = (await during(faultFree, () => workers.store.read(job)))!;
    const hasEnded = now.check_at === undefined;
    // The buckets of an ended job keep what the job has counted.
    const counters = sumOf(buckets);
    if (hasEnded) expect(now).toMatchObject(toRowCounters(counters));
    for (const name of Object.keys(seen) as (keyof Counters)[]) {
      expect(counters[name]).toBeGreaterThanOrEqual(seen[name]);
    }
    expect(counters.succeeded + counters.failed).toBeLessThanOrEqual(now.total_rows);
    seen = counters;
    return hasEnded;
  };

  const client = createClient(base, organization, file);
  const takeFrom = <T>(list: T[], isRandom: boolean): T =>
    list.splice(isRandom ? Math.floor(random() * list.length) : 0, 1)[0]!;

  for (let step = 0; ; step++) {
    if (step > STEPS_MAX) throw new Error(`the job does not end: ${JSON.stringify(await workers.store.read(job))}`);
    const hasEnded = await poll();
    await client.change();
    if (hasEnded && queue.length === 0) break;
    if (queue.length === 0 || random() < 0.05) {
      elapsed += 2 * CLAIM_MS;
      await during(faultFree, () => workers.sweep(clock() + HAND_OVER_AFTER_MS));
      if (queue.length === 0) elapsed += 2 * CLAIM_MS;
    }
    if (disorder && random() < 0.2) elapsed += Math.floor(random() * 2 * CLAIM_MS);
    if (stalled.length > 0 && random() < 0.3) takeFrom(stalled, true)();

    const count = Math.min(disorder ? 1 + Math.floor(random() * 4) : 1, queue.length);
    const chosen = Array.from({ length: count }, () => takeFrom(queue, disorder));
    const simultaneous = chosen.flatMap((message) => (disorder && random() < 0.3 ? [message, message] : [message]));
    tally.repeated += simultaneous.length - chosen.length;
    await Promise.all(
      simultaneous.map(async (message) => {
        const isDone = await deliver(message.body);
        message.deliveries++;
        const isLost = disorder && isDone && random() < 0.1;
        const isRepeated = isDone && message.deliveries < 2;
        if (isLost) tally.unacknowledged++;
        if (isRepeated) tally.repeated++;
        if ((!isDone || isLost || isRepeated) && !queue.includes(message)) queue.push(message);
      }),
    );
    if (!disorder && queue.length > 0) elapsed += CLAIM_MS + 1;
  }
  hasFaults = false;
  for (const resume of stalled) resume();
  await Promise.all(running);
  const snapshot = (await workers.store.read(job))!;
  expect(sumOf(snapshot.buckets)).toEqual(seen);
  expect(isComplete(snapshot), JSON.stringify(snapshot)).toBe(true);

  return {
    outcome: await outcomeOf(deployment, job),
    content: await contentOf(base, organization, file),
    before,
    changes: client.changes,
  };
};

/**
 * Expects the counters and the report of a run without faults, and its items together with the client's changes; after
 * a dry run, the items as they were before.
 */
export const expectExact = (
  file: TestFile,
  seed: number,
  { outcome, content, before, changes }: Awaited<ReturnType<typeof runWithFaults>>,
  faultFree: FaultFreeRun,
): void => {
  const changed = [...changes].map(([name, change]) => [name, { ...faultFree.content[name], ...change }]);
  const expected = file.dryRun ? before : { ...faultFree.content, ...Object.fromEntries(changed) };
  expect({ seed, outcome, content }).toEqual({ seed, outcome: faultFree.outcome, content: expected });
  expect(outcome).toMatchObject({ status: "completed", total_rows: file.rows });
  expect(outcome.succeeded_rows + outcome.failed_rows).toBe(file.rows);
  expect(outcome.results.match(/\n/g)).toHaveLength(1 + file.rows);
};
