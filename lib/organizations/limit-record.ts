import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { toUpdate } from "../store/conditional-update.ts";
import { tryWrite, writeConditionally } from "../store/conditional-write.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { TIME_TO_LIVE } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";

/** The longest wait for the table. */
export const STORE_TIMEOUT_MS = 100;
const RECORD_LIFETIME_SECONDS = 3600;
/**
 * An arrival time that is at most this far in the past is increased, not reset: concurrent resets would fail each other's
 * conditions. The limiter admits this much more than the burst.
 */
export const SLACK_MICROSECONDS = 200_000;

/** What the limits of organizations require of a runtime. */
export type LimitsRuntime = Pick<RuntimeWith<"limits">, "dynamodb" | "clock" | "environment">;

/** Primary key of an organization's record in the Limits table. */
export function rateLimitKey(organization: string) {
  return { pk: `ORGANIZATION#${organization}`, sk: "#LIMIT" };
}

/**
 * Reads and writes the records of organizations in the Limits table: their theoretical arrival times, in microseconds since
 * the epoch.
 * @param timeout milliseconds
 */
export function createLimitRecords({ dynamodb, environment }: LimitsRuntime, timeout: number) {
  const TableName = environment.LIMITS_TABLE;

  /** @throws TimeoutError, whether the client waits for a response or for its next attempt */
  async function inTime<T>(send: (options?: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    if (timeout === Infinity) return send();
    const abortSignal = AbortSignal.timeout(timeout);
    const sent = send({ abortSignal });
    const late = new Promise<never>((_, reject) => {
      abortSignal.addEventListener("abort", () => reject(abortSignal.reason as Error), { once: true });
    });
    return Promise.race([sent, late]);
  }

  return {
    /**
     * Adds `cost` to the arrival time or to now. Times are microseconds since the epoch.
     * @returns the arrival time. It isn't advanced if that would make it later than `latest`
     * @throws MalformedRecordError
     */
    advance: async (organization: string, from: "arrival" | "now", cost: number, now: number, latest: number) => {
      const isReset = from === "now";
      const command = new UpdateCommand({
        TableName,
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
      });
      const outcome = await inTime((options) => writeConditionally(dynamodb, command, options));
      if (outcome.kind === "written") return { isAdvanced: true, arrival: Number(outcome.record["arrival"]) };
      if (outcome.current === undefined) throw outcome.error;
      const arrival = Number(outcome.current["arrival"] ?? 0);
      // Names the record: otherwise the next request would fail without saying whose record is damaged.
      if (Number.isNaN(arrival)) throw new MalformedRecordError("limit", rateLimitKey(organization), "arrival");
      return { isAdvanced: false, arrival };
    },
    /** Replaces an impossible arrival time with that of an organization that has just used its burst. */
    correct: async (organization: string, wrong: number, right: number): Promise<void> => {
      const change = { set: { arrival: right }, condition: "#arrival = :wrong", given: { wrong } };
      const update = toUpdate(TableName, { key: rateLimitKey(organization), ...change });
      await inTime((options) => tryWrite(dynamodb, new UpdateCommand(update), options));
    },
  };
}
