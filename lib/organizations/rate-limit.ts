import { RateLimitExceededError } from "../errors.ts";
import { isThrottled } from "../aws/error-codes.ts";
import { createExpiringCache } from "./expiring-cache.ts";
import { createLimitRecords, type LimitsRuntime, SLACK_MICROSECONDS, STORE_TIMEOUT_MS } from "./limit-record.ts";
import type { Organization } from "./organization.ts";

/** Unused requests of a lease expire after this time. */
export const LEASE_MS = 5000;
/** An instance leases the requests that it expects in this time: shorter than a lease, so that few of them expire. */
const LEASED_SECONDS = 2;
/** A lease is at most an eighth of the free requests, so that no instance takes all of them. */
const LEASE_SHARE = 8;
/** If no request is free, a lease has a fiftieth of a second's requests: all instances write 50 times a second. */
const CONTENDED_LEASES_PER_SECOND = 50;
/** A lease may start at most this far in the future; if the next free one starts later, the instance tries again. */
const BOOKED_AHEAD_MS = 5000;
/** An instance without a lease tries again after this time, plus a random time. */
const ASK_AGAIN_MS = { least: 500, spread: 2000 };
/** Each failed attempt returns the current record. Several in a row mean that other instances keep changing it. */
const DEBIT_ATTEMPTS_MAX = 4;
/** Weight of the last second in the average number of an instance's requests. */
const AVERAGE_WEIGHT = 0.25;

/** After an outage of the table, requests pass for this long without another attempt. */
const FAIL_OPEN_MS = 1000;
const REMEMBERED_ORGANIZATIONS_MAX = 1000;
const ACCOUNT_LIFETIME_MS = 3_600_000;
const MICROSECONDS = 1000;
/** The most by which clocks differ. An arrival time further ahead was written by a wrong clock. */
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
    /** Whether the arrival time was in the future at the last debit: it probably still is. */
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
    leaseUntil: from + LEASE_MS,
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

/** Number of requests to lease: as many as the instance expects, if they are free. @param free number of free requests */
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

/** What is left of an organization's limit, as far as this instance knows: others may have used some of it since. */
export interface Quota {
  /** Requests that could be sent now. */
  readonly remaining: number;
  /** Seconds until the whole burst is available again if nothing is sent. */
  readonly resetSeconds: number;
}

/** Rejects requests for a random time, so that instances don't all ask again at once. */
function refuse(account: Account, now: number, atLeast = 0): void {
  const { least, spread } = ASK_AGAIN_MS;
  account.refusedUntil = now + atLeast + least + Math.random() * spread;
}

/**
 * Makes the function that counts a request of an organization and limits its requests over all instances, by GCRA. Each
 * organization has one record, which instances debit in leases. At the limit, an instance leases requests that become free
 * in the future instead of trying repeatedly, so the record is written about 50 times a second, whatever the number of
 * instances and requests. In t seconds, at most burst + rate × (t + 5) requests pass. Requests are rejected if the record
 * is throttled, and pass if the table is unavailable or doesn't respond within 100 ms. Decision 33 says what leases save.
 * @param failedOpen called with the error of each outage
 * @param storeTimeout milliseconds; longer only in tests, where many instances share one machine
 * @returns a function that throws RateLimitExceededError
 */
export function createRateLimiter(
  runtime: LimitsRuntime,
  failedOpen: (error: unknown) => void,
  storeTimeout: number = STORE_TIMEOUT_MS,
) {
  const { clock } = runtime;
  const records = createLimitRecords(runtime, storeTimeout);
  const accounts = createExpiringCache<Account>(REMEMBERED_ORGANIZATIONS_MAX, clock);
  const accountOf = (organization: string): Account => {
    const account = accounts.get(organization) ?? newAccount();
    accounts.set(organization, account, ACCOUNT_LIFETIME_MS);
    return account;
  };

  /** Tries once to debit the record. @returns whether the result is known: a lease, or none for a while */
  async function tryDebit(organization: Organization, account: Account, attempt: number): Promise<boolean> {
    const { interval, tolerance } = paceOf(organization);
    const now = clock() * MICROSECONDS;
    const ahead = Math.max(0, account.arrival - now);
    const lease = leaseOf(organization, account, Math.max(0, (tolerance - ahead) / interval));
    const cost = lease * interval;
    const latest = now + tolerance + BOOKED_AHEAD_MS * MICROSECONDS - cost;
    const isAhead = account.arrival >= now - SLACK_MICROSECONDS || (attempt === 0 && account.wasAhead);
    const from = isAhead ? "arrival" : "now";
    const { isAdvanced, arrival } = await records.advance(organization.id, from, cost, now, latest);
    account.arrival = arrival;
    if (isAdvanced) {
      account.wasAhead = arrival - cost >= now;
      Object.assign(account, leaseStarting(lease, Math.max(now, arrival - tolerance) / MICROSECONDS));
      return true;
    }
    if (account.arrival > latest + cost + CLOCKS_DIFFER_MICROSECONDS) {
      await records.correct(organization.id, account.arrival, now + tolerance);
      account.arrival = now + tolerance;
      return false;
    }
    if (account.arrival <= latest) return false;
    refuse(account, clock(), (account.arrival - latest) / MICROSECONDS);
    return true;
  }

  /** Gets a lease, or finds out until when there is none. All waiting requests share one debit. */
  async function debit(organization: Organization, account: Account): Promise<void> {
    try {
      for (let attempt = 0; attempt < DEBIT_ATTEMPTS_MAX; attempt++) {
        if (await tryDebit(organization, account, attempt)) return;
      }
      // Other instances keep changing the record, which has room: one request passes without a lease.
      const { tolerance } = paceOf(organization);
      const hasRoom = account.arrival <= clock() * MICROSECONDS + tolerance;
      if (hasRoom) Object.assign(account, leaseStarting(1, clock()));
      else refuse(account, clock());
    } catch (error) {
      // Too many debits throttle the record: the organization sends too many requests.
      if (isThrottled(error)) refuse(account, clock());
      else {
        account.openUntil = clock() + FAIL_OPEN_MS;
        failedOpen(error);
      }
    } finally {
      account.debiting = undefined;
    }
  }

  return async (organization: Organization): Promise<Quota> => {
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
      account.debiting ??= debit(organization, account);
      await account.debiting;
    }
  };
}
