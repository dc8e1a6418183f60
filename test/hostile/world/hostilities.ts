import type { Fault } from "../../support/faults.ts";
import { isWrite, type RequestFault, type StatementFault } from "../../support/uploads/fault-injection.ts";

/** What can go wrong, and what each is. A seed chooses some. */
const HOSTILITIES = {
  refusals: "AWS refuses requests: throttled, denied, keys and statements left out",
  silence: "requests are carried out, but no response comes",
  conflicts: "another transaction writes to the same item",
  deaths: "a function is killed before or after a request",
  freezes: "a function is frozen before or after a request, and continues later",
  slowness: "requests take seconds",
  lag: "indexes show writes late",
  messages: "messages come twice, late, out of order, or never",
  clocks: "the clocks of instances are wrong by up to an hour",
  receivers: "receivers of webhooks fail before or after they have taken a message, and are slow",
  standstills: "everything stands still for hours or days, and shards of the stream for hours",
} as const;
export type Hostility = keyof typeof HOSTILITIES;
export const ALL_HOSTILITIES = Object.keys(HOSTILITIES) as Hostility[];

/** Share of the requests that each hostility befalls. */
const REQUESTS: readonly (readonly [Hostility, RequestFault, number])[] = [
  ["deaths", "kill before", 0.012],
  ["deaths", "kill after", 0.012],
  ["freezes", "stall before", 0.012],
  ["freezes", "stall after", 0.012],
  ["refusals", "throttle", 0.03],
  ["refusals", "refuse", 0.01],
  ["refusals", "leave unprocessed", 0.3],
  ["silence", "lose response", 0.04],
  ["conflicts", "conflict", 0.05],
];
/** Share of the attempts of requests that are refused, and of those whose response is lost. */
const ATTEMPTS = 0.05;
const SLOW = { share: 0.04, least: 2000, most: 15_000 } as const;
/** Functions without faults: one of many requests would never end if each of them could have one. */
const ITEM_COMMANDS = new Set([
  "BatchExecuteStatementCommand",
  "BatchGetCommand",
  "BatchGetItemCommand",
  "PutItemCommand",
  "UpdateItemCommand",
]);
const SPARED_SHARE = 0.2;
const CLOCK_SHARE = 0.2;
/** How far the clock of an instance may be off. */
export const CLOCK_OFF_MAX_MS = 3_600_000;
const STOPS: ReadonlySet<RequestFault> = new Set(["kill before", "kill after", "stall before", "stall after"]);

const isPossible = (fault: RequestFault, command: string): boolean => {
  if (fault === "leave unprocessed") return command === "BatchGetItemCommand";
  return fault !== "conflict" || (isWrite(command) && !/Object|Message/.test(command));
};

/** The hostilities of one function's run. */
export interface RunHostilities {
  readonly faultOf: (command: string) => RequestFault;
  readonly statementFault: () => StatementFault;
  readonly attemptFault: (command: string) => Fault;
  /** Milliseconds until a request is sent. */
  readonly latency: (command: string) => number;
  /** How far its clock is off, in milliseconds. */
  readonly clockOff: number;
}

/** Chooses the hostilities of a seed, and counts them. */
export class Hostilities {
  readonly chosen: ReadonlySet<Hostility>;
  readonly #counts = new Map<string, number>();
  /** Once the world rests, nothing goes wrong any more. */
  #isCalm = false;

  constructor(random: () => number, only: readonly Hostility[] = []) {
    const some = ALL_HOSTILITIES.filter(() => random() < 0.7);
    this.chosen = new Set(only.length > 0 ? only : some.length > 0 ? some : ALL_HOSTILITIES);
  }

  /** Whether this can still go wrong. */
  has(hostility: Hostility): boolean {
    return !this.#isCalm && this.chosen.has(hostility);
  }
  /** Whether something goes wrong now. Counts it. */
  happens(hostility: Hostility, share: number, random: () => number): boolean {
    const isSo = this.has(hostility) && random() < share;
    if (isSo) this.count(hostility);
    return isSo;
  }
  count(hostility: Hostility, kind: string = hostility): void {
    const name = kind === hostility ? hostility : `${hostility}: ${kind}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
  get total(): number {
    return [...this.#counts.values()].reduce((sum, each) => sum + each, 0);
  }
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
  end(): void {
    this.#isCalm = true;
  }

  /**
   * @param random decides by a seed
   * @param clockMaxMs how far its clock may be off
   * @param note called with each fault of a request
   */
  ofRun(
    { random, isCalm, mayStop, isSlow, clockMaxMs, faultOf }: RunOptions & { readonly random: () => number },
    note: (fault: string) => void,
  ): RunHostilities {
    const isSpared = isCalm || random() < SPARED_SHARE;
    const has = (hostility: Hostility): boolean => !isSpared && this.has(hostility);
    const hit = <F extends string>(hostility: Hostility, fault: F, command: string): F => {
      this.count(hostility, fault);
      note(`${fault} at ${command.replace("Command", "")}`);
      return fault;
    };
    const clockOff = has("clocks") && random() < CLOCK_SHARE ? Math.round((2 * random() - 1) * clockMaxMs) : 0;
    if (clockOff !== 0) note(hit("clocks", "clocks", `${Math.round(clockOff / 1000)} s`));
    return {
      clockOff,
      latency: (command) => {
        const quick = Math.floor(random() * 20);
        if (isSlow && ITEM_COMMANDS.has(command)) return SLOW.least + random() * (SLOW.most - SLOW.least);
        if (!has("slowness") || random() >= SLOW.share) return quick;
        hit("slowness", "slow", "a request");
        return SLOW.least + random() * (SLOW.most - SLOW.least);
      },
      faultOf: (command) => {
        const given = faultOf?.(command);
        if (given !== undefined) return hit("deaths", given, command);
        let number = random();
        for (const [hostility, fault, share] of REQUESTS) {
          if (!isPossible(fault, command) || !has(hostility)) continue;
          if (STOPS.has(fault) && !mayStop) continue;
          if ((number -= share) < 0) return hit(hostility, fault, command);
        }
        return "none";
      },
      statementFault: () => {
        const number = random();
        if (has("refusals") && number < 0.12) return hit("refusals", "throttle", "a statement");
        return has("silence") && number > 0.9 ? hit("silence", "lose response", "a statement") : "none";
      },
      attemptFault: (command) => {
        const number = random();
        if (has("refusals") && number < ATTEMPTS) return hit("refusals", "throttled", command);
        return has("silence") && number > 1 - ATTEMPTS ? hit("silence", "lost response", command) : "none";
      },
    };
  }
}

/** How a function's run can go wrong. */
export interface RunOptions {
  /** Nothing goes wrong. */
  readonly isCalm: boolean;
  /** Each request for items takes so long that a claim ends after a few. */
  readonly isSlow: boolean;
  /** Whether it may be killed and frozen. */
  readonly mayStop: boolean;
  readonly clockMaxMs: number;
  /** A fault of a request that is decided elsewhere. */
  readonly faultOf?: (command: string) => RequestFault | undefined;
}
