import { createAccessStore } from "../../organizations/access-store.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { createApplyWorkItems } from "../../work-items/apply-work-items.ts";
import { createApplyRows } from "./apply-rows.ts";
import { createUndoRows } from "./undo-rows.ts";
import { createUndoWorkItems } from "../../work-items/undo/undo-work-items.ts";
import { createEndWithoutRows } from "./finish.ts";
import { createUploadObjects } from "../files/upload-objects.ts";
import { createFindEndedJobs } from "../job/ended-jobs.ts";
import { UploadStore } from "../job/upload-store.ts";

/** The dependencies of every worker on jobs. */
export function createUploads(runtime: RuntimeWith<"workItems" | "uploads">) {
  const { clock, log } = runtime;
  const store = new UploadStore(runtime);
  return {
    clock,
    log,
    store,
    objects: createUploadObjects(runtime),
    endWithoutRows: createEndWithoutRows({ store, log }),
  };
}

/** The dependencies of workers that apply rows. */
export function createRowUploads(runtime: RuntimeWith<"workItems" | "uploads" | "access">) {
  const access = createAccessStore(runtime);
  return {
    ...createUploads(runtime),
    findOrganization: (id: string) => access.findOrganization(id, { consistent: true }),
    findEndedJobs: createFindEndedJobs(runtime),
    applyRows: createApplyRows(createApplyWorkItems(runtime), runtime.clock),
    undoRows: createUndoRows(createUndoWorkItems(runtime), runtime.clock),
  };
}
