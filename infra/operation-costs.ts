import { PRICES, UNIT_PRICES } from "./prices.ts";

/** What an item uses in an operation. Records of jobs, keys and limits are less than 0.02 units and not in it. */
export interface Use {
  /** Calls of the API. */
  readonly calls?: number;
  readonly invocations?: number;
  readonly fifoQueueRequests?: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

const ITEMS_PER_BATCH = 100;
const ITEMS_PER_PAGE = 50;
const BATCH = 1 / ITEMS_PER_BATCH;

/** Use of an item below 1 KB by operation: `bench -- cost` measures it, and `bench -- changes` that of the feed. */
export const OPERATIONS = {
  "created by batch": { calls: BATCH, writeUnits: 2, readUnits: 1 },
  "sent again by batch, unchanged": { calls: BATCH, writeUnits: 0, readUnits: 1 },
  "updated by batch": { calls: BATCH, writeUnits: 1, readUnits: 1 },
  "moved in the list by batch": { calls: BATCH, writeUnits: 3, readUnits: 1 },
  "created by batch with an agent_external_id": { calls: BATCH, writeUnits: 3, readUnits: 1 },
  "created by batch with five events each": { calls: BATCH, writeUnits: 7, readUnits: 6 },
  "created by CSV": { writeUnits: 2, readUnits: 0.08 },
  "sent again by CSV, unchanged": { writeUnits: 0, readUnits: 1 },
  "created one by one": { calls: 1, writeUnits: 2, readUnits: 0 },
  "read one by one": { calls: 1, writeUnits: 0, readUnits: 1 },
  "updated one by one": { calls: 1, writeUnits: 1, readUnits: 1 },
  "listed in pages of 50": { calls: 1 / ITEMS_PER_PAGE, writeUnits: 0, readUnits: 1.04 },
  "deleted one by one": { calls: 1, writeUnits: 3, readUnits: 1 },
  "change feed: of each change, many at once": { writeUnits: 0.04, readUnits: 0.01 },
  "change feed: of each change, one by one": {
    invocations: 2,
    fifoQueueRequests: 3,
    writeUnits: 2.01,
    readUnits: 2.01,
  },
} as const satisfies Record<string, Use>;

/** Dollars of an operation on one item. */
export function dollarsOf(
  { calls = 0, invocations = 0, fifoQueueRequests = 0, writeUnits, readUnits }: Use,
  { write, read }: { readonly write: number; readonly read: number },
): number {
  return (
    calls * (PRICES.apiRequest + PRICES.invocation) +
    invocations * PRICES.invocation +
    fifoQueueRequests * PRICES.fifoQueueRequest +
    writeUnits * write +
    readUnits * read
  );
}

/** The rows of a table: each operation with its units, and the dollars of a million items in each region with prices. */
export function operationRows(): string[][] {
  const header = ["a million items", "write units each", "read units each"];
  const rows = Object.entries<Use>(OPERATIONS).map(([name, use]) => [
    name,
    String(use.writeUnits),
    String(use.readUnits),
    ...Object.values(UNIT_PRICES).map((prices) => (dollarsOf(use, prices) * 1e6).toFixed(2)),
  ]);
  return [[...header, ...Object.keys(UNIT_PRICES).map((region) => `$ in ${region}`)], ...rows];
}
