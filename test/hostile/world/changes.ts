import { create as createAppendChanges } from "../../../functions/append-changes.ts";
import { create as createRecordChanges } from "../../../functions/record-changes.ts";
import { create as createSweepChanges } from "../../../functions/sweep-changes.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { openStream, streamEvent } from "../../support/stream.ts";
import { isWrite } from "../../support/uploads/fault-injection.ts";
import type { Queues } from "./queues.ts";
import { createFaultyStream, INVOCATION_MS } from "./stream.ts";
import { NO_RESPONSE, type World } from "./world.ts";

const APPENDER_MS = 30_000;
const SWEEP_MS = 120_000;
const VISIBILITY_MS = 180_000;
const MINUTE_MS = 60_000;
/** Lambda's window for the records of a batch. */
const WINDOW_MS = 1000;
/** The first load's margin leaves five minutes for clocks. */
const CLOCK_MAX_MS = 2 * MINUTE_MS;

/** The way of every change from the stream to the logs of its organization. */
export class Changes {
  readonly stream: ReturnType<typeof createFaultyStream>;
  readonly #world: World;
  readonly #queues: Queues;
  #isPulling = false;
  /** Milliseconds between two sweeps; infinite for none. */
  sweepEveryMs = 10 * MINUTE_MS;

  private constructor(world: World, queues: Queues, stream: Awaited<ReturnType<typeof openStream>>) {
    this.#world = world;
    this.#queues = queues;
    this.stream = createFaultyStream(stream, world);
    queues.add({
      url: world.base.environment.CHANGES_QUEUE_URL,
      isFifo: true,
      visibilityMs: VISIBILITY_MS,
      batch: 10,
      invoke: async (records) => {
        const result = await world.call(APPENDER_MS, { clockMaxMs: CLOCK_MAX_MS }, (clock) =>
          createAppendChanges(world.runtime)({ Records: records }, lambdaContext(APPENDER_MS, clock)),
        );
        if (result === NO_RESPONSE) return undefined;
        return new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      },
    });
    world.onRequest = (command) => {
      if (isWrite(command)) this.pullSoon();
    };
    this.#sweepSoon();
  }
  static async create(world: World, queues: Queues): Promise<Changes> {
    return new Changes(world, queues, await world.outside(() => openStream(world.base)));
  }

  /** Whether nothing is left on the way. */
  get isEmpty(): boolean {
    return !this.stream.hasChanges() && this.#queues.count() === 0;
  }

  /** Takes what was written since, in a moment. */
  pullSoon(): void {
    if (this.#isPulling) return;
    this.#isPulling = true;
    this.#world.at(this.#world.clock() + WINDOW_MS + this.#world.below(15_000), () => {
      this.#isPulling = false;
      void this.#world.outside(() => this.stream.pull()).then(() => this.#deliver());
    });
  }
  #deliver(): void {
    this.stream.deliver((batch, done, ended) => {
      // What is left comes next; it may also be sent again while this batch is handled.
      const onEnd = (): void => {
        ended();
        if (this.stream.isReadable()) this.pullSoon();
      };
      const options = { clockMaxMs: CLOCK_MAX_MS, onEnd };
      void this.#world
        .call(INVOCATION_MS, options, (clock) =>
          createRecordChanges(this.#world.runtime)(streamEvent(...batch), lambdaContext(INVOCATION_MS, clock)),
        )
        .then(
          (result) => {
            if (result !== NO_RESPONSE) done(result.batchItemFailures[0]?.itemIdentifier);
          },
          () => undefined,
        );
    });
    if (this.#world.hostilities.has("messages") && this.stream.isReadable()) this.pullSoon();
  }

  #sweepSoon(): void {
    this.#world.at(this.#world.clock() + 10 * MINUTE_MS, () => {
      if (this.sweepEveryMs === Infinity) return;
      this.#sweepSoon();
      void this.sweep();
    });
  }
  async sweep(): Promise<void> {
    const { runtime } = this.#world;
    await this.#world
      .call(SWEEP_MS, { clockMaxMs: CLOCK_MAX_MS }, (clock) =>
        createSweepChanges(runtime)({}, lambdaContext(SWEEP_MS, clock)),
      )
      .catch(() => undefined);
  }
}
