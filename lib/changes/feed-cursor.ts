import { InvalidInputError, ResyncRequiredError, StoreBusyError } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import { decodeCursor, encodeCursor } from "../store/lists/cursor.ts";
import type { ChangeLog } from "./segment-store.ts";
import { isKept, type Segment } from "./segment.ts";

/**
 * How far a first load takes its position back: the indexes that its list reads may lag by ten minutes, and five more are
 * for clocks.
 */
const MARGIN_MS = 15 * 60 * 1000;
const SEGMENTS_PER_READ = 1000;
const POSITION = /^(?:0|[1-9]\d{0,15})$/;

/** In the list of a first load. */
export interface ListCursor {
  /** After which the log follows the list. */
  readonly position: number;
  /** Of the list's next page; undefined for the first. */
  readonly cursor: string | undefined;
  /** Id of the last record that was given out, if there is one. */
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

/** The error of a text that is not a cursor. @param message without the parameter's name */
export function notACursor(message: string): InvalidInputError {
  return new InvalidInputError([{ path: ["after"], code: "invalid_value", message, isParameter: true }]);
}

/** Reads the parameter `after`. @throws InvalidInputError if this organization's feed has not given it out */
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

/** The clocks of two instances differ by less. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * The position before everything that changed at a time or later: entries are logged after they change. It is found by
 * halving the range of numbers, in at most 51 reads.
 * @param time milliseconds since the epoch
 * @throws ResyncRequiredError if some of it is no longer kept
 */
export async function positionSince(log: ChangeLog, { id, changesFrom }: Organization, time: number): Promise<number> {
  const wanted = time - CLOCKS_DIFFER_MS;
  const newestIn = async (from: number, to?: number): Promise<Segment | undefined> =>
    (await log.read(id, { from, ...(to !== undefined && { to }), limit: 1, first: "newest" })).segments[0];
  const newest = await newestIn(changesFrom);
  if (newest === undefined || newest.time < wanted) return (newest?.next ?? changesFrom) - 1;
  /** The number after the last segment that is known to be earlier. All that begin below `low` are earlier or gone. */
  let end = changesFrom;
  let low = changesFrom;
  let { first } = newest;
  while (low < first) {
    const middle = low + Math.floor((first - 1 - low) / 2);
    const segment = await newestIn(low, middle);
    if (segment === undefined) low = middle + 1;
    else if (segment.time >= wanted) ({ first } = segment);
    else low = end = segment.next;
  }
  // What was between them is gone, and may have been as late.
  if (end !== first) throw new ResyncRequiredError();
  return first - 1;
}

/**
 * The position from which the log must follow a list that is read from now on: after the newest segment that is old enough
 * for the list to show all of its items.
 * @throws StoreBusyError while there is a gap after it: what the list doesn't show yet may be missing from the log too
 */
export async function positionBeforeList(
  log: ChangeLog,
  { id, changesFrom }: Organization,
  now: number,
): Promise<number> {
  let oldestKept: number | undefined;
  for (let to: number | undefined; ;) {
    const range = { from: changesFrom, limit: SEGMENTS_PER_READ, first: "newest" } as const;
    const { segments, hasMore } = await log.read(id, to === undefined ? range : { ...range, to });
    for (const segment of segments) {
      if (segment.time <= now - MARGIN_MS) return segment.next - 1;
      if (!isKept(segment, now)) return (oldestKept ?? segment.next) - 1;
      if (segment.isGap) {
        const seconds = Math.ceil((segment.time + MARGIN_MS - now) / 1000);
        throw new StoreBusyError("changes may have been lost a short time ago; retry later", seconds);
      }
      oldestKept = segment.first;
    }
    if (!hasMore || oldestKept === undefined) return (oldestKept ?? changesFrom) - 1;
    to = oldestKept - 1;
  }
}
