import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { StoreBusyError } from "../errors.ts";
import { partitionKeyOf } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";

/** How long an outcome, good or bad, is reused. */
const REMEMBERED_MS = 1000;
/** Health checks must not wait long. */
const TIMEOUT_MS = 1000;

/**
 * Makes the function that checks whether the table of work items can be read, at most once a second. Simultaneous calls
 * share one read of a record that doesn't exist.
 * @returns a function that throws StoreBusyError for every failure
 */
export function createTableCheck({ dynamodb, environment, clock, log }: RuntimeWith<"workItems">) {
  let last: { readonly at: number; readonly outcome: Promise<void> } | undefined;
  const read = async (): Promise<void> => {
    const Key = { pk: partitionKeyOf("HEALTH", "none"), sk: "#HEALTH" };
    const command = new GetCommand({ TableName: environment.WORK_ITEMS_TABLE, Key });
    try {
      await dynamodb.send(command, { abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      log.warn("the table cannot be read", { reason: error instanceof Error ? error.name : "unknown" });
      throw new StoreBusyError("the store does not respond; retry later");
    }
  };
  return (): Promise<void> => {
    const now = clock();
    if (last === undefined || Math.abs(now - last.at) >= REMEMBERED_MS) last = { at: now, outcome: read() };
    return last.outcome;
  };
}
