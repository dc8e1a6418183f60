import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import type { CountFitting } from "../store/lists/page.ts";
import type { Organization } from "../organizations/organization.ts";
import { chunksOf } from "../retry.ts";
import { batchGet } from "../store/batch-get.ts";
import { logDamaged, passDamaged, unlessDamaged } from "../store/decode-record.ts";
import { ATTRIBUTES_READ } from "../work-items/work-item-list.ts";
import { createReadItemPage } from "../work-items/read-work-item.ts";
import { respondWithWorkItem } from "../work-items/single-work-item.ts";
import { itemIdOf, itemKey, workItemFrom } from "../work-items/work-item-record.ts";
import { toWorkItemResponse } from "../work-items/work-item-response.ts";
import type { Change } from "./change.ts";

/** How many items are read with their events at once: each may have a megabyte of events. */
const ITEMS_WITH_EVENTS = 8;

/** A work item of the feed: an entry of the log, or of the list. */
export interface Entry {
  readonly id: string;
  readonly sequence: number;
  /** When it was logged, in milliseconds since the epoch. */
  readonly time: number;
}

function erased({ id, sequence, time }: Entry): Change {
  return { id, sequence, deleted_at: isoTime(time), erased: true };
}

/** The current items of entries that fit into one response. */
interface ReadEntries {
  /** How many of the entries fit, at least one. */
  readonly count: number;
  /** Without damaged items. */
  readonly data: Change[];
}

/**
 * Makes the function that reads the current state of work items.
 * @returns a function that throws StoreBusyError
 */
export function createReadEntries(runtime: RuntimeWith<"workItems">, countFitting: CountFitting) {
  const { dynamodb, environment } = runtime;
  const readItemPage = createReadItemPage(runtime);
  const onDamaged = logDamaged(runtime);

  async function readItems(organization: Organization, entries: readonly Entry[]): Promise<(Change | undefined)[]> {
    const keys = entries.map(({ id }) => itemKey(organization.id, id));
    const records = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys, ATTRIBUTES_READ);
    const byId = new Map(records.map((record) => [itemIdOf({ pk: String(record["pk"]), sk: "" }), record]));
    const toChange = (entry: Entry): Change => {
      const { id, sequence } = entry;
      const item = workItemFrom(byId.get(id));
      if (item === null) return erased(entry);
      return { ...toWorkItemResponse(id, item), sequence, deleted_at: item.deleted_at };
    };
    return entries.map((entry) => unlessDamaged(() => toChange(entry), onDamaged));
  }

  async function readItemWithEvents(organization: Organization, entry: Entry): Promise<Change> {
    const { id, sequence } = entry;
    const { record, events, eventsAfter } = await readItemPage(organization.id, id);
    const item = workItemFrom(record);
    if (item === null) return erased(entry);
    const { body } = respondWithWorkItem(organization, { id, item, version: 0, events, eventsAfter }, countFitting);
    return {
      ...body.data,
      sequence,
      deleted_at: item.deleted_at,
      ...(body.meta && { events_next: body.meta.events.next }),
    };
  }

  /** Reads items with their events, until a response is full. */
  async function readItemsWithEvents(organization: Organization, entries: readonly Entry[]) {
    const changes: (Change | undefined)[] = [];
    for (const chunk of chunksOf(entries, ITEMS_WITH_EVENTS)) {
      if (countFitting(changes.map((change) => change ?? null)) < changes.length) break;
      changes.push(
        ...(await Promise.all(
          chunk.map((entry) => readItemWithEvents(organization, entry).catch(passDamaged(onDamaged))),
        )),
      );
    }
    return changes;
  }

  return async (organization: Organization, entries: readonly Entry[], withEvents: boolean): Promise<ReadEntries> => {
    const read = withEvents ? readItemsWithEvents : readItems;
    const changes = await read(organization, entries);
    const count = Math.min(entries.length, Math.max(1, countFitting(changes.map((change) => change ?? null))));
    return { count, data: changes.slice(0, count).filter((change) => change !== undefined) };
  };
}
