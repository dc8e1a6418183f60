import { describe, expect, it } from "vitest";
import { isLost } from "../../../../lib/uploads/chain/sweep.ts";
import { CLAIM_MS } from "../../../../lib/uploads/job/claim.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const AT = Date.parse("2026-03-01T12:00:00Z");
const never = { busy_until: 0, changed_at: 0, refused_since: 0, resent: 0, resent_at: 0 };

/** Milliseconds from a time on after which a message counts as lost, found by looking at every second. */
const lostAfter = (record: typeof never, since = 0): number => {
  const looks = Array.from({ length: 40 * 60 }, (_, second) => second * SECOND_MS);
  const found = looks.find((look) => isLost(record, since, AT + look + 1));
  if (found === undefined) throw new Error("it is never lost");
  expect(isLost(record, since, AT + found)).toBe(false);
  return found;
};

describe("a message or worker is lost", () => {
  it.each([
    ["a minute after the job's rows are in chunks, if no worker has come", never, MINUTE_MS],
    ["as soon as its worker's claim has run out", { ...never, changed_at: AT, busy_until: AT + CLAIM_MS }, CLAIM_MS],
    [
      "20 seconds after the wait of a worker that the store has refused",
      { ...never, changed_at: AT, busy_until: AT + 15 * SECOND_MS, refused_since: AT },
      35 * SECOND_MS,
    ],
    [
      "a minute after a worker has counted rows and sent a message",
      { ...never, changed_at: AT + 5000 },
      65 * SECOND_MS,
    ],
  ])("%s", (_, record, milliseconds) => {
    expect(lostAfter(record, AT)).toBe(milliseconds);
  });

  it("a minute after the first message of the sweep, then after twice the time of the one before, at most 32 minutes", () => {
    const died = { ...never, busy_until: 1, resent_at: AT };
    const waits = Array.from({ length: 7 }, (_, index) => lostAfter({ ...died, resent: index + 1 }));
    expect(waits.map((wait) => wait / MINUTE_MS)).toEqual([1, 2, 4, 8, 16, 32, 32]);
  });

  it("never while a worker may be at work, however long it was sent for", () => {
    const busy = { ...never, busy_until: AT + CLAIM_MS, changed_at: AT - 60 * MINUTE_MS, resent: 1, resent_at: 1 };
    expect(isLost(busy, 0, AT + CLAIM_MS)).toBe(false);
    expect(isLost(busy, 0, AT + CLAIM_MS + 1)).toBe(true);
  });
});
