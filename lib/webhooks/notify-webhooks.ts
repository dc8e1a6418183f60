import type { NotifyWebhooks } from "../changes/append-to-log.ts";
import { createExpiringCache } from "../organizations/expiring-cache.ts";
import { type EndedJob, newestOf, toEndedJob } from "./endpoint-state.ts";
import { createSendToWebhooks } from "./webhook-messages.ts";
import { hasWebhooks } from "./webhook-store.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { createReadJobs } from "../uploads/job/ended-jobs.ts";
import { isEnded } from "../uploads/job/upload-record.ts";

/** A webhook that is created in this time is called without a change after it. */
const KNOWN_MS = 10_000;
const KNOWN_MAX = 10_000;

/**
 * Makes the function that sends an organization's news to the webhooks' queue, if it has webhooks. It throws unless the
 * news is in the queue.
 * @param readEndedJobs reads jobs and returns those that have ended. @default returns none
 */
export function createNotifyWebhooks(
  runtime: RuntimeWith<"webhooks" | "webhooksQueue">,
  readEndedJobs: (organization: string, ids: readonly string[]) => Promise<EndedJob[]> = async () => [],
): NotifyWebhooks {
  const send = createSendToWebhooks(runtime);
  const answers = createExpiringCache<boolean>(KNOWN_MAX, runtime.clock);
  const has = async (organization: string): Promise<boolean> => {
    const remembered = answers.get(organization);
    if (remembered !== undefined) return remembered;
    const found = await hasWebhooks(runtime, organization);
    answers.set(organization, found, KNOWN_MS);
    return found;
  };
  return async (organization, position, written) => {
    if (!(await has(organization))) return;
    const jobs = written.length === 0 ? [] : await readEndedJobs(organization, written);
    if (position !== undefined || jobs.length > 0)
      await send([{ kind: "news", organization, position, ...newestOf(jobs) }]);
  };
}

/** Makes the function that reads jobs and returns those that have ended, as webhooks show them. */
export function createReadEndedJobs(runtime: RuntimeWith<"workItems">) {
  const readJobs = createReadJobs(runtime);
  return async (organization: string, ids: readonly string[]): Promise<EndedJob[]> =>
    (await readJobs(organization, ids)).filter(isEnded).map(toEndedJob);
}
