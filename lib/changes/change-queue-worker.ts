import { randomUUID } from "node:crypto";
import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { isUnavailable } from "../aws/error-codes.ts";
import type { QueueWorker } from "../aws/queue-worker.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { readFirstNumber } from "../organizations/access-store.ts";
import { createAppend, type NotifyWebhooks } from "./append-to-log.ts";
import { messageIn } from "./change-messages.ts";
import { createDueGaps } from "./due-gaps.ts";
import { createFailures } from "./failing-changes.ts";

/** Reserved at the end of the function's time to return failed messages. */
const MARGIN_MS = 10_000;
const RETRY_SECONDS = { least: 1, most: 30 } as const;

/** The organization, which is the group of every message, even of an unreadable one. */
function groupOf({ attributes, body }: SQSRecord): string {
  return attributes.MessageGroupId ?? messageIn(body)?.organization ?? "";
}

function receivesOf(records: readonly SQSRecord[]): number {
  return Math.max(...records.map(({ attributes }) => Number(attributes.ApproximateReceiveCount)));
}

/**
 * Makes the handler that appends changes to the logs of their organizations. An organization's messages arrive one batch
 * at a time: a failed batch holds up those behind it, but no other organization's. While a store is busy or unavailable,
 * the batch is retried for as long as it takes. If it fails for another reason, it waits for as long as `createFailures`
 * says and is then given up for a gap, as are unreadable messages. Appending late loses nothing: entries name items.
 * @param notifyWebhooks called after each append, before its messages leave the queue
 */
export function createAppendChanges(
  runtime: RuntimeWith<"access" | "changes" | "changesQueue">,
  notifyWebhooks: NotifyWebhooks,
): QueueWorker {
  const { clock, log, sqs, environment } = runtime;
  const append = createAppend(runtime);
  const dueGaps = createDueGaps(runtime);
  const failures = createFailures(runtime);

  async function giveUpUnreadable(organization: string): Promise<void> {
    // For an organization that can't be read, changes may be missing too. For an erased one, nothing may be written.
    if ((await readFirstNumber(runtime, organization).catch(() => 0)) === undefined) return;
    await failures.giveUp(organization, new Error("a message can't be read"));
  }

  /** Appends the changes of one organization, and notifies its webhooks. @returns the messages to deliver again */
  async function handle(
    organization: string,
    records: readonly SQSRecord[],
    until: number,
  ): Promise<readonly SQSRecord[]> {
    const received = records.flatMap((record) => {
      const message = messageIn(record.body);
      return message === undefined ? [] : { record, message };
    });
    if (received.length < records.length) await giveUpUnreadable(organization);
    if (received.length === 0) return [];
    try {
      const ids = new Set(received.flatMap(({ message }) => message.ids));
      const jobs = new Set(received.flatMap(({ message }) => message.jobs));
      const position = await append(organization, [...ids], until);
      // Before the messages leave their queue: if it fails, they are delivered again.
      await notifyWebhooks(organization, position, [...jobs]);
      // Messages that failed before have been received more than once.
      if (receivesOf(records) > 1) await dueGaps.clearFailing(organization);
      return [];
    } catch (error) {
      const written = isoTime(Math.min(...received.map(({ message }) => message.writtenAt)));
      log.warn("changes are not in the log yet", { organization, written_since: written, error: error as Error });
      const isGivenUp = !isUnavailable(error) && (await failures.note(organization, error));
      return isGivenUp ? [] : received.map(({ record }) => record);
    }
  }

  /** Makes messages visible again before the queue's visibility timeout. The delay doubles each time. */
  async function delay(records: readonly SQSRecord[]): Promise<void> {
    if (records.length === 0) return;
    const VisibilityTimeout = Math.min(RETRY_SECONDS.most, RETRY_SECONDS.least * 2 ** (receivesOf(records) - 1));
    const Entries = records.map(({ receiptHandle: ReceiptHandle }) => ({
      Id: randomUUID(),
      ReceiptHandle,
      VisibilityTimeout,
    }));
    await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: environment.CHANGES_QUEUE_URL, Entries }));
  }

  return async ({ Records }, context) => {
    const until = clock() + context.getRemainingTimeInMillis() - MARGIN_MS;
    const groups = [...Map.groupBy(Records, groupOf)];
    const failed = await Promise.all(
      groups.map(async ([organization, records]) => {
        const retried = await handle(organization, records, until).catch((error: unknown) => {
          log.error("changes are not in the log yet", { organization, error: error as Error });
          return records;
        });
        await delay(retried).catch((error: unknown) => {
          log.warn("changes are retried late", { organization, error: error as Error });
        });
        return retried;
      }),
    );
    return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}
