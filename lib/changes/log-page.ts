import { ResyncRequiredError } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import type { ChangeLog } from "./segment-store.ts";
import { notACursor } from "./feed-cursor.ts";
import type { Entry } from "./current-items.ts";
import { isKept, type Segment } from "./segment.ts";

/** A page of an organization's log, in the order of sequences. */
export interface LogPage {
  readonly entries: readonly Entry[];
  /** The position after the page. */
  readonly next: number;
  /** Whether there are more entries. */
  readonly more: boolean;
}

/** Most reads for a page, which may then be short. */
const READS_MAX = 2;

/**
 * Checks that all entries after a position are kept.
 * @param at the segment with the entry after the position, else the newest one before; undefined if there is none
 * @throws ResyncRequiredError; InvalidInputError for a position beyond the newest
 */
async function assertComplete(
  log: ChangeLog,
  { id, changesFrom }: Organization,
  position: number,
  at: Segment | undefined,
  now: number,
): Promise<void> {
  const wanted = position + 1;
  if (wanted < changesFrom) throw new ResyncRequiredError();
  const isNext = wanted === (at === undefined ? changesFrom : at.next);
  const isInside = at !== undefined && wanted < at.next;
  if (isNext || (isInside && isKept(at, now) && !at.isGap)) return;
  if (isInside) throw new ResyncRequiredError();
  const { segments } = await log.read(id, { from: wanted, limit: 1 });
  if (segments.length > 0 || (at !== undefined && !isKept(at, now))) throw new ResyncRequiredError();
  throw notACursor("is beyond the newest cursor of this feed");
}

/** How many segments to read for a page: about as many as it needs if they are like the segment at its start. */
function segmentsFor(limit: number, at: Segment | undefined, taken: number): number {
  const isFull = at !== undefined && taken >= limit;
  const perSegment = at === undefined ? 1 : Math.max(1, at.ids.length);
  return isFull ? 1 : Math.ceil((limit - taken) / perSegment) + 1;
}

/**
 * Reads the work items that changed after a position, each once.
 * @throws ResyncRequiredError if some of the changes may be missing; InvalidInputError for a position beyond the newest
 */
export async function readLog(
  log: ChangeLog,
  organization: Organization,
  position: number,
  limit: number,
  now: number,
): Promise<LogPage> {
  const { id, changesFrom } = organization;
  const wanted = position + 1;
  const below = await log.read(id, { from: changesFrom, to: wanted, limit: 1, first: "newest" });
  const at = below.segments[0];
  await assertComplete(log, organization, position, at, now);

  const last = new Map<string, Entry>();
  let next = position;
  /** Takes a segment's entries until the page is full. @returns whether all are taken */
  const take = ({ first, ids, time }: Segment): boolean => {
    for (let index = Math.max(0, next + 1 - first); index < ids.length; index++) {
      const item = ids[index]!;
      if (!last.has(item) && last.size === limit) return false;
      next = first + index;
      // Deleted first, so that the order is that of the sequences.
      last.delete(item);
      last.set(item, { id: item, sequence: next, time });
    }
    return true;
  };
  const page = (more: boolean): LogPage => ({ entries: [...last.values()], next, more });

  let expected = at === undefined ? changesFrom : at.next;
  if (at !== undefined && isKept(at, now) && !at.isGap && !take(at)) return page(true);
  for (let reads = 0; ; reads++) {
    const { segments, hasMore } = await log.read(id, { from: expected, limit: segmentsFor(limit, at, last.size) });
    for (const segment of segments) {
      if (segment.first !== expected || segment.isGap || !isKept(segment, now)) throw new ResyncRequiredError();
      expected = segment.next;
      if (!take(segment)) return page(true);
    }
    if (!hasMore) return page(false);
    if (reads + 1 < READS_MAX && last.size < limit) continue;
    // A Query that stopped at its limit may have reached the end.
    const rest = await log.read(id, { from: expected, limit: 1 });
    return page(rest.segments.length > 0);
  }
}
