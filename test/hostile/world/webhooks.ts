import { create as createSweepWebhooks } from "../../../functions/sweep-webhooks.ts";
import { queueWorker } from "../../../lib/aws/queue-worker.ts";
import { createSendAgain } from "../../../lib/aws/send-messages.ts";
import { createDeliver } from "../../../lib/webhooks/deliver.ts";
import type { Outcome, WebhookMessage } from "../../../lib/webhooks/endpoint-state.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import type { Queues } from "./queues.ts";
import { NO_RESPONSE, type World } from "./world.ts";

const DELIVERER_MS = 120_000;
const VISIBILITY_MS = 12 * 60_000;
const MINUTE_MS = 60_000;
/** The rate of messages is kept by clocks that are right. */
const CLOCK_MAX_MS = 0;
/** A receiver fails so often, before and after it has taken a message. */
const FAILS_SHARE = 0.15;
const STATUSES = [500, 503, 302, undefined] as const;

/** What takes the messages to one URL. */
export type TakeMessage = (message: WebhookMessage) => void;

/** The deliverer of webhooks and its sweep. Receivers are those of this process, found by their URLs. */
export class Webhooks {
  readonly #world: World;
  readonly #receivers = new Map<string, TakeMessage>();
  isOver = false;

  constructor(world: World, queues: Queues) {
    this.#world = world;
    const url = world.base.environment.WEBHOOKS_QUEUE_URL;
    const sendAgain = createSendAgain(world.runtime.sqs, url);
    queues.add({
      url,
      visibilityMs: VISIBILITY_MS,
      batch: 10,
      invoke: async (records) => {
        const result = await world.call(DELIVERER_MS, { clockMaxMs: CLOCK_MAX_MS }, (clock) => {
          const deliver = createDeliver(world.runtime, (to, message) => this.#answer(to, message));
          return queueWorker(
            world.runtime,
            deliver,
            sendAgain,
          )({ Records: records }, lambdaContext(DELIVERER_MS, clock));
        });
        if (result === NO_RESPONSE) return undefined;
        return new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      },
    });
    this.#sweepEachMinute();
  }

  /** Lets a receiver take the messages to a URL. */
  listen(url: string, take: TakeMessage): void {
    this.#receivers.set(url, take);
  }

  /** What the receiver answers: it may fail before it has the message, and after. */
  #answer(url: string, message: WebhookMessage): Promise<Outcome> {
    const { hostilities, random } = this.#world;
    const fails = (): boolean => hostilities.happens("receivers", FAILS_SHARE, random);
    const failed = { status: this.#world.pick(STATUSES), reason: "the connection was closed", milliseconds: 1 };
    const { status: _, ...withoutStatus } = failed;
    const failure = failed.status === undefined ? withoutStatus : { status: failed.status, milliseconds: 1 };
    if (fails()) return Promise.resolve(failure);
    this.#receivers.get(url)?.(message);
    return Promise.resolve(fails() ? failure : { status: 204, milliseconds: 1 });
  }

  #sweepEachMinute(): void {
    this.#world.at(this.#world.clock() + MINUTE_MS, () => {
      if (this.isOver) return;
      this.#sweepEachMinute();
      void this.sweep();
    });
  }
  async sweep(): Promise<void> {
    const { runtime } = this.#world;
    await this.#world
      .call(DELIVERER_MS, { clockMaxMs: CLOCK_MAX_MS }, () => createSweepWebhooks(runtime)({}))
      .catch(() => undefined);
  }
}
