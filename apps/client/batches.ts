import { ApiError } from "./api-error.ts";
import type { BatchResult, ProblemDetail, WorkItemInput } from "./openapi-types.ts";

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

/** Problems of a call, with pointers that count all items. */
const placed = (problems: readonly ProblemDetail[], from: number): ProblemDetail[] =>
  problems.map(({ pointer, ...problem }) => ({
    ...problem,
    ...(pointer !== undefined && {
      pointer: pointer.replace(/^\/work_items\/(\d+)/, (_, index) => `/work_items/${from + Number(index)}`),
    }),
  }));

/** An error of a call, whose message names invalid items by their ID and by their position among all items. */
const named = (error: unknown, { from, items }: Batch): unknown => {
  if (!(error instanceof ApiError)) return error;
  const message = error.message.replaceAll(/(^|; )work_items\[(\d+)\]/g, (_, before: string, index: string) => {
    const id: unknown = items[Number(index)]?.external_id;
    const place = `work_items[${from + Number(index)}]`;
    return `${before}${typeof id === "string" ? `${id} (${place})` : place}`;
  });
  const body = { error: message, errors: placed(error.problems, from) };
  return new ApiError(error.status, body, error.requestId ?? null);
};

type Send = (items: readonly WorkItemInput[]) => Promise<readonly BatchResult[]>;

/** Sends a batch. Its results and errors count all items. */
const sendBatch = async (send: Send, batch: Batch): Promise<readonly BatchResult[]> => {
  try {
    return (await send(batch.items)).map(({ errors, ...result }) => ({
      ...result,
      index: batch.from + result.index,
      ...(errors && { errors: placed(errors, batch.from) }),
    }));
  } catch (error) {
    throw named(error, batch);
  }
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
  send: Send,
  concurrency: number,
): AsyncGenerator<BatchResult, void, undefined> {
  const calls: Call[] = [];
  const start = (batch: Batch): Call => {
    const externalIds = new Set(batch.items.map((item) => item.external_id));
    const before = calls
      .filter((call) => batch.items.some((item) => call.externalIds.has(item.external_id)))
      .map((call) => call.results);
    const results = Promise.all(before).then(() => sendBatch(send, batch));
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
