import { Duration } from "aws-cdk-lib";
import type { Key } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

/** A worker hands over after 90 s; the remaining 30 s are for the window that it is applying. */
export const WORKER_TIMEOUT = Duration.minutes(2);
/** Six times the function's timeout, as Lambda recommends, so that a message stays hidden while Lambda is throttled. */
const VISIBILITY_TIMEOUT = Duration.minutes(6 * WORKER_TIMEOUT.toMinutes());
/** Lambda recommends at least five. A receive also counts if another worker holds the lease. */
const MAX_RECEIVE_COUNT = 5;
const DEAD_LETTERS_KEPT = Duration.days(14);

function protectedBy(key: Key | undefined): QueueProps {
  const encryption = key === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS;
  return { encryption, enforceSSL: true, ...(key && { encryptionMasterKey: key }) };
}

/** A queue with its own dead-letter queue, which gets every message that exhausts its receives. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, key: Key | undefined) {
    super(scope, id);
    const protection = protectedBy(key);
    this.deadLetters = new Queue(this, "DeadLetters", {
      ...protection,
      retentionPeriod: DEAD_LETTERS_KEPT,
      visibilityTimeout: VISIBILITY_TIMEOUT,
    });
    this.queue = new Queue(this, "Queue", {
      ...protection,
      visibilityTimeout: VISIBILITY_TIMEOUT,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVE_COUNT },
    });
  }
}
