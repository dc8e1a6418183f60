import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../../support/random.ts";
import { createPatientCaller, type PatientCaller, runWriter } from "../kills/callers.ts";
import { presentIn, runUploader } from "../kills/uploader.ts";
import type { ServiceProcess } from "../service-process.ts";
import { compareList, createKept, createTwice, walkList } from "./item-callers.ts";
import { checkKeys, createKeys } from "./key-callers.ts";
import { countServed, startMixedService } from "./mixed-service.ts";
import { checkJob, checkRows, endOfJob, fileOf, uploadAndCancel, uploadByForm } from "./upload-callers.ts";

const WRITERS = 4;
const KEPT_ITEMS = 60;
/** An odd page, so that pages of both versions end at any place. */
const WALK_LIMIT = 7;
const FORM_ROWS = 400;
/** Enough rows for several windows, so that some are cancelled in the middle. */
const CANCELLED_ROWS = 3000;
/** A kill comes after at most so many acknowledged writes, or when the service has served none for so long. */
const WRITES_MAX = 80;
const ALIVE_MAX_MS = 30_000;
/** Up to 0a83952 the sweep first checks the job of a form 15 minutes after its request; later ones within minutes. */
const JOBS_END_WITHIN_MS = 1_200_000;

/** How much a run does. */
export interface RollingSize {
  /** Jobs of each kind: uploaded as a request, by a form, and cancelled. */
  readonly jobs: number;
  readonly kills: number;
  readonly seed: number;
}
/** What a run has done, and what it found. */
export interface RollingRun {
  readonly calls: number;
  readonly jobs: number;
  /** Invocations that each version has served. */
  readonly older: number;
  readonly newer: number;
  readonly differences: readonly object[];
}

/** A job whose rows are all valid, each an item of its own. */
interface SimpleJob {
  readonly id: string;
  readonly ids: readonly string[];
}

/** Counts calls that have a response. */
function counting(caller: PatientCaller): PatientCaller & { readonly calls: () => number } {
  let calls = 0;
  const call: PatientCaller["call"] = async (...parameters) => {
    const response = await caller.call(...parameters);
    calls += 1;
    return response;
  };
  return { ...caller, call, calls: () => calls };
}

/**
 * Serves each invocation at random by one of two versions, on one set of engines that is killed now and then, and calls
 * it in all its ways. Then compares what is there with what the calls said.
 * @param older directory of a checkout, as `newer` is
 */
export async function runRolling(older: string, newer: string, size: RollingSize): Promise<RollingRun> {
  const { jobs, kills, seed } = size;
  const directory = mkdtempSync(join(tmpdir(), "rolling-data-"));
  const random = randomFrom(seed);
  const differences: object[] = [];
  const report = (difference: object): void => void differences.push(difference);
  const start = (round: number): Promise<ServiceProcess> =>
    startMixedService(directory, { older, newer }, seed + 1000 * round);
  let service: ServiceProcess | undefined = await start(0);
  try {
    const caller = counting(createPatientCaller(() => service));
    const kept = Array.from({ length: KEPT_ITEMS }, (_, index) => `kept-${index}`);
    await createKept(caller, kept, report);
    const keys = await createKeys(directory);
    const work = { isOver: false };

    const writers = Array.from({ length: WRITERS }, (_, index) =>
      runWriter(caller, `writer${index}`, randomFrom(seed + index + 1), () => work.isOver, report),
    );
    const walk = async (): Promise<void> => {
      while (!work.isOver) differences.push(...compareList(await walkList(caller, WALK_LIMIT, report), kept, true));
    };
    const created: string[] = [];
    const create = async (): Promise<void> => {
      while (!work.isOver) {
        const externalId = `created-${created.length}`;
        created.push(externalId);
        await createTwice(caller, externalId, report);
      }
    };
    const progress = { killed: 0 };
    /** Spreads jobs over the kills. */
    const pause = async (done: number): Promise<void> => {
      while (progress.killed < Math.floor((done * kills) / jobs)) await sleep(100);
    };
    const byForm: SimpleJob[] = [];
    const uploadForms = async (): Promise<void> => {
      for (let number = 0; number < jobs; number++) {
        const ids = Array.from({ length: FORM_ROWS }, (_, row) => `form${number}-${row}`);
        const id = await uploadByForm(caller, `form${number}`, fileOf(ids), report);
        if (id !== undefined) byForm.push({ id, ids });
        await pause(number + 1);
      }
    };
    const toCancel: SimpleJob[] = [];
    const cancelJobs = async (): Promise<void> => {
      for (let number = 0; number < jobs; number++) {
        const ids = Array.from({ length: CANCELLED_ROWS }, (_, row) => `cancel${number}-${row}`);
        const id = await uploadAndCancel(caller, `cancel${number}`, ids, random() * 2000, report);
        if (id !== undefined) toCancel.push({ id, ids });
        await pause(number + 1);
      }
    };
    const background = Promise.all([...writers, walk(), create()]);
    const uploading = Promise.all([
      runUploader(caller, { count: jobs, seed, pause, report }),
      uploadForms(),
      cancelJobs(),
    ]);

    for (; progress.killed < kills; progress.killed++) {
      const enough = caller.acknowledged() + 1 + random() * WRITES_MAX;
      const until = Date.now() + ALIVE_MAX_MS;
      while (caller.acknowledged() < enough && Date.now() < until) await sleep(random() * 50);
      const running = service;
      service = undefined;
      await running?.kill(random() < 0.5 ? "alone" : "with its engines");
      service = await start(progress.killed + 1);
    }
    const [uploaded] = await uploading;
    const until = Date.now() + JOBS_END_WITHIN_MS;
    for (const job of uploaded) {
      const { id, counters } = job;
      if (!(await checkJob(caller, job, until, report))) continue;
      await checkRows(caller, id, "failed_rows", counters["failed_rows"] ?? 0, report);
      await checkRows(caller, id, "results", counters["total_rows"] ?? 0, report);
    }
    for (const { id, ids } of byForm)
      await checkJob(caller, { id, counters: { created_rows: ids.length } }, until, report);
    const partial: { readonly job: SimpleJob; readonly created: number }[] = [];
    for (const job of toCancel) {
      const { status, created_rows: count } = await endOfJob(caller, job.id, until);
      if (status !== "cancelled" && status !== "completed") report({ job: job.id, status });
      partial.push({ job, created: Number(count) });
    }
    work.isOver = true;
    const written = (await background).flatMap((own) => own ?? []);
    const whole = [...uploaded.flatMap(({ items }) => presentIn(items)), ...byForm.flatMap(({ ids }) => ids)];
    const found = await walkList(caller, 100, report);
    const cancelledIds = new Set(toCancel.flatMap(({ ids }) => ids));
    const others = found.filter((externalId) => !cancelledIds.has(externalId));
    differences.push(...compareList(others, [...kept, ...created, ...written, ...whole]));
    differences.push(...compareList(found, [], true));
    const there = new Set(found);
    for (const { job, created: counted } of partial) {
      const present = job.ids.filter((externalId) => there.has(externalId)).length;
      // At most the window in hand lands after a job was cancelled; what was counted is there.
      if (present < counted) report({ cancelled: job.id, counted, present });
    }
    await checkKeys(caller, service, keys, report);
    const served = countServed(directory);
    return { calls: caller.calls(), jobs: uploaded.length + byForm.length + toCancel.length, ...served, differences };
  } finally {
    await service?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
