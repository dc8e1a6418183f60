import { isThrottled } from "@work-items/lib/aws/error-codes.ts";
import { retry } from "@work-items/lib/retry.ts";

const READING = { attempts: 10, message: "the store throttles reads; run the command again" };

/** What reads have consumed so far. */
export interface ReadProgress {
  /** Records and index entries that were read, including those that a filter left out. */
  readonly scanned: number;
  /** Read request units. */
  readonly readUnits: number;
}

interface ReadPage {
  readonly ScannedCount?: number | undefined;
  readonly ConsumedCapacity?: { readonly CapacityUnits?: number | undefined } | undefined;
}

/** Sends queries and scans, waits while DynamoDB throttles, and adds up what they consume. */
export function createMeteredReads(onProgress: (progress: ReadProgress) => void = () => undefined) {
  let progress: ReadProgress = { scanned: 0, readUnits: 0 };
  return {
    /** @param send must ask for `ReturnConsumedCapacity` @throws StoreBusyError if DynamoDB keeps throttling */
    read: async <T extends ReadPage>(send: () => Promise<T>): Promise<T> => {
      const page = await retry(READING, () =>
        send().catch((error: unknown) => {
          if (!isThrottled(error)) throw error;
          return undefined;
        }),
      );
      progress = {
        scanned: progress.scanned + (page.ScannedCount ?? 0),
        readUnits: progress.readUnits + (page.ConsumedCapacity?.CapacityUnits ?? 0),
      };
      onProgress(progress);
      return page;
    },
    progress: (): ReadProgress => progress,
  };
}
