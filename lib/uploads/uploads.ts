import type { RuntimeWith } from "../aws/runtime.ts";
import { createWriteList } from "./files/write-list.ts";
import { createUploadObjects } from "./files/upload-objects.ts";
import { UploadStore } from "./job/upload-store.ts";
import { createFinishUpload } from "./workers/finish-upload.ts";

/** The dependencies of every function that works on jobs: records, objects, and the function that ends a job. */
export function createUploads(runtime: RuntimeWith<"workItems" | "uploads">) {
  const store = new UploadStore(runtime);
  const objects = createUploadObjects(runtime);
  const finish = createFinishUpload(store, createWriteList(runtime, objects), runtime);
  return { store, objects, finish };
}
