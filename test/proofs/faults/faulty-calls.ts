import { isDamagedResponse } from "../../support/damaged-responses.ts";
import { isWrite, type RequestFault, type FaultyRun } from "../../support/uploads/fault-injection.ts";
import { createAttemptFaults } from "../../support/uploads/random-faults.ts";
import type { ProofService } from "../proof-service.ts";

/** How often each fault befalls a request. */
const RATES: readonly (readonly [RequestFault, number])[] = [
  ["kill before", 0.008],
  ["kill after", 0.008],
  ["stall before", 0.008],
  ["stall after", 0.008],
  ["throttle", 0.03],
  ["lose response", 0.04],
  ["conflict", 0.04],
  ["refuse", 0.01],
  ["leave unprocessed", 0.3],
];
/** The same for the SDK's attempts. */
const ATTEMPT_RATES = { throttled: 0.06, "lost response": 0.06, damaged: 0.1, outage: 0.01 } as const;
const STOPS: ReadonlySet<RequestFault> = new Set(["kill before", "kill after", "stall before", "stall after"]);
const CHECKPOINT_STOP_RATE = 0.08;
const STATEMENT_FAULT_RATE = 0.35;
/** Time of a slow request. */
const SLOW_MS = { least: 2000, most: 15_000 } as const;
/** Longer than any deadline of a function: a call that continues after it must not write any more. */
const FROZEN_MS = 60_000;

/** Requests for items, and not for jobs, messages or objects. */
const ITEM_COMMANDS = new Set([
  "BatchExecuteStatementCommand",
  "BatchGetCommand",
  "BatchGetItemCommand",
  "PutCommand",
  "UpdateCommand",
]);

const isPossible = (fault: RequestFault, command: string): boolean => {
  if (fault === "leave unprocessed") return command === "BatchGetItemCommand";
  return fault !== "conflict" || (isWrite(command) && !/Object|Message/.test(command));
};

/** The response of a call that was killed, or frozen: its caller hears nothing. */
export const NO_RESPONSE = "no response";

/** Makes calls with faults. A frozen call can continue later. */
export interface FaultyCalls {
  /** @param mayFail whether requests may have faults */
  readonly call: <T>(
    work: () => Promise<T>,
    options: {
      /** Whether requests may have faults. */
      readonly mayFail: boolean;
      /** Whether the call may be killed or frozen. @default true */
      readonly mayStop?: boolean;
      /** Whether it is stopped at its first checkpoint. @default false */
      readonly isFatal?: boolean;
      /** Whether reads and writes of items take so long that a lease ends after a few, and have no other faults. @default false */
      readonly isSlow?: boolean;
      /** Called with the bodies of messages that were sent to a queue. */
      readonly onMessages?: FaultyRun["onMessages"];
    },
  ) => Promise<T | typeof NO_RESPONSE>;
  /**
   * Lets all frozen calls continue, long after their callers have given up.
   * @returns whether there were any
   */
  readonly thaw: () => Promise<boolean>;
  /** Number of HeadObject requests so far. */
  readonly heads: () => number;
  /** Number of faults so far, and of those that are damaged responses. */
  readonly count: () => { readonly faults: number; readonly damaged: number };
}

/** @param random decides by a seed which requests have faults */
export const createFaultyCalls = (service: ProofService, random: () => number): FaultyCalls => {
  const { clock, during, runtime } = service;
  const { LIMITS_TABLE } = runtime.environment;
  let faults = 0;
  let damaged = 0;
  let heads = 0;
  /** Calls that can continue. Requests of one call that were sent at the same time may each have been stopped. */
  const frozen: { readonly resume: () => void; readonly isOver: Promise<unknown> }[] = [];

  const chooseFault = (command: string, checkpointStopRate: number): RequestFault => {
    // Checkpoints are interrupted more often than other requests: what they would have saved is done again.
    if (command === "UpdateItemCommand" && random() < checkpointStopRate)
      return random() < 0.5 ? "kill before" : "stall before";
    let number = random();
    for (const [fault, rate] of RATES) {
      if (isPossible(fault, command) && number < rate) return fault;
      number -= isPossible(fault, command) ? rate : 0;
    }
    return "none";
  };

  return {
    call: async (work, { mayFail, mayStop = true, isFatal = false, isSlow = false, onMessages = () => undefined }) => {
      let isOver = !mayFail;
      let isThawed = false;
      const stopped = Promise.withResolvers<typeof NO_RESPONSE>();
      const killed = Promise.withResolvers<void>();
      const chooseAttemptFault = createAttemptFaults(random, ATTEMPT_RATES);
      let updates = 0;
      /** A fatal call claims its work with its first update, and is stopped at the next one. */
      const stopRateOf = (command: string): number => {
        if (!isFatal) return CHECKPOINT_STOP_RATE;
        if (command === "UpdateItemCommand") updates += 1;
        return updates > 1 ? 1 : 0;
      };
      const run: FaultyRun = {
        clock,
        pass: () => clock.advance(Math.floor(SLOW_MS.least + random() * (SLOW_MS.most - SLOW_MS.least))),
        attemptFault: (command, input) => {
          const fault = isOver || isSlow || input["TableName"] === LIMITS_TABLE ? "none" : chooseAttemptFault(command);
          if (fault !== "none") faults += 1;
          if (isDamagedResponse(fault)) damaged += 1;
          return fault;
        },
        faultOf: (command, input) => {
          if (command === "HeadObjectCommand") heads += 1;
          if (isSlow && ITEM_COMMANDS.has(command)) {
            faults += 1;
            return "slow";
          }
          // If the limiter's record is throttled, it refuses all calls for some seconds, as it should.
          const isSpared = isOver || isSlow || input["TableName"] === LIMITS_TABLE;
          const chosen = isSpared ? "none" : chooseFault(command, stopRateOf(command));
          const fault = mayStop || !STOPS.has(chosen) ? chosen : "none";
          if (fault !== "none") faults += 1;
          return fault;
        },
        statementFault: () => {
          if (isOver || isSlow || random() >= STATEMENT_FAULT_RATE) return "none";
          faults += 1;
          return random() < 0.5 ? "throttle" : "lose response";
        },
        stop: (kind) => {
          isOver = true;
          const { promise, resolve } = Promise.withResolvers<void>();
          const resume = (): void => {
            isThawed = true;
            resolve();
          };
          if (kind === "kill") killed.resolve();
          // A request that was sent before its call was stopped may come to its own stop only after the call continues.
          else if (isThawed) resolve();
          else frozen.push({ resume, isOver: Promise.race([settled, killed.promise]) });
          stopped.resolve(NO_RESPONSE);
          return promise;
        },
        onMessages,
      };
      // The work begins when `running` is known: it may be stopped at its first request.
      const running = Promise.resolve().then(() => during(run, work));
      const settled = running.catch(() => undefined);
      const result = await Promise.race([running, stopped.promise]);
      // An instance that was killed or frozen serves no other call.
      if (result === NO_RESPONSE) await service.restart();
      return result;
    },
    thaw: async () => {
      if (frozen.length === 0) return false;
      clock.advance(FROZEN_MS);
      const resumed = frozen.splice(0);
      for (const { resume } of resumed) resume();
      await Promise.all(resumed.map(({ isOver }) => isOver));
      return true;
    },
    heads: () => heads,
    count: () => ({ faults, damaged }),
  };
};
