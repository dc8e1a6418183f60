import type { RuntimeWith } from "../../aws/runtime.ts";
import type { FinishUpload } from "./finish-upload.ts";
import { type PartMessage, parseUploadMessage, type SplitMessage } from "./upload-messages.ts";
import { isEnded, isHeld, unclaimedPart } from "../job/upload-record.ts";
import type { UploadStore } from "../job/upload-store.ts";

/** Dependencies of `createFailDeadUpload`. */
export interface FailDeadDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly finish: FinishUpload;
}

/**
 * Fails the job of a message that exhausted its receives. The message may be a duplicate: if a worker holds the lease,
 * or there was progress since the message was sent, nothing is done and the sweep takes care of the job.
 */
export function createFailDeadUpload({ clock, log, store, finish }: FailDeadDependencies) {
  const failSplit = async (message: SplitMessage): Promise<void> => {
    const job = await store.readJob(message);
    if (!job || isEnded(job) || job.published || isHeld(job, clock()) || job.offset > message.offset) return;
    const error = "the file could not be read after repeated tries";
    await store.requestStop(job, "failed", { error, unlessPublished: true });
    await finish(job);
  };

  const failPart = async (message: PartMessage, handOverAt: number): Promise<void> => {
    const snapshot = await store.read(message);
    if (!snapshot || isEnded(snapshot.job)) return;
    const { job, parts } = snapshot;
    const part = parts.find(({ number }) => number === message.part) ?? unclaimedPart(message.part);
    const hasMoved =
      part.segment > message.segment || (part.segment === message.segment && part.offset > message.offset);
    if (part.state !== "done" && (hasMoved || isHeld(part, clock()))) return;
    if (part.state !== "done") {
      await store.requestStop(job, "failed", { error: "the rows could not be applied after repeated tries" });
    }
    await finish(job, { until: handOverAt, abridge: true });
  };

  return async (body: string, handOverAt: number): Promise<void> => {
    let message: ReturnType<typeof parseUploadMessage>;
    try {
      message = parseUploadMessage(body);
    } catch {
      log.error("a dead letter names no job");
      return;
    }
    if ("part" in message) await failPart(message.part, handOverAt);
    else for (const split of message.splits) await failSplit(split);
  };
}
