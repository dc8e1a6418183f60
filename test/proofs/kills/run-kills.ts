import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../../../infra/local/aws-terms/random.ts";
import { type ServiceProcess, startService } from "../service-process.ts";
import { workItemId } from "../../../lib/identity.ts";
import {
  createPatientCaller,
  ORGANIZATION,
  type PatientCaller,
  runUploader,
  runWriter,
  type UploadedJob,
} from "./callers.ts";

const WRITERS = 6;
/** The service is killed after at most so many acknowledged writes, or when it has served none for so long. */
const WRITES_MAX = 60;
const ALIVE_MAX_MS = 30_000;
/** A worker's lease ends after 30 s, and a sweep comes every minute. */
const JOBS_END_WITHIN_MS = 240_000;
const ENDED = ["completed", "failed", "cancelled"];

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

/** Waits until all jobs have ended, and compares their counters. */
const checkJobs = async (
  { call }: PatientCaller,
  jobs: readonly UploadedJob[],
  report: (difference: object) => void,
): Promise<void> => {
  const until = Date.now() + JOBS_END_WITHIN_MS;
  for (const { id, counters } of jobs) {
    for (;;) {
      const { body } = await call("GET", `/v1/work_items/upload/${id}`);
      const job = body.data as Readonly<Record<string, unknown>>;
      if (!ENDED.includes(String(job["status"])) && Date.now() < until) {
        await sleep(500);
        continue;
      }
      const isExact = Object.entries(counters).every(([name, count]) => job[name] === count);
      if (job["status"] !== "completed" || !isExact) report({ job, counters });
      break;
    }
  }
};

/** Items of each job whose events are compared. */
const COMPARED_ITEMS = 60;

/** Compares the events of items that jobs have made. */
const checkEvents = async (
  { call }: PatientCaller,
  jobs: readonly UploadedJob[],
  report: (difference: object) => void,
): Promise<void> => {
  for (const [externalId, events] of jobs.flatMap(({ items }) => [...items].slice(0, COMPARED_ITEMS))) {
    const { body } = await call("GET", `/v1/work_items/${workItemId(ORGANIZATION, externalId)}`);
    const { events: stored = [] } = body.data as { readonly events?: readonly { readonly external_id: string }[] };
    const found = stored.map((each) => each.external_id).toSorted();
    if (found.join() !== events.join()) report({ externalId, found, events });
  }
};

/** Compares all items of the organization with those that should be there. */
const checkList = async (
  { call }: PatientCaller,
  externalIds: readonly string[],
  report: (difference: object) => void,
): Promise<void> => {
  const found: string[] = [];
  for (let cursor = "", isFirst = true; isFirst || cursor !== ""; isFirst = false) {
    const query = isFirst ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await call("GET", `/v1/work_items?limit=100${query}`);
    found.push(...(body.data as { external_id: string }[]).map((item) => item.external_id));
    cursor = (body.meta as { page: { next?: string } }).page.next ?? "";
  }
  const [actual, expected] = [new Set(found), new Set(externalIds)];
  const missing = [...expected.difference(actual)];
  const unexpected = [...actual.difference(expected)];
  const repeated = found.length - actual.size;
  if (missing.length + unexpected.length + repeated > 0) report({ missing, unexpected, repeated });
};

/**
 * Runs the service under load, kills it again and again and starts it again with the same data. Then compares all that
 * was acknowledged with what is there.
 */
export const runKills = async (kills: number, jobs: number, seed: number): Promise<KillsRun> => {
  const directory = mkdtempSync(join(tmpdir(), "kills-"));
  const random = randomFrom(seed);
  const differences: object[] = [];
  const report = (difference: object): void => {
    differences.push(difference);
  };
  let service: ServiceProcess | undefined = await startService(directory);
  try {
    const caller = createPatientCaller(() => service);
    let isOver = false;
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
    const uploader = runUploader(caller, jobs, pause, report);

    for (; progress.killed < kills; progress.killed++) {
      const enough = caller.acknowledged() + 1 + random() * WRITES_MAX;
      const until = Date.now() + ALIVE_MAX_MS;
      while (caller.acknowledged() < enough && Date.now() < until) await sleep(random() * 50);
      const running = service;
      service = undefined;
      await running?.kill(random() < 0.5 ? "alone" : "with its engines");
      service = await startService(directory);
    }
    isOver = true;
    const written = (await writers).flat();
    const uploaded = await uploader;
    await checkJobs(caller, uploaded, report);
    await checkEvents(caller, uploaded, report);
    await checkList(caller, [...written, ...uploaded.flatMap(({ items }) => [...items.keys()])], report);
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
