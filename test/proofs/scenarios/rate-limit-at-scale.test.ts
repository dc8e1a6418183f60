import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import type { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { RateLimitExceededError } from "../../../lib/errors.ts";
import type { LimitsRuntime } from "../../../lib/organizations/limit-record.ts";
import { createRateLimiter } from "../../../lib/organizations/rate-limit.ts";
import { randomFrom } from "../../support/random.ts";
import { organizationWith } from "../../support/organization.ts";
import { createVirtualTime, type VirtualTime } from "./virtual-time.ts";

/** Writes a second that DynamoDB takes of one record, on average and at once. */
const WRITES_OF_ONE_RECORD = 1000;
const WRITES_GOAL = 200;
const WARM_UP_MS = 10_000;
const MEASURED_MS = 60_000;
/** From a limiter to the record and back: 3 to 8 ms. */
const latency = (random: () => number): number => 1.5 + 2.5 * random();

/** One record of DynamoDB by virtual time: UpdateItem with the limiter's conditions, throttled as one partition key is. */
const createRecord = (time: VirtualTime, random: () => number) => {
  let arrival: number | undefined;
  let units = WRITES_OF_ONE_RECORD;
  let refilledAt = time.now();
  /** Writes, failed conditions and throttled ones in each second. */
  const asked = new Map<number, number>();

  const update = ({ input }: UpdateCommand) => {
    const now = time.now();
    units = Math.min(WRITES_OF_ONE_RECORD, units + ((now - refilledAt) / 1000) * WRITES_OF_ONE_RECORD);
    refilledAt = now;
    const second = Math.floor(now / 1000);
    asked.set(second, (asked.get(second) ?? 0) + 1);
    if (units < 1) throw Object.assign(new Error("throttled"), { name: "ProvisionedThroughputExceededException" });
    units -= 1;
    const values = input.ExpressionAttributeValues as Record<string, number>;
    const { ":next": next, ":cost": cost = 0, ":idle": from = 0, ":latest": latest = 0 } = values;
    const holds =
      next === undefined
        ? arrival !== undefined && arrival >= from && arrival <= latest
        : arrival === undefined || arrival < from;
    if (!holds) {
      const Item = arrival === undefined ? {} : { arrival: { N: String(arrival) } };
      throw new ConditionalCheckFailedException({ message: "", $metadata: { attempts: 1 }, Item });
    }
    arrival = next ?? (arrival ?? 0) + cost;
    return { Attributes: { arrival } };
  };
  const send = (command: UpdateCommand): Promise<unknown> =>
    new Promise((resolve, reject) => {
      time.at(time.now() + latency(random), () => {
        let outcome: () => void;
        try {
          const result = update(command);
          outcome = () => resolve(result);
        } catch (error) {
          outcome = () => reject(error);
        }
        time.at(time.now() + latency(random), outcome);
      });
    });
  return { send, asked };
};

interface Load {
  readonly rate: number;
  readonly burst: number;
  readonly instances: number;
  /** Requests offered for each that the rate admits. */
  readonly overload: number;
}

/** Offers requests at random times, evenly to all instances. */
const simulate = async ({ rate, burst, instances, overload }: Load) => {
  const random = randomFrom(1);
  const start = Date.parse("2026-03-01T12:00:00Z");
  const time = createVirtualTime(start);
  const record = createRecord(time, random);
  const runtime = { dynamodb: record, clock: time.now, environment: { LIMITS_TABLE: "limits" } };
  const organization = organizationWith({ rate, burst });
  const end = start + WARM_UP_MS + MEASURED_MS;
  let [offered, admitted, failedOpen] = [0, 0, 0];

  for (let instance = 0; instance < instances; instance++) {
    const admit = createRateLimiter(runtime as unknown as LimitsRuntime, () => (failedOpen += 1), Infinity);
    const gap = (1000 * instances) / (rate * overload);
    const request = (): void => {
      const isMeasured = time.now() >= start + WARM_UP_MS;
      if (isMeasured) offered += 1;
      admit(organization).then(
        () => (admitted += isMeasured ? 1 : 0),
        (error: unknown) => {
          if (!(error instanceof RateLimitExceededError)) throw error;
        },
      );
      const next = time.now() - Math.log(1 - random()) * gap;
      if (next < end) time.at(next, request);
    };
    time.at(start + random() * gap, request);
  }
  await time.runUntil(end);
  const seconds = MEASURED_MS / 1000;
  const perSecond = [...record.asked]
    .filter(([second]) => second * 1000 >= start + WARM_UP_MS)
    .map(([, count]) => count);
  return {
    failedOpen,
    admittedPerSecond: admitted / seconds,
    offeredPerSecond: offered / seconds,
    writesPerSecond: Math.max(...perSecond),
    admitted,
    seconds,
  };
};

/** Every combination with RATE_LIMIT_FULL=1 (an hour of CPU less a few minutes); those of a few seconds in the suite. */
const isFull = process.env["RATE_LIMIT_FULL"] === "1";
const EVENTS_MAX = isFull ? Infinity : 250_000;
const loads: readonly Load[] = [
  { rate: 100, burst: 200 },
  { rate: 2000, burst: 2000 },
]
  .flatMap((limit) => [1, 5, 20, 80, 200].map((instances) => ({ ...limit, instances })))
  .flatMap((limit) => [1, 2, 10, 50].map((overload) => ({ ...limit, overload })))
  .filter(({ rate, overload }) => (rate * overload * (WARM_UP_MS + MEASURED_MS)) / 1000 <= EVENTS_MAX);

describe("the limit of $rate a second", () => {
  it.each(loads)(
    "of $rate requests a second holds over $instances instances that are offered $overload times as many",
    async (load) => {
      const measured = await simulate(load);
      const { admitted, seconds, admittedPerSecond, offeredPerSecond, writesPerSecond, failedOpen } = measured;
      expect(admitted).toBeLessThanOrEqual(load.burst + 1.1 * load.rate * seconds);
      expect(admittedPerSecond).toBeGreaterThanOrEqual(0.9 * Math.min(load.rate, offeredPerSecond));
      expect(writesPerSecond).toBeLessThanOrEqual(WRITES_GOAL);
      expect(failedOpen).toBe(0);
    },
    isFull ? 3_600_000 : 60_000,
  );
});
