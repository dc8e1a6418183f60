import { LEASE_MS, type UploadPart } from "../job/upload-record.ts";
import type { RowsPendingError } from "./apply-rows.ts";

/** Limits of a window, whose rows are read, written and counted together. */
export const WINDOW_LIMITS = { rows: 1000, bytes: 512 * 1024 };

/** No attempt at a window's rows begins so long before the end of the lease. */
const SAVE_BEFORE_MS = LEASE_MS / 2;
/** Until when a window may take, in milliseconds since the epoch. */
export function timeOf({ lease_until: leaseEnd }: UploadPart): number {
  return leaseEnd - SAVE_BEFORE_MS;
}

/**
 * How many rows an attempt takes. After one whose time was too short it takes half as many, and twice as many after each
 * one that was saved. A worker that died had no time to say why: the attempts after it take a quarter each.
 */
export function rowsAtOnceOf({ rows_at_once: rows, stalls }: UploadPart, most: number): number {
  return Math.max(1, Math.floor((rows === 0 ? most : rows) / 4 ** Math.max(0, stalls - 1)));
}

/**
 * What a part's record says after an attempt whose time was too short. Attempts with several rows don't count: the
 * next one takes half as many. @param isCut whether the hand-over left it less than its time
 */
export function afterTime(
  { count }: RowsPendingError,
  isCut: boolean,
): Partial<Pick<UploadPart, "stalls" | "rows_at_once">> {
  if (isCut) return {};
  return count === 1 ? { rows_at_once: 1 } : { rows_at_once: Math.floor(count / 2), stalls: 0 };
}
