import { Duration } from "aws-cdk-lib";
import { Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { WORKER_TIMEOUT } from "./service-function.ts";

/** Six times the function's timeout, as Lambda asks: a throttled delivery must not come back while it is still tried. */
const VISIBILITY_TIMEOUT = Duration.minutes(6 * WORKER_TIMEOUT.toMinutes());
/** Five, as Lambda asks of a queue that feeds it; a delivery that only finds a live lease counts as one. */
const MAX_RECEIVE_COUNT = 5;
const DEAD_LETTERS_KEPT = Duration.days(14);

const protection = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true } as const satisfies QueueProps;

/** A queue whose messages go to a dead-letter queue of its own after their last receive. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
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
