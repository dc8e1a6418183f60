import { randomUUID } from "node:crypto";
import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { isUnavailable } from "../aws/error-codes.ts";
import type { QueueWorker } from "../aws/queue-worker.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { sendMessages } from "../aws/send-messages.ts";
import { readFirstNumber } from "../organizations/access-store.ts";
import { createAppend, type RingWebhooks } from "./append.ts";
import { type ChangeMessage, messageIn } from "./change-messages.ts";
import { createDueHoles } from "./due-holes.ts";
import { createHeldNotes, readHeldSince } from "./held-changes.ts";

/** Reserved at the end of the function's time to give back what failed. */
const MARGIN_MS = 10_000;
/** An organization whose log couldn't be appended to so often, for another reason than a busy store, makes way. */
const RECEIVES_MAX = 5;
const RETRY_SECONDS = { least: 1, most: 30 } as const;
const HELD_RETRY_SECONDS = 3 * 60;
/** SQS keeps messages for 14 days. */
const GIVEN_UP_AFTER_MS = 13 * 24 * 60 * 60 * 1000;

interface Received {
  readonly record: SQSRecord;
  readonly message: ChangeMessage;
}

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
 * again soon, however often. If the log of one organization can't be appended to, because a record is damaged, they go
 * on to a second queue, so that they are not among the messages that SQS searches for other organizations. There they
 * are tried every few minutes. To append late is equally exact: entries name items. Only messages that can't be read, or
 * that SQS is about to drop, are given up, for a hole in the log of their organization.
 * @param ring called after each append, before its messages leave the queue
 */
export function createAppendChanges(
  runtime: RuntimeWith<"access" | "changes" | "changesQueue" | "heldChangesQueue">,
  ring: RingWebhooks,
): QueueWorker {
  const { clock, log, sqs, environment } = runtime;
  const { CHANGES_QUEUE_URL: queueUrl, HELD_CHANGES_QUEUE_URL: heldQueueUrl } = environment;
  const append = createAppend(runtime);
  const dueHoles = createDueHoles(runtime);
  const noteHeld = createHeldNotes(runtime);

  const isHeld = ({ eventSourceARN }: SQSRecord): boolean =>
    eventSourceARN.split(":").at(-1) === heldQueueUrl.split("/").at(-1);

  /** Lets the sweep put a hole for what is given up. It is noted before the messages leave their queue. */
  async function giveUp(organization: string, records: readonly SQSRecord[], reason: string): Promise<void> {
    // Of an organization that can't be read, changes may be missing too. Of one that is erased, nothing may be written.
    if (records.length === 0 || (await readFirstNumber(runtime, organization).catch(() => 0)) === undefined) return;
    log.error("changes are given up for a hole", { organization, messages: records.length, reason });
    await dueHoles.noteOne(organization);
  }

  /** @returns the records that are not in the second queue */
  async function sendOn(organization: string, records: readonly SQSRecord[]): Promise<readonly SQSRecord[]> {
    const entries = records.map(({ body }, index) => ({
      Id: String(index),
      MessageBody: body,
      MessageGroupId: organization,
    }));
    const failed = await sendMessages(sqs, heldQueueUrl, entries);
    return records.filter((_, index) => failed.has(String(index)));
  }

  /** What becomes of messages whose changes could not be appended. @returns those that must come again */
  async function keep(
    organization: string,
    received: readonly Received[],
    error: unknown,
  ): Promise<readonly SQSRecord[]> {
    const isOld = ({ message }: Received): boolean => clock() - message.writtenAt > GIVEN_UP_AFTER_MS;
    const old = received.filter(isOld);
    await giveUp(
      organization,
      old.map(({ record }) => record),
      String(error),
    );
    const left = received.filter((each) => !isOld(each));
    const records = left.map(({ record }) => record);
    const [first] = records;
    if (first === undefined || isUnavailable(error)) return records;
    const isKnown = async () => (await readHeldSince(runtime, organization)) !== undefined;
    if (!isHeld(first) && receivesOf(records) < RECEIVES_MAX && !(await isKnown())) return records;
    await noteHeld(organization, Math.min(...left.map(({ message }) => message.writtenAt)), error);
    return isHeld(first) ? records : sendOn(organization, records);
  }

  /** Appends the changes of one organization, and rings its webhooks. @returns the messages that must come again */
  async function handle(
    organization: string,
    records: readonly SQSRecord[],
    until: number,
  ): Promise<readonly SQSRecord[]> {
    const received = records.flatMap((record) => {
      const message = messageIn(record.body);
      return message === undefined ? [] : { record, message };
    });
    const readable = new Set(received.map(({ record }) => record));
    const unreadable = records.filter((record) => !readable.has(record));
    await giveUp(organization, unreadable, "the message can't be read");
    try {
      const ids = new Set(received.flatMap(({ message }) => message.ids));
      const jobs = new Set(received.flatMap(({ message }) => message.jobs));
      const mark = await append(organization, [...ids], until);
      // Before the messages leave their queue: if it fails, they come again.
      await ring(organization, mark, [...jobs]);
      return [];
    } catch (error) {
      log.warn("changes are not in the log yet", { organization, error: error as Error });
      return keep(organization, received, error);
    }
  }

  /** Lets messages come again soon, later each time, and not only after the queue's visibility timeout. */
  async function delay(records: readonly SQSRecord[]): Promise<void> {
    const [first] = records;
    if (first === undefined) return;
    const soon = Math.min(RETRY_SECONDS.most, RETRY_SECONDS.least * 2 ** (receivesOf(records) - 1));
    const VisibilityTimeout = isHeld(first) ? HELD_RETRY_SECONDS : soon;
    const Entries = records.map(({ receiptHandle: ReceiptHandle }) => ({
      Id: randomUUID(),
      ReceiptHandle,
      VisibilityTimeout,
    }));
    await sqs.send(
      new ChangeMessageVisibilityBatchCommand({ QueueUrl: isHeld(first) ? heldQueueUrl : queueUrl, Entries }),
    );
  }

  return async ({ Records }, context) => {
    const until = clock() + context.getRemainingTimeInMillis() - MARGIN_MS;
    const groups = [...Map.groupBy(Records, groupOf)];
    const failed = await Promise.all(
      groups.map(async ([organization, records]) => {
        const again = await handle(organization, records, until).catch((error: unknown) => {
          log.error("changes could not be kept apart", { organization, error: error as Error });
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
