import { Duration, Validations } from "aws-cdk-lib";
import type { Key } from "aws-cdk-lib/aws-kms";
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueResource } from "../../lib/resources.ts";

/** A worker hands over after 90 s; the remaining 30 s are for the window that it is applying. */
export const WORKER_TIMEOUT = Duration.minutes(2);
/** Of a function that keeps all messages: after a crash its messages, and those of their groups, wait six times as long. */
export const KEEPER_TIMEOUT = Duration.seconds(30);
/** Six times the function's timeout, as Lambda recommends, so that a message stays hidden while Lambda is throttled. */
const VISIBILITY_TIMEOUT = Duration.minutes(6 * WORKER_TIMEOUT.toMinutes());
const KEEPER_VISIBILITY_TIMEOUT = Duration.seconds(6 * KEEPER_TIMEOUT.toSeconds());
/** Lambda recommends at least five. A receive also counts if another worker holds the lease. */
const MAX_RECEIVE_COUNT = 5;
/** The longest that SQS keeps a message. */
const KEPT = Duration.days(14);
/** A limit for each group, and not one of 300 requests a second for the queue. */
const HIGH_THROUGHPUT = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
} as const;
const NO_DEAD_LETTERS = {
  id: "AwsSolutions-SQS3",
  reason:
    "A message that is given up is a change lost. What can't be appended waits in a queue of its own, and an alarm fires.",
};

function protectedBy(key: Key | undefined): QueueProps {
  const encryption = key === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS;
  return { encryption, enforceSSL: true, ...(key && { encryptionMasterKey: key }) };
}

/** A queue. Unless it keeps all messages, it has dead letters: every message that exhausts its receives. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue | undefined;

  constructor(scope: Construct, { id, isFifo, keepsAll }: QueueResource, key: Key | undefined) {
    super(scope, id);
    const protection = protectedBy(key);
    if (keepsAll === true) {
      this.queue = new Queue(this, "Queue", {
        ...protection,
        ...(isFifo === true && HIGH_THROUGHPUT),
        retentionPeriod: KEPT,
        visibilityTimeout: KEEPER_VISIBILITY_TIMEOUT,
      });
      Validations.of(this.queue).acknowledge(NO_DEAD_LETTERS);
      return;
    }
    this.deadLetters = new Queue(this, "DeadLetters", {
      ...protection,
      retentionPeriod: KEPT,
      visibilityTimeout: VISIBILITY_TIMEOUT,
    });
    this.queue = new Queue(this, "Queue", {
      ...protection,
      visibilityTimeout: VISIBILITY_TIMEOUT,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVE_COUNT },
    });
  }
}
