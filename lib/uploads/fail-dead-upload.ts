import type { Runtime } from "../aws/runtime.ts";
import type { SettleUpload } from "./settle-upload.ts";
import { type PartMessage, parsePartMessage, parseSplitMessage, type SplitMessage } from "./upload-messages.ts";
import { isEnded, isHeld, UNTOUCHED } from "./upload-record.ts";
import type { UploadStore } from "./upload-store.ts";

export interface FailDeadDependencies extends Pick<Runtime, "clock" | "log"> {
  readonly store: UploadStore;
  readonly settle: SettleUpload;
}

/**
 * Ends the job of a message that exhausted its receives. A message that was only a duplicate does no harm: where somebody
 * works on what it asked for, or it has moved since the message was sent, the sweep looks after the job.
 */
export const createFailDeadUpload = ({ clock, log, store, settle }: FailDeadDependencies) => {
  const failSplit = async (message: SplitMessage): Promise<void> => {
    const job = await store.readJob(message);
    if (!job || isEnded(job) || job.published || isHeld(job, clock()) || job.offset > message.offset) return;
    const error = "the file could not be read after repeated tries";
    await store.requestStop(job, "failed", { error, unlessPublished: true });
    await settle(job);
  };

  const failPart = async (message: PartMessage, handOverAt: number): Promise<void> => {
    const snapshot = await store.read(message);
    if (!snapshot || isEnded(snapshot.job)) return;
    const { job, parts } = snapshot;
    const part = parts.find(({ number }) => number === message.part) ?? UNTOUCHED;
    const hasMoved =
      part.segment > message.segment || (part.segment === message.segment && part.offset > message.offset);
    if (part.state !== "done" && (hasMoved || isHeld(part, clock()))) return;
    if (part.state !== "done") {
      await store.requestStop(job, "failed", { error: "the rows could not be applied after repeated tries" });
    }
    await settle(job, { until: handOverAt, abridge: true });
  };

  return async (body: string, handOverAt: number): Promise<void> => {
    let part: PartMessage | undefined;
    let splits: SplitMessage[];
    try {
      [part, splits] = body.includes('"part"') ? [parsePartMessage(body), []] : [undefined, parseSplitMessage(body)];
    } catch {
      log.error("a dead letter names no job");
      return;
    }
    if (part) await failPart(part, handOverAt);
    for (const message of splits) await failSplit(message);
  };
};
