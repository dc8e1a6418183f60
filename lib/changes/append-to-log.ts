import type { RuntimeWith } from "../aws/runtime.ts";
import { readFirstNumber } from "../organizations/access-store.ts";
import { CONFLICT_CAP_MS, retry } from "../retry.ts";
import { createChangeLog } from "./segment-store.ts";
import { SEGMENT_ENTRIES_MAX, type Segment } from "./segment.ts";

/** How long entries are kept once a newer segment follows theirs. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const MICROSECONDS = 1000;
/** The newest segment and the one before: nearly always only the newest has no expiry yet. */
const READ_BEFORE_APPENDING = 2;
const READ_TO_EXPIRE = 25;

/** Entries to append: ids of work items, or a gap, since entries may be missing. */
export type Entries = readonly string[] | "gap";

/** Lets the webhooks of an organization know of its newest position, and of upload jobs that were written. */
export type NotifyWebhooks = (
  organization: string,
  position: number | undefined,
  jobs: readonly string[],
) => Promise<void>;

/**
 * Makes the function that appends entries to an organization's log, after all that are in it. Of several that append at
 * the same time one wins, and the others ask again: numbers have no gaps, and none is given twice. Nothing is cached,
 * and every try reads the organization again, so that one that was erased and made again stays above its old numbers.
 * A repeated call appends the entries of a lost response twice, which is harmless: they name items, not values.
 * @returns a function that returns the position after the entries; undefined for an organization that doesn't exist or is
 * being erased. It throws StoreBusyError once the time is over.
 */
export function createAppend(runtime: RuntimeWith<"changes" | "access">) {
  const { clock, log } = runtime;
  const changeLog = createChangeLog(runtime);

  /**
   * Lets all segments below the newest one expire that do not yet, oldest first: so the first one with an expiry tells
   * that all before it have one too.
   * @param before the newest segments before the append, newest first
   */
  async function expireBefore(organization: string, before: readonly Segment[]): Promise<void> {
    const lasting: Segment[] = [];
    for (let found = before; found.length > 0;) {
      const end = found.findIndex(({ expiresAt }) => expiresAt !== undefined);
      lasting.push(...(end === -1 ? found : found.slice(0, end)));
      const oldest = found.at(-1);
      if (end !== -1 || oldest === undefined) break;
      const range = { to: oldest.first - 1, limit: READ_TO_EXPIRE, first: "newest" } as const;
      found = (await changeLog.read(organization, range)).segments;
    }
    const expiresAt = Math.ceil((clock() + KEPT_MS) / 1000);
    for (const { first } of lasting.toReversed()) await changeLog.expire(organization, first, expiresAt);
  }

  function segmentOf(entries: Entries, first: number, time: number): Segment {
    const ids = entries === "gap" ? [] : entries.slice(0, SEGMENT_ENTRIES_MAX);
    const isGap = entries === "gap";
    const next = isGap ? Math.max(first + 1, time * MICROSECONDS) : first + ids.length;
    return { first, next, ids, isGap, time, expiresAt: undefined };
  }

  /** Appends one segment. @returns the entries that are left, and the position; undefined if another append has taken its number */
  async function appendSegment(
    organization: string,
    entries: Entries,
  ): Promise<{ readonly left: Entries; readonly position: number | undefined } | undefined> {
    const start = await readFirstNumber(runtime, organization);
    if (start === undefined) return { left: [], position: undefined };
    const { segments } = await changeLog.read(organization, { limit: READ_BEFORE_APPENDING, first: "newest" });
    const [newest] = segments;
    // The time is taken after the Query, and never goes back: a first load takes its position by it.
    const time = Math.max(clock(), newest?.time ?? 0);
    const segment = segmentOf(entries, Math.max(start, newest?.next ?? 0), time);
    if (!(await changeLog.put(organization, segment))) return undefined;
    await expireBefore(organization, segments).catch((error: unknown) => {
      // The next append does it: to repeat this one would only repeat its entries.
      log.warn("segments of a change log keep for now", { organization, error: String(error) });
    });
    return { left: entries === "gap" ? [] : entries.slice(segment.ids.length), position: segment.next - 1 };
  }

  return async (organization: string, entries: Entries, until: number): Promise<number | undefined> => {
    const isOver = () => clock() > until;
    const limits = { isOver, cap: CONFLICT_CAP_MS, message: "time ran out before all changes were in the log" };
    let left = entries;
    let position: number | undefined;
    const appendNext = () => appendSegment(organization, left);
    while (left.length > 0) ({ left, position } = await retry(limits, appendNext));
    return position;
  };
}
