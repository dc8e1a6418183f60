import { randomUUID } from "node:crypto";
import { createRecordStore, keyText } from "../../lib/aws/record-store.ts";
import { createAccessStore } from "../../lib/organizations/access-store.ts";
import type { Organization } from "../../lib/organizations/organization.ts";
import { createApplyRows } from "../../lib/uploads/apply-rows.ts";
import { createApplyPart } from "../../lib/uploads/apply-upload-part.ts";
import { createWriteReport } from "../../lib/uploads/failed-rows.ts";
import { createSettleUpload } from "../../lib/uploads/settle-upload.ts";
import { createSplitUpload } from "../../lib/uploads/split-upload.ts";
import { createSweepUploads } from "../../lib/uploads/sweep-uploads.ts";
import {
  createPartSender,
  createSplitSender,
  parsePartMessage,
  parseSplitMessage,
} from "../../lib/uploads/upload-messages.ts";
import { createUploadObjects, type JobKey, objectKeys } from "../../lib/uploads/upload-objects.ts";
import { createUploadStore } from "../../lib/uploads/upload-store.ts";
import { createApplyWorkItems } from "../../lib/work-items/apply-work-items.ts";
import { itemKeyOf, workItemFrom } from "../../lib/work-items/work-item-record.ts";
import type { TestRuntime } from "../support/runtime.ts";

/** So small that a file of a few hundred rows has several parts, segments and windows. */
const SMALL = {
  split: { segmentBytes: 12_000, partBytes: 8000, largePartBytes: 8000 },
  window: { rows: 60, bytes: 4096 },
} as const;

/** The workers of uploads on one set of clients, made as their functions make them but with small limits. */
export const createWorkers = (runtime: TestRuntime) => {
  const { environment, dynamodb, s3, sqs, clock } = runtime;
  const store = createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock);
  const objects = createUploadObjects(s3, environment.UPLOADS_BUCKET);
  const access = createAccessStore(runtime);
  const shared = {
    ...runtime,
    store,
    objects,
    sendSplit: createSplitSender(sqs, environment.SPLIT_QUEUE_URL),
    sendParts: createPartSender(sqs, environment.PARTS_QUEUE_URL),
    settle: createSettleUpload(store, createWriteReport(s3, environment.UPLOADS_BUCKET, objects), clock),
  };
  const split = createSplitUpload({ ...shared, limits: SMALL.split });
  const apply = createApplyPart({
    ...shared,
    findOrganization: (id) => access.findOrganization(id),
    applyRows: createApplyRows(createApplyWorkItems(runtime), clock),
    onEnd: () => undefined,
    limits: SMALL.window,
  });
  return {
    store,
    objects,
    settle: shared.settle,
    /** Does what a message of either queue asks for. */
    handle: async (body: string, handOverAt: number): Promise<void> => {
      if (body.includes('"part"')) return apply(parsePartMessage(body), handOverAt);
      for (const job of parseSplitMessage(body)) await split(job, handOverAt);
    },
    sweep: createSweepUploads(shared),
    /** Makes a job and puts its file into the bucket. */
    upload: async (organization: Organization, file: string): Promise<JobKey> => {
      const { job } = await store.create(organization, { id: randomUUID(), origin: "request" }, clock() + 120_000);
      await objects.write(objectKeys.source(job), Buffer.from(file), "text/csv");
      return { organization: job.organization, id: job.id };
    },
  };
};

/** What the table holds of these external_ids, without what differs from one run to the next. */
export const contentOf = async (
  { dynamodb, environment }: TestRuntime,
  organization: Organization,
  externalIds: readonly string[],
): Promise<Record<string, object | null>> => {
  const records = createRecordStore({ dynamodb, table: environment.WORK_ITEMS_TABLE, path: "native" });
  const keys = externalIds.map((id) => itemKeyOf(organization.id, id));
  const read = await records.read(keys);
  return Object.fromEntries(
    externalIds.map((id, index) => {
      const item = workItemFrom(read.get(keyText(keys[index]!)));
      const { created_at: _created, updated_at: _updated, deleted_at: deleted, ...content } = item ?? {};
      return [id, item && { ...content, deleted: deleted !== null }];
    }),
  );
};
