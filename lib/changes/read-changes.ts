import type { RuntimeWith } from "../aws/runtime.ts";
import type { Organization } from "../organizations/organization.ts";
import { createListWorkItems } from "../work-items/list-work-items.ts";
import { createChangeLog } from "./change-log.ts";
import type { Change } from "./change.ts";
import { listPlace, markBeforeList, newestMark, placeOf } from "./mark.ts";
import { createReadEntries } from "./read-entries.ts";
import { readLog } from "./read-log.ts";

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

/**
 * Makes the function that reads a page of an organization's change feed. The log only says which items were written: what
 * they are now is read from the table afterwards, so that no page shows an older state than the one that was logged.
 * @returns a function that throws InvalidInputError for what is not a mark, ResyncRequiredError for one after which
 * changes are missing, and StoreBusyError
 */
export function createReadChanges(runtime: RuntimeWith<"workItems" | "changes">) {
  const { clock } = runtime;
  const log = createChangeLog(runtime);
  const listWorkItems = createListWorkItems(runtime);
  const readEntries = createReadEntries(runtime);

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
