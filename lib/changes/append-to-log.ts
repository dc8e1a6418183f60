import type { RuntimeWith } from "../aws/runtime.ts";
import { readFirstNumber } from "../organizations/access-store.ts";
import { CURSORS_VALID_DAYS } from "../periods.ts";
import { CONFLICT_CAP_MS, retry } from "../retry.ts";
import { createChangeLog } from "./segment-store.ts";
import { SEGMENT_ENTRIES_MAX, type Segment } from "./segment.ts";

/** How long a segment is kept once a newer one follows. */
const LOG_KEPT_MS = CURSORS_VALID_DAYS * 24 * 60 * 60 * 1000;
const MICROSECONDS = 1000;
/** The two newest segments: nearly always only the newest has no expiry yet. */
const READ_BEFORE_APPENDING = 2;
const READ_TO_EXPIRE = 25;

/** What to append: ids of work items, or a gap where changes may be missing. */
export type Entries = readonly string[] | "gap";

/** Notifies an organization's webhooks of its newest position and of upload jobs that were written. */
export type NotifyWebhooks = (
  organization: string,
  position: number | undefined,
  jobs: readonly string[],
) => Promise<void>;

/**
 * Makes the function that appends entries to the end of an organization's log. Of several appends at the same time one
 * wins, and the others try again, so numbers are consecutive and unique. Every attempt reads the organization again: one
 * that was erased and created again continues above its old numbers. If a response is lost, the entries are appended
 * twice, which is harmless: they name items, not values.
 * @returns a function that returns the position after the entries; undefined for an organization that doesn't exist or is
 * being erased. It throws StoreBusyError when the time is up.
 */
export function createAppend(runtime: RuntimeWith<"changes" | "access">) {
  const { clock, log } = runtime;
  const changeLog = createChangeLog(runtime);

  /**
   * Sets an expiry on every older segment without one, oldest first, so that all segments before one with an expiry have
   * one too.
   * @param before the newest segments before the append, newest first
   */
  async function expireBefore(organization: string, before: readonly Segment[]): Promise<void> {
    const lasting: Segment[] = [];
    let found = before;
    while (found.length > 0) {
      const end = found.findIndex(({ expiresAt }) => expiresAt !== undefined);
      lasting.push(...(end === -1 ? found : found.slice(0, end)));
      const oldest = found.at(-1);
      if (end !== -1 || oldest === undefined) break;
      const range = { to: oldest.first - 1, limit: READ_TO_EXPIRE, first: "newest" } as const;
      found = (await changeLog.read(organization, range)).segments;
    }
    const expiresAt = Math.ceil((clock() + LOG_KEPT_MS) / 1000);
    for (const { first } of lasting.toReversed()) await changeLog.expire(organization, first, expiresAt);
  }

  function segmentOf(entries: Entries, first: number, time: number): Segment {
    const ids = entries === "gap" ? [] : entries.slice(0, SEGMENT_ENTRIES_MAX);
    const isGap = entries === "gap";
    const next = isGap ? Math.max(first + 1, time * MICROSECONDS) : first + ids.length;
    return { first, next, ids, isGap, time, expiresAt: undefined };
  }

  /** Appends one segment. @returns the remaining entries, and the position; undefined if another append has taken its number */
  async function appendSegment(
    organization: string,
    entries: Entries,
  ): Promise<{ readonly left: Entries; readonly position: number | undefined } | undefined> {
    const start = await readFirstNumber(runtime, organization);
    if (start === undefined) return { left: [], position: undefined };
    const { segments } = await changeLog.read(organization, { limit: READ_BEFORE_APPENDING, first: "newest" });
    const [newest] = segments;
    // Taken after the Query, and never earlier than before: a first load finds its position by it.
    const time = Math.max(clock(), newest?.time ?? 0);
    const segment = segmentOf(entries, Math.max(start, newest?.next ?? 0), time);
    if (!(await changeLog.put(organization, segment))) return undefined;
    await expireBefore(organization, segments).catch((error: unknown) => {
      // The next append does it. Repeating this one would only repeat its entries.
      log.warn("segments of a change log don't expire yet", { organization, error: String(error) });
    });
    return { left: entries === "gap" ? [] : entries.slice(segment.ids.length), position: segment.next - 1 };
  }

  return async (organization: string, entries: Entries, until: number): Promise<number | undefined> => {
    const isOver = () => clock() > until;
    const limits = { isOver, cap: CONFLICT_CAP_MS, message: "time ran out before all changes were in the log" };
    let left = entries;
    let position: number | undefined;
    while (left.length > 0) {
      const rest = left;
      const appended = await retry(limits, () => appendSegment(organization, rest));
      left = appended.left;
      position = appended.position;
    }
    return position;
  };
}
