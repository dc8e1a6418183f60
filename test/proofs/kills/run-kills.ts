import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { randomFrom } from "../../support/random.ts";
import { type ServiceProcess, startService } from "../service-process.ts";
import { type Content, contentOf } from "../faults/upload-file.ts";
import type { ModelItem } from "../model/reference-item.ts";
import { compareList, walkList } from "../rolling/item-callers.ts";
import { checkJob } from "../rolling/upload-callers.ts";
import { createPatientCaller, type PatientCaller, runWriter } from "./callers.ts";
import { createItemClient, pathOf, shownOf } from "./item-client.ts";
import { presentIn, runUploader, type UploadedJob } from "./uploader.ts";

type Report = (difference: object) => void;
const WRITERS = 6;
/** The service is killed after at most so many acknowledged writes, or when it has served none for so long. */
const WRITES_MAX = 60;
const ALIVE_MAX_MS = 30_000;
/** A worker's lease ends after 30 s, and a sweep comes every minute. */
const JOBS_END_WITHIN_MS = 240_000;
/** Indexes lag up to two seconds on AWS's terms, and longer on a busy machine. */
const LIST_LAGS_MAX_MS = 30_000;
/** A kill that waits for rows to be applied comes at most so long after the first of them was seen. */
const SEEN_BEFORE_MS = 400;

/** What a run has done, and what it found. */
export interface KillsRun {
  readonly kills: number;
  readonly acknowledged: number;
  /** Calls that were repeated since they had no response. */
  readonly repeated: number;
  readonly jobs: number;
  /** Differences from what was acknowledged. */
  readonly differences: readonly object[];
}

/** Items of each job that are compared besides the singles. */
const COMPARED_ITEMS = 60;

/** Compares items of jobs, with their events, with what the rows and the client have made of them. */
const checkItems = async (
  { call }: PatientCaller,
  jobs: readonly UploadedJob[],
  changed: ReadonlyMap<string, ModelItem>,
  report: Report,
): Promise<void> => {
  for (const { items, singles } of jobs) {
    const names = [...singles.map(({ externalId }) => externalId), ...[...items.keys()].slice(0, COMPARED_ITEMS)];
    for (const name of new Set(names)) {
      const item = changed.get(name) ?? items.get(name);
      const { status, body } = await call("GET", pathOf(name));
      const found = status === 404 ? undefined : contentOf(body.data as Content);
      const expected = item && shownOf(item);
      if (!isDeepStrictEqual(found, expected)) report({ name, found, expected });
    }
  }
};

/** Compares the list, which may lag on AWS's terms. */
const checkList = async (caller: PatientCaller, externalIds: readonly string[], report: Report): Promise<void> => {
  const until = Date.now() + LIST_LAGS_MAX_MS;
  for (;;) {
    const differences = compareList(await walkList(caller, 100, report), externalIds);
    if (differences.length === 0) return;
    if (Date.now() >= until) return differences.forEach(report);
    await sleep(500);
  }
};

/**
 * Runs the service under load, kills it again and again and starts it again with the same data, every other time on
 * AWS's terms. Then compares all that was acknowledged with what is there.
 */
export const runKills = async (kills: number, jobs: number, seed: number): Promise<KillsRun> => {
  const directory = mkdtempSync(join(tmpdir(), "kills-"));
  const random = randomFrom(seed);
  const differences: object[] = [];
  const report = (difference: object): void => {
    differences.push(difference);
  };
  const start = (round: number): Promise<ServiceProcess> =>
    startService(directory, round % 2 === 0 ? seed + round : undefined);
  let service: ServiceProcess | undefined = await start(0);
  try {
    const caller = createPatientCaller(() => service);
    let isOver = false;
    let haveJobsEnded = false;
    const writers = Promise.all(
      Array.from({ length: WRITERS }, (_, index) =>
        runWriter(caller, `writer${index}`, randomFrom(seed + index + 1), () => isOver, report),
      ),
    );
    const progress = { killed: 0 };
    /** The next file is uploaded some kills later. */
    const pause = async (uploaded: number): Promise<void> => {
      const enough = (uploaded * kills) / jobs;
      while (progress.killed < enough) await sleep(100);
    };
    const client = createItemClient({ caller, random: randomFrom(seed + 100), isOver: () => haveJobsEnded, report });
    const changes: Promise<void>[] = [];
    const onAccepted = (job: UploadedJob): void => {
      // What others change may count in a job that is only tried, or not.
      if (!job.isTried) changes.push(client.change(job));
    };
    const uploader = runUploader(caller, { count: jobs, seed, pause, onAccepted, report });

    for (; progress.killed < kills; progress.killed++) {
      const enough = caller.acknowledged() + 1 + random() * WRITES_MAX;
      const seen = client.seen();
      // Every other kill comes while rows are applied, if there is a job whose rows are to come.
      const isEnough = (): boolean =>
        progress.killed % 2 === 1
          ? caller.acknowledged() >= enough
          : client.seen() > seen || (!client.isWaiting() && caller.acknowledged() >= enough + WRITES_MAX);
      const until = Date.now() + ALIVE_MAX_MS;
      while (!isEnough() && Date.now() < until) await sleep(random() * 50);
      if (client.seen() > seen) await sleep(random() * SEEN_BEFORE_MS);
      const running = service;
      service = undefined;
      await running?.kill(random() < 0.5 ? "alone" : "with its engines");
      service = await start(progress.killed + 1);
    }
    isOver = true;
    const written = (await writers).flat();
    const uploaded = await uploader;
    const jobsEndBy = Date.now() + JOBS_END_WITHIN_MS;
    for (const job of uploaded) await checkJob(caller, job, jobsEndBy, report);
    haveJobsEnded = true;
    await Promise.all(changes);
    await checkItems(caller, uploaded, client.states, report);
    const items = new Map([...uploaded.flatMap((job) => [...job.items]), ...client.states]);
    await checkList(caller, [...written, ...presentIn(items)], report);
    return {
      kills,
      acknowledged: caller.acknowledged(),
      repeated: caller.repeated(),
      jobs: uploaded.length,
      differences,
    };
  } finally {
    await service?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};
