import { batchGet } from "../../store/batch-get.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { isEnded } from "./upload-record.ts";
import { jobFrom, jobKey } from "./upload-store.ts";

/** A job that has ended stays so: it need not be looked up again. */
const REMEMBERED_MAX = 10_000;

/** Finds out which jobs of an organization have ended; one without a record has. */
export function createFindEndedJobs({ dynamodb, environment }: RuntimeWith<"workItems">) {
  const known = new Set<string>();
  return async (organization: string, ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length > 0) {
      const keys = unknown.map((id) => jobKey({ organization, id }));
      const jobs = (await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys)).map(jobFrom);
      const open = new Set(jobs.filter((job) => !isEnded(job)).map(({ id }) => id));
      if (known.size > REMEMBERED_MAX) known.clear();
      for (const id of unknown) if (!open.has(id)) known.add(id);
    }
    return new Set(ids.filter((id) => known.has(id)));
  };
}

/** The jobs among some that have ended. */
export type FindEndedJobs = ReturnType<typeof createFindEndedJobs>;
