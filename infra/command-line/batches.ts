import { BATCH_PATH, type Json, type ServiceClient } from "./service-client.ts";

/** Limits of one call. */
const ITEMS_MAX = 100;
const EVENTS_MAX = 2000;
const BYTES_MAX = 3 * 1024 * 1024;

/** A work item as it is sent. */
export interface BatchItem extends Json {
  readonly external_id: string;
  readonly events?: readonly unknown[] | undefined;
}

/** Groups items into batches that one call takes. */
export async function* batchesOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  itemOf: (entry: T) => BatchItem,
): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let events = 0;
  let bytes = 0;
  for await (const entry of items) {
    const item = itemOf(entry);
    const size = Buffer.byteLength(JSON.stringify(item));
    const count = Array.isArray(item.events) ? item.events.length : 0;
    if (batch.length === ITEMS_MAX || (batch.length > 0 && (events + count > EVENTS_MAX || bytes + size > BYTES_MAX))) {
      yield batch;
      batch = [];
      events = 0;
      bytes = 0;
    }
    batch.push(entry);
    events += count;
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** What became of an item. */
export interface BatchResult {
  readonly external_id: string;
  readonly status: string;
  readonly error: string | null;
}

/** Applies one batch. An item that is not valid fails alone. */
export const applyBatch = async (
  client: ServiceClient,
  items: readonly BatchItem[],
  dryRun: boolean,
): Promise<readonly BatchResult[]> => {
  const body = { work_items: items, dry_run: dryRun, on_invalid: "skip" };
  const { data } = await client.request("POST", BATCH_PATH, { body });
  return data["results"] as readonly BatchResult[];
};
