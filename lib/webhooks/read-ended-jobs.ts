import type { RuntimeWith } from "../aws/runtime.ts";
import { batchGet } from "../store/batch-get.ts";
import { logDamaged, unlessDamaged } from "../store/decode-record.ts";
import { isEnded } from "../uploads/job/upload-record.ts";
import { jobFrom, jobKey } from "../uploads/job/upload-store.ts";
import type { EndedJob } from "./endpoint-state.ts";

/** Makes the function that reads those of some jobs that have ended. One that can't be read is left out. */
export function createReadEndedJobs(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment } = runtime;
  const onDamaged = logDamaged(runtime);
  return async (organization: string, ids: readonly string[]): Promise<EndedJob[]> => {
    const keys = ids.map((id) => jobKey({ organization, id }));
    const records = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys);
    return records.flatMap((record) => {
      const job = unlessDamaged(() => jobFrom(record), onDamaged);
      if (job === undefined || !isEnded(job)) return [];
      const { id, status, dry_run = false, undo_of, total_rows, succeeded_rows, failed_rows } = job;
      return { id, status, dry_run, ...(undo_of && { undo_of }), total_rows, succeeded_rows, failed_rows };
    });
  };
}
