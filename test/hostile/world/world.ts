import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import callbackTimers from "node:timers";
import timers from "node:timers/promises";
import { Readable } from "node:stream";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { randomFrom } from "../../support/random.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";
import { TimedTasks } from "../../support/timed-tasks.ts";
import { createFaultyRuntime, type FaultyRun } from "../../support/uploads/fault-injection.ts";
import { CLOCK_OFF_MAX_MS, Hostilities, type Hostility, type RunOptions } from "./hostilities.ts";

/** What comes of a function that was killed or frozen: its caller hears nothing. */
export const NO_RESPONSE = Symbol("no response");

/** Turns of the event loop after the last response, in which functions compute and send their next requests. */
const TURNS = 8;
/** Waits of a millisecond for something that neither ends nor waits by the clock. */
const WAITS_MAX = 30_000;

/** What is told of a run while it goes on. */
export interface RunHooks {
  /** It is frozen, or killed. */
  readonly onStop?: (kind: "kill" | "freeze") => void;
  /** It continues. @param isLate its time is over */
  readonly onThaw?: (isLate: boolean) => void;
  /** It has ended, or nothing more can come of it. */
  readonly onEnd?: () => void;
  /** Something went wrong with it. */
  readonly onFault?: (fault: string) => void;
  readonly onMessages?: FaultyRun["onMessages"];
}

/** A run of a function. */
class Run {
  isDead = false;
  frozenUntil = 0;
  readonly world: World;
  readonly random: () => number;

  constructor(world: World, random: () => number) {
    this.world = world;
    this.random = random;
  }
}

const runs = new AsyncLocalStorage<Run>();

/**
 * Lets everything that the service waits for pass by the clock of its world, and chance come from its seed.
 * @returns what ends it
 */
export function takeOverTime(): () => void {
  const before = {
    wait: timers.setTimeout,
    call: callbackTimers.setTimeout,
    random: Math.random,
    timeout: AbortSignal.timeout.bind(AbortSignal),
  };
  timers.setTimeout = (<T>(milliseconds: number, value: T, options: object) => {
    const run = runs.getStore();
    return run === undefined
      ? before.wait(milliseconds, value, options)
      : run.world.park(milliseconds, run).then(() => value);
  }) as typeof timers.setTimeout;
  // Middy's, by which a call is answered before its time is over. It does nothing once the call is answered, and one that
  // was frozen goes on.
  callbackTimers.setTimeout = ((callback: () => void, milliseconds: number) => {
    const run = runs.getStore();
    if (run === undefined) return before.call(callback, milliseconds);
    void run.world.park(milliseconds, run).then(() => run.frozenUntil === 0 && callback());
    return undefined;
  }) as typeof callbackTimers.setTimeout;
  Math.random = () => (runs.getStore()?.random ?? before.random)();
  AbortSignal.timeout = (milliseconds) =>
    runs.getStore() === undefined ? before.timeout(milliseconds) : new AbortController().signal;
  syncBuiltinESMExports();
  return () => {
    timers.setTimeout = before.wait;
    callbackTimers.setTimeout = before.call;
    Math.random = before.random;
    AbortSignal.timeout = before.timeout;
    syncBuiltinESMExports();
  };
}

/**
 * The service in this process with a clock of its own: nothing takes time but what waits by the clock. What happens at
 * the same time happens in the order of the seed's choice, request by request.
 */
export class World {
  readonly seed: number;
  readonly clock: TestClock;
  /** Without faults. */
  readonly base: TestRuntime;
  /** Of functions: its requests can go wrong. */
  readonly runtime: TestRuntime;
  readonly hostilities: Hostilities;
  readonly random: () => number;
  readonly #during: ReturnType<typeof createFaultyRuntime>["during"];
  readonly #timeline = new TimedTasks();
  #active = 0;
  #onIdle: (() => void) | undefined;
  #runs = 0;
  /** Called after each request of a function. */
  onRequest: (command: string) => void = () => undefined;
  /** Whether the world ends although its callers aren't done. */
  hasFound = (): boolean => false;
  /** Whether frozen functions may continue after their time: not if an operator relies on their end. */
  mayOutlive = true;

  private constructor(seed: number, clock: TestClock, base: TestRuntime, only: readonly Hostility[]) {
    this.seed = seed;
    this.clock = clock;
    this.base = base;
    this.random = randomFrom(seed);
    this.hostilities = new Hostilities(randomFrom(seed ^ 0x5eed), only);
    const { runtime, during } = createFaultyRuntime(base);
    this.runtime = runtime;
    this.#during = during;
  }

  static async create(seed: number, only: readonly Hostility[] = []): Promise<World> {
    const clock = createTestClock();
    const base = await createTestRuntime({ clock });
    // The SDK's own retries follow at once: they have no clock that can be set.
    for (const client of [base.dynamodb, base.s3, base.sqs]) {
      await retryAtOnce(client);
      // On a busy machine the engines are slow: that is not among the hostilities.
      const handler = client.config.requestHandler as unknown as {
        updateHttpClientConfig(name: string, milliseconds: number): void;
      };
      for (const name of ["connectionTimeout", "requestTimeout"]) handler.updateHttpClientConfig(name, 0);
    }
    return new World(seed, clock, base, only);
  }

  /** A whole number from 0 to below. */
  below(count: number): number {
    return Math.floor(this.random() * count);
  }
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** Calls something at a time, in milliseconds since the epoch. */
  at(time: number, call: () => void): void {
    this.#timeline.add(Math.max(Math.ceil(time), this.clock()), call);
  }
  /** Waits by the clock. @param run waits while it is frozen, and for ever once it is dead */
  park(milliseconds: number, run?: Run): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        if (run?.isDead === true) return;
        if (run !== undefined && run.frozenUntil > this.clock()) this.at(run.frozenUntil, wake);
        else resolve();
      };
      this.at(this.clock() + milliseconds, wake);
    });
  }
  sleep(milliseconds: number): Promise<void> {
    return this.park(milliseconds);
  }
  /** Waits for something that isn't part of the service; the clock stands still meanwhile. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    this.#active += 1;
    try {
      return await work();
    } finally {
      this.#rest();
    }
  }

  #rest(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#onIdle?.();
  }

  /** Runs a function, in whose requests things go wrong. @returns what it returns, unless it was stopped */
  async call<T>(
    lifetimeMs: number,
    { onStop, onThaw, onEnd, onFault, onMessages, ...given }: Partial<RunOptions> & RunHooks,
    work: (clock: () => number) => Promise<T>,
  ): Promise<T | typeof NO_RESPONSE> {
    const random = randomFrom((this.seed * 7919 + this.#runs++) | 0);
    const options: RunOptions = { isCalm: false, mayStop: true, isSlow: false, clockMaxMs: CLOCK_OFF_MAX_MS, ...given };
    const hostilities = this.hostilities.ofRun({ ...options, random }, onFault ?? (() => undefined));
    const run = new Run(this, random);
    const stopped = Promise.withResolvers<typeof NO_RESPONSE>();
    const endsAt = this.clock() + lifetimeMs;
    let isOver = false;
    const kill = (): void => {
      if (isOver || run.isDead) return;
      run.isDead = true;
      stopped.resolve(NO_RESPONSE);
      onStop?.("kill");
      onEnd?.();
    };
    const expire = (): void => {
      if (run.frozenUntil <= this.clock()) kill();
    };
    this.at(endsAt, expire);
    const forever = new Promise<never>(() => undefined);
    const { LIMITS_TABLE } = this.runtime.environment;

    const stop = async (kind: "kill" | "stall"): Promise<void> => {
      this.#rest();
      const until = this.clock() + Math.floor(500 + random() * random() * 2.5 * lifetimeMs);
      if (kind === "kill" || (until > endsAt && !this.mayOutlive)) {
        kill();
        return forever;
      }
      run.frozenUntil = Math.max(run.frozenUntil, until);
      stopped.resolve(NO_RESPONSE);
      onStop?.("freeze");
      await this.park(until - this.clock(), run);
      onThaw?.(this.clock() > endsAt);
      this.#active += 1;
    };
    const faulty: FaultyRun = {
      clock: () => this.clock() + hostilities.clockOff,
      faultOf: (command, { TableName }) => (TableName === LIMITS_TABLE ? "none" : hostilities.faultOf(command)),
      statementFault: hostilities.statementFault,
      attemptFault: (command, { TableName }) =>
        TableName === LIMITS_TABLE ? "none" : hostilities.attemptFault(command),
      around: async (command, { TableName }, send) => {
        // If the limiter's record is throttled, it refuses all calls for some seconds, as it should.
        if (TableName !== LIMITS_TABLE) await this.park(hostilities.latency(command), run);
        if (run.isDead) return forever;
        this.#active += 1;
        const response = await send().catch((error: unknown) => {
          this.#rest();
          throw error;
        });
        await readBody(response);
        this.onRequest(command);
        this.#rest();
        return run.isDead ? forever : response;
      },
      stop,
      onMessages: onMessages ?? (() => undefined),
    };
    const working = runs.run(run, () => this.#during(faulty, () => work(faulty.clock)));
    const settled = working.finally(() => {
      isOver = true;
      if (!run.isDead) onEnd?.();
      // Lambda stops what a function has left running when it answers. What was frozen may go on in a later call.
      if (run.frozenUntil === 0) run.isDead = true;
    });
    // Of one that was frozen nobody waits for the error.
    settled.catch(() => undefined);
    return Promise.race([settled, stopped.promise]);
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < TURNS; quiet++) {
      await new Promise((resolve) => void setImmediate(resolve));
      while (this.#active > 0) {
        await new Promise<void>((resolve) => (this.#onIdle = resolve));
        quiet = 0;
      }
    }
  }

  /** Lets time pass until it is over. @throws Error if something neither ends nor waits by the clock */
  async run(isOver: () => boolean): Promise<void> {
    for (let waits = 0; ;) {
      await this.#settle();
      if (isOver()) return;
      const next = this.#timeline.take();
      if (next === undefined) {
        if (waits++ > WAITS_MAX) throw new Error("nothing happens any more");
        await new Promise((resolve) => void setTimeout(resolve, 1));
        continue;
      }
      this.clock.advance(Math.max(0, next.at - this.clock()));
      next.run();
    }
  }
}

/** Reads the body of an object that S3 sends, so that what reads it later takes no time. */
async function readBody(response: unknown): Promise<void> {
  const { output } = response as { readonly output?: { Body?: unknown } };
  if (!(output?.Body instanceof Readable)) return;
  const chunks: unknown[] = [];
  let failure: unknown;
  try {
    for await (const chunk of output.Body) chunks.push(chunk);
  } catch (error) {
    failure = error;
  }
  const again = async function* () {
    yield* chunks;
    if (failure !== undefined) throw failure;
  };
  output.Body = Readable.from(again());
}

/** Takes the waits out of a client's retries, which have no clock that can be set, and their limit, which is an instance's. */
async function retryAtOnce(client: TestRuntime["dynamodb"] | TestRuntime["s3"] | TestRuntime["sqs"]): Promise<void> {
  const { retryStrategy } = client.config as unknown as { readonly retryStrategy: () => Promise<object> };
  const strategy = (await retryStrategy()) as { retryBackoffStrategy: object };
  Object.assign(strategy.retryBackoffStrategy, { computeNextBackoffDelay: () => 0 });
  Object.defineProperty(strategy, "capacity", { get: () => Infinity, set: () => {} });
}
