import type { RuntimeWith } from "../aws/runtime.ts";
import { createReadJobs } from "../uploads/job/ended-jobs.ts";
import { isEnded } from "../uploads/job/upload-record.ts";
import { type EndedJob, endedJobSchema } from "./endpoint-state.ts";

/** Makes the function that reads those of some jobs that have ended, as webhooks show them. */
export function createReadEndedJobs(runtime: RuntimeWith<"workItems">) {
  const readJobs = createReadJobs(runtime);
  return async (organization: string, ids: readonly string[]): Promise<EndedJob[]> =>
    (await readJobs(organization, ids)).filter(isEnded).map((job) => endedJobSchema.parse(job));
}
