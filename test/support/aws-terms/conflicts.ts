/** How long a transaction continues after its items were written, at most, in milliseconds. */
const TRANSACTION_MAX_MS = 10;

/**
 * Knows which items are being written. A transaction is refused if another one, or a single write, is writing to one
 * of its items, and a single write if a transaction is
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html).
 */
export function createConflicts(below: (limit: number) => number) {
  /** Numbers of single writes and of transactions by item. */
  const writing = new Map<string, { single: number; transaction: number }>();

  return {
    isConflict: (kind: "single" | "transaction", item: string): boolean => {
      const { single, transaction } = writing.get(item) ?? { single: 0, transaction: 0 };
      return transaction > 0 || (kind === "transaction" && single > 0);
    },
    /** Marks items as being written while the work is done, and for a transaction some time longer. */
    during: async <T>(kind: "single" | "transaction", items: readonly string[], work: () => Promise<T>): Promise<T> => {
      const change = (by: 1 | -1): void => {
        for (const item of items) {
          const now = writing.get(item) ?? { single: 0, transaction: 0 };
          now[kind] += by;
          if (now.single + now.transaction === 0) writing.delete(item);
          else writing.set(item, now);
        }
      };
      change(1);
      try {
        return await work();
      } finally {
        if (kind === "single") change(-1);
        else setTimeout(change, below(TRANSACTION_MAX_MS), -1).unref();
      }
    },
  };
}
