import { randomUUID } from "node:crypto";
import { createAccessStore } from "../../../lib/organizations/access-store.ts";
import type { Organization } from "../../../lib/organizations/organization.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import { createFindEndedJobs } from "../../../lib/uploads/job/ended-jobs.ts";
import type { JobKey } from "../../../lib/uploads/job/upload-record.ts";
import { createUploads } from "../../../lib/uploads/uploads.ts";
import { createApplyRows } from "../../../lib/uploads/workers/apply-rows.ts";
import { createApplyPart } from "../../../lib/uploads/workers/apply-upload-part.ts";
import { createSplitUpload } from "../../../lib/uploads/workers/split-upload.ts";
import { UploadSweep } from "../../../lib/uploads/workers/sweep-uploads.ts";
import {
  createPartSender,
  createSplitSender,
  parseUploadMessage,
} from "../../../lib/uploads/workers/upload-messages.ts";
import { createApplyWorkItems } from "../../../lib/work-items/apply-work-items.ts";
import type { TestFile } from "./test-file.ts";
import type { TestRuntime } from "../runtime.ts";

/** Small limits, so that a file of a few hundred rows has several parts, segments, windows and groups of items. */
const SMALL = {
  split: { segmentBytes: 12_000, partBytes: 8000, largePartBytes: 8000 },
} as const;
/** Where a part is cut into windows, and a window into groups of items that are written together. */
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
  const { clock } = runtime;
  const access = createAccessStore(runtime);
  const uploads = createUploads(runtime);
  const { store, objects } = uploads;
  const shared = {
    ...runtime,
    ...uploads,
    sendSplit: createSplitSender(runtime),
    sendParts: createPartSender(runtime),
  };
  const sweep = new UploadSweep(shared);
  const split = createSplitUpload({ ...shared, limits: SMALL.split });
  const apply = createApplyPart({
    ...shared,
    findOrganization: (id) => access.findOrganization(id),
    findEndedJobs: createFindEndedJobs(runtime),
    applyRows: createApplyRows(createApplyWorkItems(runtime), clock, sizes.itemsAtOnce),
    onEnd: () => undefined,
    limits: sizes.window,
  });
  return {
    store,
    objects,
    finish: uploads.finish,
    /** Handles a message of either queue. */
    handle: async (body: string, handOverAt: number): Promise<void> => {
      const message = parseUploadMessage(body);
      if ("part" in message) return apply(body, handOverAt);
      for (const job of message.splits) await (message.isFromS3 ? shared.sendSplit(job) : split(job, handOverAt));
    },
    sweep: (until: number) => sweep.run(until),
    /** Creates a job and writes its file to the bucket. */
    upload: async (
      organization: Organization,
      { text, mapping, dryRun }: Pick<TestFile, "text" | "mapping" | "dryRun">,
    ): Promise<JobKey> => {
      const upload = {
        id: randomUUID(),
        origin: "request",
        ...(dryRun && { dry_run: true }),
        ...(mapping && { mapping: JSON.stringify(mapping) }),
      } as const;
      const { job } = await store.openUploads.create(organization, upload, clock() + 120_000);
      await objects.write(objectKeys.source(job), Buffer.from(text), "text/csv");
      return { organization: job.organization, id: job.id };
    },
  };
};
