import type { BatchResult, WorkItemInput } from "./openapi-types.ts";

/** Limits of one call, whose body must stay well below 4 MiB. */
const ITEMS_MAX = 100;
const EVENTS_MAX = 2000;
const BYTES_MAX = 3 * 1024 * 1024;

const encoder = new TextEncoder();

/** The items of one call, and the index of the first among all items. */
interface Batch {
  readonly from: number;
  readonly items: readonly WorkItemInput[];
}

const batchesOf = async function* (
  items: Iterable<WorkItemInput> | AsyncIterable<WorkItemInput>,
): AsyncGenerator<Batch, void, undefined> {
  let from = 0;
  let bytes = 0;
  let events = 0;
  let batch: WorkItemInput[] = [];
  for await (const item of items) {
    const size = encoder.encode(JSON.stringify(item)).length + 1;
    const count = item.events?.length ?? 0;
    const isFull = batch.length === ITEMS_MAX || bytes + size > BYTES_MAX || events + count > EVENTS_MAX;
    if (isFull && batch.length > 0) {
      yield { from, items: batch };
      from += batch.length;
      bytes = 0;
      events = 0;
      batch = [];
    }
    batch.push(item);
    bytes += size;
    events += count;
  }
  if (batch.length > 0) yield { from, items: batch };
};

interface Call {
  readonly externalIds: ReadonlySet<string>;
  readonly results: Promise<readonly BatchResult[]>;
}

/**
 * Applies any number of items and yields their results in the order of the items. Calls with the same item run one
 * after the other, so that later items win.
 * @param send one call
 * @param concurrency calls at the same time, at least 1
 */
export const applyInBatches = async function* (
  items: Iterable<WorkItemInput> | AsyncIterable<WorkItemInput>,
  send: (items: readonly WorkItemInput[]) => Promise<readonly BatchResult[]>,
  concurrency: number,
): AsyncGenerator<BatchResult, void, undefined> {
  const calls: Call[] = [];
  const start = ({ from, items: batch }: Batch): Call => {
    const externalIds = new Set(batch.map((item) => item.external_id));
    const before = calls
      .filter((call) => batch.some((item) => call.externalIds.has(item.external_id)))
      .map((call) => call.results);
    const results = Promise.all(before)
      .then(() => send(batch))
      .then((each) => each.map((result) => ({ ...result, index: from + result.index })));
    // It is awaited later, in order. Until then, a failure must not count as unhandled.
    results.catch(() => undefined);
    return { externalIds, results };
  };
  for await (const batch of batchesOf(items)) {
    calls.push(start(batch));
    if (calls.length < concurrency) continue;
    yield* await calls[0]!.results;
    calls.shift();
  }
  for (const call of calls) yield* await call.results;
};
