import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { conditionFailureOf, isConditionFailure } from "../store/write-outcome.ts";
import { RateLimitExceededError } from "../errors.ts";
import { PARTITION_KEY, SORT_KEY, TIME_TO_LIVE } from "../resources.ts";
import { isThrottled } from "../aws/error-codes.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { createExpiringCache } from "./expiring-cache.ts";
import type { Organization } from "./organization.ts";

/** Unused requests of a lease expire after this time. */
export const LEASE_MILLISECONDS = 5000;
/** An instance leases the requests that it expects in this time: shorter than a lease, so that few of them expire. */
const LEASED_SECONDS = 2;
/** A lease is at most an eighth of the free requests, so that no instance takes all of them. */
const LEASE_SHARE = 8;
/** If no request is free, a lease is a fiftieth of a second's requests: 50 writes a second over all instances. */
const CONTENDED_LEASES_PER_SECOND = 50;
/** A lease may start at most this far in the future; if the next free one starts later, the instance tries again. */
const BOOKED_AHEAD_MILLISECONDS = 5000;
/** An instance without a lease tries again after this time, plus a random time. */
const ASK_AGAIN_MILLISECONDS = { least: 500, spread: 2000 };
/** Each failed attempt returns the current record; several in a row mean that other instances keep changing it. */
const DEBIT_ATTEMPTS_MAX = 4;
/** Weight of the last second in the average number of an instance's requests. */
const AVERAGE_WEIGHT = 0.25;

/** The longest wait for the table. */
export const STORE_TIMEOUT_MILLISECONDS = 100;
/** After an outage of the table, requests pass for this long without another attempt. */
const FAIL_OPEN_MILLISECONDS = 1000;
const REMEMBERED_ORGANIZATIONS_MAX = 1000;
const RECORD_LIFETIME_SECONDS = 3600;
/**
 * An arrival time that is at most this far behind is increased, not reset: with every reset, concurrent instances would
 * fail each other's conditions. The limiter admits this much more than the burst.
 */
const SLACK_MICROSECONDS = 200_000;
const MICROSECONDS = 1000;
/** Clocks of two instances differ by less. An arrival time further ahead than that was written by a wrong clock. */
const CLOCKS_DIFFER_MICROSECONDS = 60_000_000;

/** This instance's state for one organization. Times are milliseconds since the epoch. */
function newAccount() {
  return {
    /** Remaining requests of the current lease, and its start and end. */
    leased: 0,
    leaseFrom: 0,
    leaseUntil: 0,
    refusedUntil: 0,
    openUntil: 0,
    /** The record's theoretical arrival time when last read, in microseconds since the epoch. */
    arrival: 0,
    /** Whether the arrival time was in the future at the last debit: then it probably is again. */
    wasAhead: false,
    /** The current second, the number of requests in it, and the average number in the seconds before. */
    second: 0,
    demand: 0,
    average: 0,
    debiting: undefined as Promise<void> | undefined,
  };
}
type Account = ReturnType<typeof newAccount>;

function leaseStarting(leased: number, from: number) {
  return {
    leased,
    leaseFrom: from,
    leaseUntil: from + LEASE_MILLISECONDS,
  };
}

function countDemand(account: Account, now: number): void {
  const second = Math.floor(now / 1000);
  if (second !== account.second) {
    const idle = second - account.second - 1;
    const moved = account.average * (1 - AVERAGE_WEIGHT) + account.demand * AVERAGE_WEIGHT;
    account.average = moved * (1 - AVERAGE_WEIGHT) ** Math.max(0, idle);
    account.demand = 0;
    account.second = second;
  }
  account.demand += 1;
}

/** GCRA's parameters in microseconds: the interval between two requests, and how far ahead the arrival time may be. */
function paceOf({ rate, burst }: Organization) {
  const interval = Math.ceil(1_000_000 / rate);
  return { interval, tolerance: interval * burst };
}

/** Number of requests to lease: as many as the instance expects, if they are free. @param free number of free ones */
function leaseOf({ rate }: Organization, { average, demand }: Account, free: number): number {
  const perSecond = Math.max(average, demand / 2);
  const contended = Math.min(perSecond, rate / CONTENDED_LEASES_PER_SECOND);
  const wanted = Math.min(perSecond * LEASED_SECONDS, free / LEASE_SHARE);
  // At most the free requests: a larger lease would start in the future.
  const lease = free < 1 ? contended : Math.min(Math.max(contended, wanted), free);
  return Math.max(1, Math.floor(lease));
}

/** The organization's limit according to the account. @param now milliseconds since the epoch */
function quotaOf(organization: Organization, account: Account, now: number): Quota {
  const { interval, tolerance } = paceOf(organization);
  const ahead = Math.max(0, account.arrival - now * MICROSECONDS);
  const leased = now >= account.leaseFrom && now < account.leaseUntil ? account.leased : 0;
  const free = Math.max(0, Math.floor((tolerance - ahead) / interval));
  return { remaining: Math.min(organization.burst, leased + free), resetSeconds: Math.ceil(ahead / 1_000_000) };
}

export type LimitsRuntime = Pick<RuntimeWith<"limits">, "dynamodb" | "clock" | "environment">;

/** Primary key of an organization's record in the Limits table. */
export function rateLimitKey(organization: string) {
  return {
    [PARTITION_KEY]: `ORGANIZATION#${organization}`,
    [SORT_KEY]: "#LIMIT",
  };
}

/** What is left of an organization's limit, as far as this instance knows: others may have used some of it since. */
export interface Quota {
  /** Requests that could be sent now. */
  readonly remaining: number;
  /** Seconds until the whole burst is available again if nothing is sent. */
  readonly resetSeconds: number;
}

/** Counts one request of an organization. @throws RateLimitExceededError */
export type Admit = (organization: Organization) => Promise<Quota>;

/**
 * Limits the requests of an organization over all instances, by GCRA: each organization has one record, which instances
 * debit in leases. When the limit is reached, an instance leases requests that become free in the future instead of
 * trying repeatedly, so that the record is written about 50 times a second with any number of instances and requests.
 * Admits at most burst + rate × (window + 5 s). Requests are rejected if the record is throttled, and pass if the table
 * is unavailable or doesn't respond within 100 ms.
 * @param failedOpen called with the error of each outage
 * @param storeTimeout milliseconds; longer only in tests, where many instances share one machine
 */
export function createRateLimiter(
  { dynamodb, environment, clock }: LimitsRuntime,
  failedOpen: (error: unknown) => void,
  storeTimeout: number = STORE_TIMEOUT_MILLISECONDS,
): Admit {
  const accounts = createExpiringCache<Account>(REMEMBERED_ORGANIZATIONS_MAX, clock);

  /** @throws TimeoutError after 100 ms, whether the client waits for a response or for its next attempt */
  const send = async (command: UpdateCommand) => {
    if (storeTimeout === Infinity) return dynamodb.send(command);
    const abortSignal = AbortSignal.timeout(storeTimeout);
    const sent = dynamodb.send(command, { abortSignal });
    const timeout = new Promise<never>((_, reject) => {
      abortSignal.addEventListener("abort", () => reject(abortSignal.reason as Error), { once: true });
    });
    return Promise.race([sent, timeout]);
  };

  /**
   * Adds `cost` to the arrival time or to now. Times are microseconds since the epoch.
   * @returns the new arrival time
   */
  const advance = async (organization: string, from: "arrival" | "now", cost: number, now: number, latest: number) => {
    const isReset = from === "now";
    const { Attributes: attributes } = await send(
      new UpdateCommand({
        TableName: environment.LIMITS_TABLE,
        Key: rateLimitKey(organization),
        UpdateExpression: `SET arrival = ${isReset ? ":next" : "arrival + :cost"}, ${TIME_TO_LIVE} = :gone`,
        ConditionExpression: isReset
          ? "attribute_not_exists(arrival) OR arrival < :idle"
          : "arrival BETWEEN :idle AND :latest",
        ExpressionAttributeValues: {
          ":idle": now - SLACK_MICROSECONDS,
          ...(isReset ? { ":next": now + cost } : { ":cost": cost, ":latest": latest }),
          ":gone": Math.ceil(latest / 1_000_000) + RECORD_LIFETIME_SECONDS,
        },
        ReturnValues: "UPDATED_NEW",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
    return Number(attributes?.["arrival"]);
  };

  /** Replaces an arrival time that cannot be right by that of an organization that has just used its burst. */
  const correct = async (organization: string, wrong: number, right: number): Promise<void> => {
    try {
      await send(
        new UpdateCommand({
          TableName: environment.LIMITS_TABLE,
          Key: rateLimitKey(organization),
          UpdateExpression: "SET arrival = :right",
          ConditionExpression: "arrival = :wrong",
          ExpressionAttributeValues: { ":wrong": wrong, ":right": right },
        }),
      );
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  };

  const refuseFor = (account: Account, milliseconds: number): void => {
    account.refusedUntil = clock() + milliseconds;
  };
  const laterAtRandom = (): number => ASK_AGAIN_MILLISECONDS.least + Math.random() * ASK_AGAIN_MILLISECONDS.spread;

  const debit = async (organization: Organization, account: Account): Promise<void> => {
    const { interval, tolerance } = paceOf(organization);
    for (let attempt = 0; attempt < DEBIT_ATTEMPTS_MAX; attempt++) {
      const now = clock() * MICROSECONDS;
      const ahead = Math.max(0, account.arrival - now);
      const lease = leaseOf(organization, account, Math.max(0, (tolerance - ahead) / interval));
      const cost = lease * interval;
      const latest = now + tolerance + BOOKED_AHEAD_MILLISECONDS * MICROSECONDS - cost;
      const isAhead = account.arrival >= now - SLACK_MICROSECONDS || (attempt === 0 && account.wasAhead);
      try {
        account.arrival = await advance(organization.id, isAhead ? "arrival" : "now", cost, now, latest);
        account.wasAhead = account.arrival - cost >= now;
        Object.assign(account, leaseStarting(lease, Math.max(now, account.arrival - tolerance) / MICROSECONDS));
        return;
      } catch (error) {
        const failure = conditionFailureOf(error);
        if (failure === undefined) throw error;
        account.arrival = Number(failure["arrival"] ?? 0);
        if (account.arrival > latest + cost + CLOCKS_DIFFER_MICROSECONDS) {
          await correct(organization.id, account.arrival, now + tolerance);
          account.arrival = now + tolerance;
        } else if (account.arrival > latest) {
          refuseFor(account, (account.arrival - latest) / MICROSECONDS + laterAtRandom());
          return;
        }
      }
    }
    // Other instances keep changing the record, which has room: one request passes without a lease.
    if (account.arrival <= clock() * MICROSECONDS + tolerance) Object.assign(account, leaseStarting(1, clock()));
    else refuseFor(account, laterAtRandom());
  };

  const accountOf = (organization: string): Account => {
    const account = accounts.get(organization) ?? newAccount();
    accounts.set(organization, account, RECORD_LIFETIME_SECONDS * 1000);
    return account;
  };

  const debitOnce = (organization: Organization, account: Account): Promise<void> =>
    (account.debiting ??= debit(organization, account)
      .catch((error: unknown) => {
        // The record is throttled because of too many debits: the organization sends too many requests.
        if (isThrottled(error)) {
          refuseFor(account, laterAtRandom());
          return;
        }
        account.openUntil = clock() + FAIL_OPEN_MILLISECONDS;
        failedOpen(error);
      })
      .finally(() => {
        account.debiting = undefined;
      }));

  return async (organization) => {
    const account = accountOf(organization.id);
    countDemand(account, clock());
    for (;;) {
      const now = clock();
      if (now < account.openUntil) return quotaOf(organization, account, now);
      const hasLease = account.leased > 0 && now < account.leaseUntil;
      if (hasLease && now >= account.leaseFrom) {
        account.leased -= 1;
        return quotaOf(organization, account, now);
      }
      const refusedUntil = hasLease ? account.leaseFrom : account.refusedUntil;
      if (now < refusedUntil) {
        throw new RateLimitExceededError(Math.max(1, Math.ceil((refusedUntil - now) / 1000)));
      }
      await debitOnce(organization, account);
    }
  };
}
