import { HeldError } from "../../aws/queue-worker.ts";
import { isEnded, type JobKey } from "../job/upload-record.ts";
import { type ApplyPartDependencies, PartRun } from "./part-run.ts";
import { parsePartMessage } from "./upload-messages.ts";

/**
 * Makes the function that applies the part which a message names. After each window, one conditional write saves
 * checkpoint, counters and failed rows together, so that every row is counted once even if messages are lost, repeated or
 * delivered to several workers.
 * @returns a function that throws HeldError if another worker holds the part's lease
 */
export function createApplyPart(dependencies: ApplyPartDependencies) {
  const { store, finish } = dependencies;
  return async (body: string, handOverAt: number): Promise<void> => {
    const message = parsePartMessage(body);
    const key: JobKey = { organization: message.organization, id: message.id };
    const job = await store.readJob(key);
    if (!job?.published || isEnded(job)) return;
    const wholeRun = { until: handOverAt, abridge: true };
    if (job.stopping) {
      await finish(job, wholeRun);
      return;
    }
    const claim = await store.claimPart(job, message.part, message.unreleased_since);
    if (claim.state === "claimed") return new PartRun(dependencies, job, claim.record, handOverAt).run();
    if (claim.record.state === "open" && !claim.record.stop) throw new HeldError("the part is being applied");
    await finish(job, wholeRun);
  };
}
