import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startSchedule } from "../../../../apps/local/workers/start-workers.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const start = (handler: () => Promise<void>) => {
  const events: unknown[] = [];
  const schedule = startSchedule(60_000, async (event) => {
    events.push(event);
    await handler();
  });
  onTestFinished(() => schedule.stop());
  return events;
};

test("runs a function at once and then by its rate", async () => {
  const events = start(async () => {});
  expect(events).toEqual([expect.objectContaining({ source: "aws.events", "detail-type": "Scheduled Event" })]);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(events).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(events).toHaveLength(3);
});

test("skips a run while the previous one is still running", async () => {
  const events = start(() => new Promise((resolve) => setTimeout(resolve, 90_000)));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(90_000);
});

test("runs again after a run that failed", async () => {
  const events = start(() => Promise.reject(new Error("no")));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toHaveLength(2);
});
