import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { countFitting } from "../http/response-size.ts";
import type { Organization } from "../organizations/organization.ts";
import { chunksOf } from "../retry.ts";
import { batchGet } from "../store/batch-get.ts";
import { leaveOutDamaged } from "../store/decode-record.ts";
import { ATTRIBUTES_READ, createListWorkItems } from "../work-items/list-work-items.ts";
import { createReadItemPage } from "../work-items/read-work-item.ts";
import { respondWithWorkItem } from "../work-items/single-work-item.ts";
import { itemIdOf, itemKey, workItemFrom } from "../work-items/work-item-record.ts";
import { toWorkItemResponse } from "../work-items/work-item-response.ts";
import { createChangeLog } from "./change-log.ts";
import type { Change } from "./change.ts";
import { listPlace, markBeforeList, newestMark, placeOf } from "./mark.ts";
import { readLog } from "./read-log.ts";

/** Items that are read with their events at the same time: each may have a megabyte of them. */
const ITEMS_WITH_EVENTS = 8;

/** What is asked of the feed. */
export interface ChangesQuery {
  /** The mark of an earlier page. @default the feed begins with the whole list */
  readonly after: string | undefined;
  readonly limit: number;
  readonly withEvents: boolean;
}

/** A page of the feed. */
export interface ChangesPage {
  readonly data: Change[];
  readonly next: string;
  readonly more: boolean;
}

/** A work item of the feed: an entry of the log, or of the list. */
interface Entry {
  readonly id: string;
  readonly sequence: number;
  /** When it was logged, in milliseconds since the epoch. */
  readonly time: number;
}

function erased({ id, sequence, time }: Entry): Change {
  return { id, sequence, deleted_at: isoTime(time), erased: true };
}

/**
 * Makes the function that reads a page of an organization's change feed. The log only says which items were written: what
 * they are now is read from the table afterwards, so that no page shows an older state than the one that was logged.
 * @returns a function that throws InvalidInputError for what is not a mark, ResyncRequiredError for one after which
 * changes are missing, and StoreBusyError
 */
export function createReadChanges(runtime: RuntimeWith<"workItems" | "changes">) {
  const { clock, dynamodb, environment } = runtime;
  const log = createChangeLog(runtime);
  const listWorkItems = createListWorkItems(runtime);
  const readItemPage = createReadItemPage(runtime);
  const leaveOut = leaveOutDamaged(runtime);

  /** Runs the conversion of a record. @returns undefined for one that is damaged, which lists leave out too */
  function unlessDamaged(convert: () => Change): Change | undefined {
    try {
      return convert();
    } catch (error) {
      return leaveOut(error);
    }
  }

  async function readItems(organization: Organization, entries: readonly Entry[]): Promise<(Change | undefined)[]> {
    const keys = entries.map(({ id }) => itemKey(organization.id, id));
    const records = await batchGet(dynamodb, environment.WORK_ITEMS_TABLE, keys, ATTRIBUTES_READ);
    const byId = new Map(records.map((record) => [itemIdOf({ pk: String(record["pk"]), sk: "" }), record]));
    return entries.map((entry) =>
      unlessDamaged(() => {
        const { id, sequence } = entry;
        const item = workItemFrom(byId.get(id));
        if (item === null) return erased(entry);
        return { ...toWorkItemResponse(id, item), sequence, deleted_at: item.deleted_at };
      }),
    );
  }

  async function readItemWithEvents(organization: Organization, entry: Entry): Promise<Change | undefined> {
    const { id, sequence } = entry;
    const { record, events, eventsAfter } = await readItemPage(organization.id, id);
    return unlessDamaged(() => {
      const item = workItemFrom(record);
      if (item === null) return erased(entry);
      const { body } = respondWithWorkItem(organization, { id, item, version: 0, events, eventsAfter });
      return {
        ...body.data,
        sequence,
        deleted_at: item.deleted_at,
        ...(body.meta && { events_next: body.meta.events.next }),
      };
    });
  }

  /** Reads items with their events, until a response is full. */
  async function readItemsWithEvents(organization: Organization, entries: readonly Entry[]) {
    const changes: (Change | undefined)[] = [];
    for (const chunk of chunksOf(entries, ITEMS_WITH_EVENTS)) {
      if (countFitting(changes.map((change) => change ?? null)) < changes.length) break;
      changes.push(...(await Promise.all(chunk.map((entry) => readItemWithEvents(organization, entry)))));
    }
    return changes;
  }

  /** @returns how many of the entries fit into one response, at least one, and what they are now */
  async function readEntries(organization: Organization, entries: readonly Entry[], withEvents: boolean) {
    const read = withEvents ? readItemsWithEvents : readItems;
    const changes = await read(organization, entries);
    const count = Math.min(entries.length, Math.max(1, countFitting(changes.map((change) => change ?? null))));
    return { count, data: changes.slice(0, count).filter((change) => change !== undefined) };
  }

  async function readLogPage(organization: Organization, mark: number, query: ChangesQuery): Promise<ChangesPage> {
    const { entries, next, more } = await readLog(log, organization, mark, query.limit, clock());
    const { count, data } = await readEntries(organization, entries, query.withEvents);
    const isCut = count < entries.length;
    return { data, next: String(isCut ? entries[count - 1]?.sequence : next), more: more || isCut };
  }

  /** @param mark from which the log follows the list */
  async function readListPage(
    organization: Organization,
    mark: number,
    cursor: string | undefined,
    query: ChangesQuery,
  ): Promise<ChangesPage> {
    const { data: items, next } = await listWorkItems(organization, {}, { cursor, limit: query.limit });
    if (items.length === 0 && next === undefined) return readLogPage(organization, mark, query);
    if (items.length === 0) return readListPage(organization, mark, next, query);
    const sequence = next === undefined ? mark : 0;
    const place = next === undefined ? String(mark) : listPlace(organization, mark, next);
    if (!query.withEvents) {
      return { data: items.map((item) => ({ ...item, sequence, deleted_at: null })), next: place, more: true };
    }
    const entries = items.map(({ id }) => ({ id, sequence, time: clock() }));
    const { count, data } = await readEntries(organization, entries, true);
    // The list gives no cursor in the middle of a page: a shorter page is read instead.
    if (count < items.length) return readListPage(organization, mark, cursor, { ...query, limit: count });
    return { data, next: place, more: true };
  }

  return async (organization: Organization, query: ChangesQuery): Promise<ChangesPage> => {
    const place = placeOf(organization, query.after);
    if (place.kind === "now") return { data: [], next: String(await newestMark(log, organization)), more: false };
    if (place.kind === "log") return readLogPage(organization, place.mark, query);
    if (place.kind === "list") return readListPage(organization, place.mark, place.cursor, query);
    const mark = await markBeforeList(log, organization, clock());
    return readListPage(organization, mark, undefined, query);
  };
}
