import type { RuntimeWith } from "../runtime/runtime.ts";
import { createWriteReport } from "./files/failed-rows.ts";
import { createUploadObjects } from "./files/upload-objects.ts";
import { createUploadStore } from "./job/upload-store.ts";
import { createFinishUpload } from "./workers/finish-upload.ts";

/** What every function that works on jobs is made of: their records, their objects, and how a job ends. */
export const createUploads = (runtime: RuntimeWith<"workItems" | "uploads">) => {
  const store = createUploadStore(runtime);
  const objects = createUploadObjects(runtime);
  const finish = createFinishUpload(store, createWriteReport(runtime, objects), runtime.clock);
  return { store, objects, finish };
};
