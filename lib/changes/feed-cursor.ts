import { InvalidInputError, ResyncRequiredError, StoreBusyError } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import { decodeCursor, encodeCursor } from "../store/lists/cursor.ts";
import { type ChangeLog, newestFirst } from "./segment-store.ts";
import { isKept, type Segment } from "./segment.ts";

/**
 * How far back a first load's position is: the indexes of its list may lag by ten minutes; five more allow for clock
 * differences.
 */
const MARGIN_MS = 15 * 60 * 1000;
const POSITION = /^(?:0|[1-9]\d{0,15})$/;

/** A position in the list of a first load. */
export interface ListCursor {
  /** Position in the log from which the feed continues after the list. */
  readonly position: number;
  /** Cursor of the list's next page; undefined for the first. */
  readonly cursor: string | undefined;
  /** Id of the last record that was returned; undefined if there is none. */
  readonly last: string | undefined;
}

/** Where a reader of the feed continues. */
export type FeedCursor =
  | { readonly kind: "start" }
  /** After everything that is in the log now. */
  | { readonly kind: "now" }
  | ({ readonly kind: "list" } & ListCursor)
  | { readonly kind: "log"; readonly position: number };

function scopeOf(organization: Organization) {
  return { organization, list: "work_items/changes", filters: {} };
}

/** The error for a text that isn't a cursor. @param message without the parameter's name */
export function notACursor(message: string): InvalidInputError {
  return new InvalidInputError([{ path: ["after"], code: "invalid_value", message, isParameter: true }]);
}

/** Reads the parameter `after`. @throws InvalidInputError if it isn't a cursor of this organization's feed */
export function feedCursorOf(organization: Organization, after: string | undefined): FeedCursor {
  if (after === undefined || after === "0") return { kind: "start" };
  if (after === "now") return { kind: "now" };
  const position = POSITION.test(after) ? Number(after) : Number.NaN;
  if (Number.isSafeInteger(position)) return { kind: "log", position };
  try {
    const [from, last, cursor] = decodeCursor(scopeOf(organization), after).split(" ");
    return { kind: "list", position: Number(from), last, cursor };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw notACursor("must be a meta.page.next of this feed, a sequence, 0 or now");
  }
}

/** The cursor for a position in the list of a first load. */
export function encodeListCursor(organization: Organization, position: number, last: string, cursor: string): string {
  return encodeCursor(scopeOf(organization), `${position} ${last} ${cursor}`);
}

/** The position after everything that is in an organization's log. */
export async function newestPosition(
  log: ChangeLog,
  { id, changesFrom }: Pick<Organization, "id" | "changesFrom">,
): Promise<number> {
  const { segments } = await log.read(id, { from: changesFrom, limit: 1, first: "newest" });
  return (segments[0]?.next ?? changesFrom) - 1;
}

/** The most by which the clocks of two instances differ. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * The position before everything that changed at a time or later. Items are logged after they change. A binary search
 * over the numbers finds it in at most 51 reads.
 * @param time milliseconds since the epoch
 * @throws ResyncRequiredError if some of it is no longer kept
 */
export async function positionSince(log: ChangeLog, { id, changesFrom }: Organization, time: number): Promise<number> {
  const wanted = time - CLOCKS_DIFFER_MS;
  const newestIn = async (from: number, to?: number): Promise<Segment | undefined> =>
    (await log.read(id, { from, ...(to !== undefined && { to }), limit: 1, first: "newest" })).segments[0];
  const newest = await newestIn(changesFrom);
  if (newest === undefined || newest.time < wanted) return (newest?.next ?? changesFrom) - 1;
  /** The number after the last segment known to be earlier. All segments that begin below `low` are earlier or gone. */
  let end = changesFrom;
  let low = changesFrom;
  let { first } = newest;
  while (low < first) {
    const middle = low + Math.floor((first - 1 - low) / 2);
    const segment = await newestIn(low, middle);
    if (segment === undefined) low = middle + 1;
    else if (segment.time >= wanted) first = segment.first;
    else {
      end = segment.next;
      low = end;
    }
  }
  // The segments in between are gone, and may have been late enough.
  if (end !== first) throw new ResyncRequiredError();
  return first - 1;
}

/**
 * The position from which the log must follow a list that is read from now on: after the newest segment that is old enough
 * for the list to show all of its items.
 * @throws StoreBusyError while there is a gap after it: items that the list doesn't show yet may be missing from the log
 */
export async function positionBeforeList(
  log: ChangeLog,
  { id, changesFrom }: Organization,
  now: number,
): Promise<number> {
  let oldestKept: number | undefined;
  for await (const segment of newestFirst(log, id, changesFrom)) {
    if (segment.time <= now - MARGIN_MS) return segment.next - 1;
    if (!isKept(segment, now)) return (oldestKept ?? segment.next) - 1;
    if (segment.isGap) {
      const seconds = Math.ceil((segment.time + MARGIN_MS - now) / 1000);
      throw new StoreBusyError("changes may have been lost a short time ago; retry later", seconds);
    }
    oldestKept = segment.first;
  }
  return (oldestKept ?? changesFrom) - 1;
}
