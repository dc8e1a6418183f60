import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { PARTITION_KEY, SORT_KEY, TIME_TO_LIVE } from "../resources.ts";
import { WorkItemsError } from "../errors.ts";
import { createExpiringCache } from "./expiring-cache.ts";
import type { Organization } from "./organization.ts";

/** The organization has reached its rate limit. */
export class RateLimitExceededError extends WorkItemsError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`rate limit exceeded; retry after ${retryAfterSeconds} s`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Debited requests that are not used within this time expire. */
export const LEASE_MILLISECONDS = 1000;
/** A lease is at most an eighth of the remaining requests, so that no instance takes all of them. */
const LEASE_SHARE = 8;
/** After a refusal, requests are refused for at least this long without an update of the record. */
const REFUSAL_MILLISECONDS_MIN = 20;
/** The longest wait for the table. */
export const STORE_TIMEOUT_MILLISECONDS = 100;
/** After a failure of the table, requests pass for this long without another attempt. */
const FAIL_OPEN_MILLISECONDS = 1000;
const REMEMBERED_ORGANIZATIONS_MAX = 1000;
const RECORD_LIFETIME_SECONDS = 3600;
/** Each failed attempt returns the current record; several in a row mean that other instances keep changing it. */
const DEBIT_ATTEMPTS_MAX = 5;

/** This instance's state for one organization. Times are milliseconds since the epoch. */
interface Account {
  /** Remaining requests of the current lease, and when it expires. */
  leased: number;
  leaseUntil: number;
  refusedUntil: number;
  openUntil: number;
  /** The record's theoretical arrival time when last read, in microseconds since the epoch. */
  arrival: number;
  /** The current second, and the number of requests in it and in the one before. */
  second: number;
  demand: number;
  demandBefore: number;
  debiting: Promise<void> | undefined;
}

const MICROSECONDS = 1000;

const countDemand = (account: Account, now: number): void => {
  const second = Math.floor(now / 1000);
  if (second !== account.second) {
    account.demandBefore = second === account.second + 1 ? account.demand : 0;
    account.demand = 0;
    account.second = second;
  }
  account.demand += 1;
};

/** GCRA's parameters in microseconds: the interval between two requests, and how far ahead the arrival time may be. */
const paceOf = ({ rate, burst }: Organization) => {
  const interval = Math.ceil(1_000_000 / rate);
  return { interval, tolerance: interval * burst };
};

/** What the rate limiter requires of a runtime. */
export type LimitsRuntime = Pick<RuntimeWith<"limits">, "dynamodb" | "clock" | "environment">;

/** Counts one request of an organization. @throws RateLimitExceededError */
export type Admit = (organization: Organization) => Promise<void>;

/**
 * Limits the requests of an organization over all instances, by GCRA: each organization has one record, which instances
 * debit in leases. Admits at most burst + rate × (window + 1 s). Requests pass if the table fails or takes over 100 ms.
 * @param failedOpen called with the error of each such failure
 * @param storeTimeout milliseconds; longer only in tests, where many instances share one machine
 */
export const createRateLimiter = (
  { dynamodb, environment, clock }: LimitsRuntime,
  failedOpen: (error: unknown) => void,
  storeTimeout: number = STORE_TIMEOUT_MILLISECONDS,
): Admit => {
  const accounts = createExpiringCache<Account>(REMEMBERED_ORGANIZATIONS_MAX, clock);

  /** @throws TimeoutError after 100 ms, whether the client waits for a response or for its next attempt */
  const send = async (command: UpdateCommand) => {
    const abortSignal = AbortSignal.timeout(storeTimeout);
    const timeout = new Promise<never>((_, reject) => {
      abortSignal.addEventListener("abort", () => reject(abortSignal.reason as Error), { once: true });
    });
    return Promise.race([dynamodb.send(command, { abortSignal }), timeout]);
  };

  /**
   * Adds `cost` to the arrival time or to now, whichever is later.
   * @returns the new arrival time
   * @throws ConditionalCheckFailedException if the record's arrival time is not what the caller assumed
   */
  const advance = async (organization: string, from: "arrival" | "now", cost: number, now: number, latest: number) => {
    const anew = from === "now";
    const { Attributes: attributes } = await send(
      new UpdateCommand({
        TableName: environment.LIMITS_TABLE,
        Key: { [PARTITION_KEY]: `ORGANIZATION#${organization}`, [SORT_KEY]: "#LIMIT" },
        UpdateExpression: `SET arrival = ${anew ? ":next" : "arrival + :cost"}, ${TIME_TO_LIVE} = :gone`,
        ConditionExpression: anew
          ? "attribute_not_exists(arrival) OR arrival < :now"
          : "arrival BETWEEN :now AND :latest",
        ExpressionAttributeValues: {
          ":now": now,
          ...(anew ? { ":next": now + cost } : { ":cost": cost, ":latest": latest }),
          ":gone": Math.ceil(latest / 1_000_000) + RECORD_LIFETIME_SECONDS,
        },
        ReturnValues: "UPDATED_NEW",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
    return Number(attributes?.["arrival"]);
  };

  const debit = async (organization: Organization, account: Account): Promise<void> => {
    const { interval, tolerance } = paceOf(organization);
    for (let attempt = 0; attempt < DEBIT_ATTEMPTS_MAX; attempt++) {
      const now = clock() * MICROSECONDS;
      const ahead = Math.max(0, account.arrival - now);
      const remaining = Math.floor((tolerance - ahead) / interval);
      if (remaining < 1) {
        const wait = (ahead + interval - tolerance) / MICROSECONDS;
        account.refusedUntil = now / MICROSECONDS + Math.max(wait, REFUSAL_MILLISECONDS_MIN);
        return;
      }
      const wanted = Math.max(account.demand, account.demandBefore);
      const lease = Math.max(1, Math.min(wanted, Math.floor(remaining / LEASE_SHARE)));
      try {
        const cost = lease * interval;
        const from = account.arrival >= now ? "arrival" : "now";
        account.arrival = await advance(organization.id, from, cost, now, now + tolerance - cost);
        account.leased = lease;
        account.leaseUntil = now / MICROSECONDS + LEASE_MILLISECONDS;
        return;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        account.arrival = Number(error.Item?.["arrival"]?.N ?? 0);
      }
    }
    account.refusedUntil = clock() + REFUSAL_MILLISECONDS_MIN;
  };

  const accountOf = (organization: string): Account => {
    const account = accounts.get(organization) ?? {
      leased: 0,
      leaseUntil: 0,
      refusedUntil: 0,
      openUntil: 0,
      arrival: 0,
      second: 0,
      demand: 0,
      demandBefore: 0,
      debiting: undefined,
    };
    accounts.set(organization, account, RECORD_LIFETIME_SECONDS * 1000);
    return account;
  };

  const debitOnce = (organization: Organization, account: Account): Promise<void> =>
    (account.debiting ??= debit(organization, account)
      .catch((error: unknown) => {
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
      if (now < account.openUntil) return;
      if (account.leased > 0 && now < account.leaseUntil) {
        account.leased -= 1;
        return;
      }
      if (now < account.refusedUntil) {
        throw new RateLimitExceededError(Math.max(1, Math.ceil((account.refusedUntil - now) / 1000)));
      }
      await debitOnce(organization, account);
    }
  };
};
