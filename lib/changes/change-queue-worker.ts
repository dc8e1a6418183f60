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

/** Reserved at the end of the function's time to give back what failed. */
const MARGIN_MS = 10_000;
const RETRY_SECONDS = { least: 1, most: 30 } as const;

/** The group is what every message has, also one that can't be read. */
function groupOf({ attributes, body }: SQSRecord): string {
  return attributes.MessageGroupId ?? messageIn(body)?.organization ?? "";
}

function receivesOf(records: readonly SQSRecord[]): number {
  return Math.max(...records.map(({ attributes }) => Number(attributes.ApproximateReceiveCount)));
}

/**
 * Makes the handler that appends changes to the logs of their organizations. The messages of an organization come one
 * batch at a time: what fails waits with those behind it, and others' go on. If a store is busy or out, they come
 * again soon, however often. If one log can't be appended to for another reason, its messages wait for as long as
 * `createFailures` says, and are then given up for a gap, as are messages that can't be read. To append late is equally
 * exact: entries name items.
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
    // Of an organization that can't be read, changes may be missing too. Of one that is erased, nothing may be written.
    if ((await readFirstNumber(runtime, organization).catch(() => 0)) === undefined) return;
    await failures.giveUp(organization, new Error("a message can't be read"));
  }

  /** Appends the changes of one organization, and notifies its webhooks. @returns the messages that must come again */
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
      // Before the messages leave their queue: if it fails, they come again.
      await notifyWebhooks(organization, position, [...jobs]);
      // What has failed before is received again.
      if (receivesOf(records) > 1) await dueGaps.clearFailing(organization);
      return [];
    } catch (error) {
      const written = isoTime(Math.min(...received.map(({ message }) => message.writtenAt)));
      log.warn("changes are not in the log yet", { organization, written_since: written, error: error as Error });
      const isGivenUp = !isUnavailable(error) && (await failures.note(organization, error));
      return isGivenUp ? [] : received.map(({ record }) => record);
    }
  }

  /** Lets messages come again soon, later each time, and not only after the queue's visibility timeout. */
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
        const again = await handle(organization, records, until).catch((error: unknown) => {
          log.error("changes are not in the log yet", { organization, error: error as Error });
          return records;
        });
        await delay(again).catch((error: unknown) => {
          log.warn("changes come again late", { organization, error: error as Error });
        });
        return again;
      }),
    );
    return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}
