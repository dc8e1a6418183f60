import type { RuntimeWith } from "../../aws/runtime.ts";
import { batchGet } from "../../store/batch-get.ts";
import { logDamaged, unlessDamaged } from "../../store/decode-record.ts";
import { isEnded, type UploadJob } from "./upload-record.ts";
import { jobFrom, jobKey } from "./upload-store.ts";

/** Ended jobs that are remembered, because a job stays ended. */
const REMEMBERED_MAX = 10_000;

/** Makes the function that reads the jobs with some ids that exist. Damaged ones are logged and left out. */
export function createReadJobs(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment } = runtime;
  const onDamaged = logDamaged(runtime);
  return async (organization: string, ids: readonly string[]): Promise<UploadJob[]> => {
    const keys = ids.map((id) => jobKey({ organization, id }));
    const records = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys);
    return records.flatMap((record) => unlessDamaged(() => jobFrom(record), onDamaged) ?? []);
  };
}

/** Makes the function that finds the ended jobs among some. A job without a record, or with a damaged one, counts as ended. */
export function createFindEndedJobs(runtime: RuntimeWith<"workItems">) {
  const readJobs = createReadJobs(runtime);
  const ended = new Set<string>();
  return async (organization: string, ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const others = ids.filter((id) => !ended.has(id));
    if (others.length > 0) {
      const jobs = await readJobs(organization, others);
      const open = new Set(jobs.filter((job) => !isEnded(job)).map(({ id }) => id));
      if (ended.size > REMEMBERED_MAX) ended.clear();
      for (const id of others) if (!open.has(id)) ended.add(id);
    }
    return new Set(ids.filter((id) => ended.has(id)));
  };
}

/** The jobs among some that have ended. */
export type FindEndedJobs = ReturnType<typeof createFindEndedJobs>;
