import type { RuntimeWith } from "../aws/runtime.ts";
import { ResyncRequiredError, StoreBusyError } from "../errors.ts";
import type { CountFitting } from "../store/lists/page.ts";
import type { Organization } from "../organizations/organization.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { createListWorkItems } from "../work-items/work-item-list.ts";
import { createChangeLog } from "./segment-store.ts";
import type { Change } from "./change.ts";
import {
  encodeListCursor,
  positionBeforeList,
  positionSince,
  newestPosition,
  type FeedCursor,
  type ListCursor,
  feedCursorOf,
} from "./feed-cursor.ts";
import { createReadEntries } from "./current-items.ts";
import { readLog } from "./log-page.ts";

const DAMAGED_RETRY_SECONDS = 60;

/** A record may have hundreds of kilobytes, so a page is read in parts until it is full. */
const RECORDS_AT_ONCE = 100;
/** After this time no further part of a page is read. */
const FILL_MS = 5000;

/** A request for a page of the feed. */
export interface ChangesQuery {
  /** The cursor of an earlier page. @default the feed starts with the whole list */
  readonly after?: string | undefined;
  /** ISO 8601. Starts with what changed at this time or later, instead of after a cursor. */
  readonly since?: string | undefined;
  readonly limit: number;
  readonly withEvents: boolean;
}
type PageQuery = Pick<ChangesQuery, "limit" | "withEvents">;

/** How much fits into one response. */
interface ResponseSize {
  readonly countFitting: CountFitting;
  /** Makes the function that reserves room for values in one response. It returns false if they don't all fit. */
  readonly createRoom: () => (values: readonly unknown[]) => boolean;
}

/** A page of the feed. */
export interface ChangesPage {
  readonly data: Change[];
  readonly next: string;
  readonly more: boolean;
}

/** Two consecutive pages as one. An item in both is shown where it changed last. */
function joined(first: ChangesPage, second: ChangesPage): ChangesPage {
  const later = new Set(second.data.map(({ id }) => id));
  return { ...second, data: [...first.data.filter(({ id }) => !later.has(id)), ...second.data] };
}

/**
 * Makes the function that reads a page of an organization's change feed. The log only says which items were written. Their
 * current state is read from the table afterwards, so no page shows an older state than the logged one.
 * @returns a function that throws InvalidInputError for an invalid cursor, ResyncRequiredError if changes after the cursor
 * may be missing, and StoreBusyError
 */
export function createReadChanges(
  runtime: RuntimeWith<"workItems" | "changes">,
  { countFitting, createRoom }: ResponseSize,
) {
  const { clock, log } = runtime;
  const changeLog = createChangeLog(runtime);
  const listWorkItems = createListWorkItems(runtime, countFitting);
  const readEntries = createReadEntries(runtime, countFitting);

  /** Logs a damaged segment. The reader gets another error instead of a failure of the service. */
  const onDamaged =
    (toError: () => Error) =>
    (error: unknown): never => {
      if (!(error instanceof MalformedRecordError)) throw error;
      log.error("a change log has a damaged segment", { record: error.message });
      throw toError();
    };
  /** A recent segment is damaged. Retry: it gets repaired, or newer segments make first loads independent of it. */
  const busy = onDamaged(() => new StoreBusyError("the change log is damaged; retry later", DAMAGED_RETRY_SECONDS));

  async function readLogPage(organization: Organization, position: number, query: PageQuery): Promise<ChangesPage> {
    const page = readLog(changeLog, organization, position, query.limit, clock());
    // The entries of a damaged segment are missing, as in a gap.
    const { entries, next: end, more } = await page.catch(onDamaged(() => new ResyncRequiredError()));
    const { count, data } = await readEntries(organization, entries, query.withEvents);
    const cut = count < entries.length ? entries[count - 1] : undefined;
    const next = cut?.sequence ?? end;
    // Connectors take an empty page for the end, so a page of damaged records is skipped.
    if (data.length === 0 && next !== end) return readLogPage(organization, next, query);
    return { data, next: String(next), more: more || cut !== undefined };
  }

  /**
   * The page after a list that turned out to be complete: its last record again, with the position. Otherwise all records of
   * a first load could have `sequence` 0, and a reader that keeps the greatest would start over.
   */
  async function readAfterList(
    organization: Organization,
    { position, last }: ListCursor,
    query: PageQuery,
  ): Promise<ChangesPage> {
    const entries = last === undefined ? [] : [{ id: last, sequence: position, time: clock() }];
    const { data } = await readEntries(organization, entries, query.withEvents);
    return data.length > 0 ? { data, next: String(position), more: true } : readLogPage(organization, position, query);
  }

  async function readListPage(organization: Organization, from: ListCursor, query: PageQuery): Promise<ChangesPage> {
    const { position, cursor } = from;
    const { data: items, next } = await listWorkItems(organization, {}, { cursor, limit: query.limit });
    const sequence = next === undefined ? position : 0;
    const { count, data } = query.withEvents
      ? await readEntries(
          organization,
          items.map(({ id }) => ({ id, sequence, time: clock() })),
          true,
        )
      : { count: items.length, data: items.map((item) => ({ ...item, sequence, deleted_at: null })) };
    // The list has no cursor within a page, so a shorter page is read instead.
    if (count < items.length) return readListPage(organization, from, { ...query, limit: count });
    const last = data.at(-1)?.id;
    if (last === undefined) {
      if (next === undefined) return readAfterList(organization, from, query);
      return readListPage(organization, { ...from, cursor: next }, query);
    }
    return {
      data,
      next: next === undefined ? String(position) : encodeListCursor(organization, position, last, next),
      more: true,
    };
  }

  async function readPage(organization: Organization, from: FeedCursor, query: PageQuery): Promise<ChangesPage> {
    if (from.kind === "now")
      return { data: [], next: String(await newestPosition(changeLog, organization).catch(busy)), more: false };
    if (from.kind === "log") return readLogPage(organization, from.position, query);
    if (from.kind === "list") return readListPage(organization, from, query);
    const position = await positionBeforeList(changeLog, organization, clock()).catch(busy);
    return readListPage(organization, { position, cursor: undefined, last: undefined }, query);
  }

  async function startOf(
    organization: Organization,
    { after, since }: Pick<ChangesQuery, "after" | "since">,
  ): Promise<FeedCursor> {
    if (since === undefined) return feedCursorOf(organization, after);
    const position = positionSince(changeLog, organization, Date.parse(since));
    return { kind: "log", position: await position.catch(onDamaged(() => new ResyncRequiredError())) };
  }

  return async (organization: Organization, { withEvents, limit, ...start }: ChangesQuery): Promise<ChangesPage> => {
    const until = clock() + FILL_MS;
    const fits = createRoom();
    let from = await startOf(organization, start);
    const isLog = from.kind === "log";
    let page: ChangesPage = { data: [], next: "", more: true };
    for (;;) {
      const most = Math.min(RECORDS_AT_ONCE, limit - page.data.length);
      const following = await readPage(organization, from, { withEvents, limit: most });
      if (!fits(following.data) && page.data.length > 0) return page;
      page = joined(page, following);
      from = feedCursorOf(organization, page.next);
      const isShort = following.data.length < most || (from.kind === "log") !== isLog;
      if (!page.more || isShort || page.data.length >= limit || clock() > until) return page;
    }
  };
}
