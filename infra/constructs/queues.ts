import { Duration, Validations } from "aws-cdk-lib";
import type { Key } from "aws-cdk-lib/aws-kms";
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueResource } from "../../lib/resources.ts";
import { KEPT_SECONDS, MAX_RECEIVE_COUNT, visibilityTimeoutSeconds } from "../limits.ts";

/** Limits each group instead of the whole queue to 300 requests a second. */
const HIGH_THROUGHPUT = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
} as const;
const NO_DEAD_LETTERS = {
  id: "AwsSolutions-SQS3",
  reason:
    "Giving up a message would lose a change for a feed or a webhook. What can't be handled waits, and an alarm fires.",
};

function protectedBy(key: Key | undefined): QueueProps {
  const encryption = key === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS;
  return { encryption, enforceSSL: true, ...(key && { encryptionMasterKey: key }) };
}

/** A queue. Unless it keeps all messages, messages that were received too often become dead letters. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue | undefined;

  constructor(scope: Construct, resource: QueueResource, key: Key | undefined) {
    super(scope, resource.id);
    const props = {
      ...protectedBy(key),
      retentionPeriod: Duration.seconds(KEPT_SECONDS),
      visibilityTimeout: Duration.seconds(visibilityTimeoutSeconds(resource)),
    };
    if (resource.keepsAll === true) {
      this.queue = new Queue(this, "Queue", { ...props, ...(resource.isFifo === true && HIGH_THROUGHPUT) });
      Validations.of(this.queue).acknowledge(NO_DEAD_LETTERS);
      return;
    }
    this.deadLetters = new Queue(this, "DeadLetters", props);
    this.queue = new Queue(this, "Queue", {
      ...props,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVE_COUNT },
    });
  }
}
