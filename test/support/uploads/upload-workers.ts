import { randomUUID } from "node:crypto";
import type { Organization } from "../../../lib/organizations/organization.ts";
import { createApplyChunk } from "../../../lib/uploads/chain/apply-chunk.ts";
import { createApplyRows } from "../../../lib/uploads/chain/apply-rows.ts";
import { createFinishUpload, createSettleShard } from "../../../lib/uploads/chain/finish.ts";
import { createChunkSender, createJobSender, parseJobMessage } from "../../../lib/uploads/chain/messages.ts";
import { createSplitUpload } from "../../../lib/uploads/chain/split.ts";
import { createSweep } from "../../../lib/uploads/chain/sweep.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import { createWriteList } from "../../../lib/uploads/files/write-list.ts";
import { isEnded, type JobKey } from "../../../lib/uploads/job/upload-record.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import { createRowUploads, createUploads } from "../../../lib/uploads/chain/worker-dependencies.ts";
import { createApplyWorkItems } from "../../../lib/work-items/apply-work-items.ts";
import type { TestRuntime } from "../runtime.ts";

/** Small limits, so that a file of a few hundred rows has several shards and chunks. */
const SMALL_CHUNKS = { rows: 70, bytes: 6000, shardBytes: 8000 };
/** Where a chunk is cut into windows, and a window into groups of items that are written together. */
export interface WindowSizes {
  readonly window: { readonly rows: number; readonly bytes: number };
  readonly itemsAtOnce: number;
}
const SMALL_WINDOWS: WindowSizes = { window: { rows: 60, bytes: 4096 }, itemsAtOnce: 15 };
/** Those of the service. */
export const DEFAULT_WINDOWS: WindowSizes = { window: { rows: 1000, bytes: 512 * 1024 }, itemsAtOnce: 100 };
/** Sizes that cut a file anywhere; a quarter of them are the defaults. */
export const randomSizes = (random: () => number): WindowSizes =>
  random() < 0.25
    ? DEFAULT_WINDOWS
    : {
        window: { rows: 5 + Math.floor(random() * 150), bytes: 300 + Math.floor(random() * 10_000) },
        itemsAtOnce: 1 + Math.floor(random() * 40),
      };

/** Makes the workers of upload jobs as their functions do, but with small limits. */
export const createWorkers = (runtime: TestRuntime, sizes = SMALL_WINDOWS) => {
  const { clock, environment, sqs } = runtime;
  const uploads = {
    ...createRowUploads(runtime),
    applyRows: createApplyRows(createApplyWorkItems(runtime), clock, sizes.itemsAtOnce),
    sendSplit: createJobSender(sqs, environment.SPLIT_QUEUE_URL),
    sendChunks: createChunkSender(runtime),
    writeList: createWriteList(runtime, createUploads(runtime).objects),
    onEnd: () => undefined,
  };
  const { store, objects } = uploads;
  const split = createSplitUpload({ ...uploads, limits: SMALL_CHUNKS, finish: createFinishUpload(uploads) });
  const withWindows = { ...uploads, limits: sizes.window };
  const settle = createSettleShard(withWindows);
  const finish = createFinishUpload({ ...uploads, rowWorker: { settle, sendSplit: uploads.sendSplit } });
  const apply = createApplyChunk({ ...withWindows, finish });
  return {
    store,
    objects,
    /** Ends a job if its work is done. @returns whether it has ended */
    finish: async (job: JobKey): Promise<boolean> => {
      const snapshot = await store.read(job);
      if (snapshot?.job.chunks) await finish(snapshot, clock() + 60_000);
      else if (snapshot) await uploads.endWithoutRows(snapshot.job);
      const now = await store.readJob(job);
      return now === undefined || isEnded(now);
    },
    /** Handles a message of any of the queues. */
    handle: async (body: string, handOverAt: number): Promise<void> => {
      if ("shard" in (JSON.parse(body) as object)) return apply(body, handOverAt);
      const { jobs, isFromS3 } = parseJobMessage(body);
      for (const job of jobs) {
        if (isFromS3) {
          await store.watch(job);
          await uploads.sendSplit(job);
        } else await split(job, handOverAt);
      }
    },
    sweep: createSweep(uploads),
    /** Creates a job and writes its file to the bucket. */
    upload: async (
      organization: Organization,
      { text, mapping, dryRun }: { readonly text: string; readonly mapping?: Mapping; readonly dryRun?: boolean },
    ): Promise<JobKey> => {
      const upload = {
        id: randomUUID(),
        origin: "request",
        ...(dryRun && { dry_run: true }),
        ...(mapping && { mapping: JSON.stringify(mapping) }),
      } as const;
      const { job } = await store.create(organization, upload, clock() + 120_000);
      await objects.write(objectKeys.source(job), Buffer.from(text), "text/csv");
      return { organization: job.organization, id: job.id };
    },
  };
};
