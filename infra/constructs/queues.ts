import { Duration, Validations } from "aws-cdk-lib";
import type { Key } from "aws-cdk-lib/aws-kms";
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueResource } from "../../lib/resources.ts";
import { KEPT_SECONDS, MAX_RECEIVE_COUNT, visibilityTimeoutSeconds } from "../limits.ts";

/** A limit for each group, and not one of 300 requests a second for the queue. */
const HIGH_THROUGHPUT = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
} as const;
const NO_DEAD_LETTERS = {
  id: "AwsSolutions-SQS3",
  reason:
    "A message that is given up is a change lost to a feed or a webhook. What can't be handled waits, and an alarm fires.",
};

function protectedBy(key: Key | undefined): QueueProps {
  const encryption = key === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS;
  return { encryption, enforceSSL: true, ...(key && { encryptionMasterKey: key }) };
}

/** A queue. Unless it keeps all messages, it has dead letters: every message that exhausts its receives. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue | undefined;

  constructor(scope: Construct, resource: QueueResource, key: Key | undefined) {
    super(scope, resource.id);
    const protection = protectedBy(key);
    const retentionPeriod = Duration.seconds(KEPT_SECONDS);
    const visibilityTimeout = Duration.seconds(visibilityTimeoutSeconds(resource));
    if (resource.keepsAll === true) {
      this.queue = new Queue(this, "Queue", {
        ...protection,
        ...(resource.isFifo === true && HIGH_THROUGHPUT),
        retentionPeriod,
        visibilityTimeout,
      });
      Validations.of(this.queue).acknowledge(NO_DEAD_LETTERS);
      return;
    }
    this.deadLetters = new Queue(this, "DeadLetters", {
      ...protection,
      retentionPeriod,
      visibilityTimeout,
    });
    this.queue = new Queue(this, "Queue", {
      ...protection,
      visibilityTimeout,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVE_COUNT },
    });
  }
}
