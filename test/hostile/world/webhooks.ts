import { create as createSweepWebhooks } from "../../../functions/sweep-webhooks.ts";
import { queueWorker } from "../../../lib/aws/queue-worker.ts";
import { createSendAgain } from "../../../lib/aws/send-messages.ts";
import { createDeliver } from "../../../lib/webhooks/deliver.ts";
import type { Outcome, WebhookMessage } from "../../../lib/webhooks/endpoint-state.ts";
import { createSendTest } from "../../../lib/webhooks/send-test.ts";
import type { WebhookKey } from "../../../lib/webhooks/webhook-store.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { Queues } from "./queues.ts";
import { NO_RESPONSE, type World } from "./world.ts";

const DELIVERER_MS = 120_000;
const TESTER_MS = 29_000;
const VISIBILITY_MS = 12 * 60_000;
const MINUTE_MS = 60_000;
/** The rate of messages is kept by clocks that are right. */
const CLOCK_MAX_MS = 0;
/** A receiver fails so often, before and after it has taken a message. */
const FAILS_SHARE = 0.15;
const STATUSES = [101, 500, 503, 302, undefined] as const;
/** A receiver is slow so often, for at most as long as a call may take. */
const SLOW_SHARE = 0.2;
const SLOW_MAX_MS = 15_000;

/** What takes the messages to one URL. */
export type TakeMessage = (message: WebhookMessage) => void;

/** The deliverer of webhooks and its sweep. Receivers are those of this process, found by their URLs. */
export class Webhooks {
  readonly #world: World;
  readonly #oracle: Oracle;
  readonly #receivers = new Map<string, TakeMessage>();
  /** The receivers that are being called. */
  readonly #called = new Set<string>();
  isOver = false;

  constructor(world: World, queues: Queues, oracle: Oracle) {
    this.#world = world;
    this.#oracle = oracle;
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

  /** Tests a webhook. @returns what its receiver answered; undefined if the test was refused, failed, or was stopped */
  async test(webhook: WebhookKey, { isCalm = false } = {}): Promise<Outcome | undefined> {
    const options = { clockMaxMs: CLOCK_MAX_MS, isCalm };
    const result = await this.#world
      .call(TESTER_MS, options, () =>
        createSendTest(this.#world.runtime, (to, message) => this.#answer(to, message))(webhook, "test"),
      )
      .catch(() => undefined);
    return result === NO_RESPONSE ? undefined : result;
  }

  /** What the receiver answers: it may fail before it has the message, and after, or be slow. */
  async #answer(url: string, message: WebhookMessage): Promise<Outcome> {
    const { hostilities, random } = this.#world;
    const happens = (share: number): boolean => hostilities.happens("receivers", share, random);
    const failed = { status: this.#world.pick(STATUSES), reason: "the connection was closed", milliseconds: 1 };
    const { status: _, ...withoutStatus } = failed;
    const failure = failed.status === undefined ? withoutStatus : { status: failed.status, milliseconds: 1 };
    if (this.#called.has(url)) this.#oracle.report("wrong", "two messages are sent to an endpoint at the same time");
    this.#called.add(url);
    const isMissed = happens(FAILS_SHARE);
    if (!isMissed) this.#receivers.get(url)?.(message);
    if (happens(SLOW_SHARE)) await this.#world.sleep(this.#world.below(SLOW_MAX_MS));
    this.#called.delete(url);
    return isMissed || happens(FAILS_SHARE) ? failure : { status: 204, milliseconds: 1 };
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
